"""A Spark standalone cluster on this machine: a master and two workers, each a process of its own.

`python -m bench.cluster` keeps one standing until a person ends it and prints its URL, for
`shadowlab evaluate RUN --master URL`. What it writes lies in a scratch folder that goes with it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import pyspark

from lab.program.death_signal import KILLED_WITH_PARENT

WORKERS = 2
CORES, MEMORY = 1, "1g"
"""Of each worker."""
DEADLINE_SECONDS = 300.0
HERE = "127.0.0.1"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master")


class Cluster:
    """Use it as a context; `url` is the master's."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._count = workers
        self._programs: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def __enter__(self) -> Self:
        self._scratch = TemporaryDirectory(prefix="shadowlab-cluster-")
        ports = ["--host", HERE, "--webui-port", "0"]
        try:
            self.url = self._start("master.Master", [*ports, "--port", "0"], STARTED)
            for number in range(self._count):
                folder = str(Path(self._scratch.name) / f"work{number}")
                size = ["--cores", str(CORES), "--memory", MEMORY, "--work-dir", folder]
                self._start("worker.Worker", [*ports, *size, self.url], REGISTERED)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for program in reversed(self._programs):
            _kill_with_children(program)
        self._programs.clear()
        self._scratch.cleanup()

    def kill_worker(self, number: int) -> None:
        """The worker and what it runs, as when its machine fails."""
        _kill_with_children(self._programs[1 + number])

    def worker_of(self, pid: int) -> int:
        """The number of the worker that a process descends from."""
        workers = {program.pid: number for number, program in enumerate(self._programs[1:])}
        while pid not in workers:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return workers[pid]

    def _start(self, name: str, words: Sequence[str], ready: re.Pattern[str]) -> str:
        """A daemon of Spark; returns what its log says when it is ready."""
        log = Path(self._scratch.name) / f"{len(self._programs)}.log"
        with log.open("wb") as out:
            program = subprocess.Popen(
                [str(SPARK_CLASS), f"org.apache.spark.deploy.{name}", *words],
                env=os.environ | {"SPARK_LOCAL_IP": HERE},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=KILLED_WITH_PARENT,
            )
        self._programs.append(program)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (found := ready.search(log.read_text(errors="replace"))) is None:
            if program.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Spark's {name} did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        return found.group(found.lastindex or 0)


def _kill_with_children(program: subprocess.Popen[bytes]) -> None:
    children = Path(f"/proc/{program.pid}/task").glob("*/children")
    for pid in " ".join(each.read_text() for each in children).split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    program.kill()
    program.wait()


def main() -> int:
    with Cluster() as cluster:
        print(cluster.url, flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
