"""One session of the evaluation for many runs: a program that judges them as they end.

Who begins many runs keeps a `Judge` and hands its `environment` to each; a run finds it there and
asks it instead of starting an evaluation of its own, which would take most of its time to warm up.
A judge that ended is replaced for the next run; the run that it left alone helps itself.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.run.judgement import SOCKET


class Judge:
    """Use it as a context; the program ends with it. Its own words go to `log`."""

    def __init__(self, log: Path, remark: Callable[[str], None] = lambda _: None) -> None:
        self._log = log
        self._remark = remark
        self._folder: TemporaryDirectory[str] | None = None
        self._program: subprocess.Popen[bytes] | None = None

    def environment(self) -> Mapping[str, str]:
        """For a run that begins now; the program is started where none runs."""
        if self._program is not None and self._program.poll() is not None:
            self._remark(f"the session that judges ended with {self._program.returncode}")
            self.end()
        if self._folder is None:
            self._begin()
        assert self._folder is not None
        return {SOCKET: str(_socket_in(self._folder))}

    def _begin(self) -> None:
        """It inherits the socket, so a run that asks before it is up waits for it."""
        self._folder = TemporaryDirectory(prefix="shadowlab-judge-")
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listening, self._log.open("ab") as log:
            listening.bind(str(_socket_in(self._folder)))
            listening.listen()
            inherited = listening.fileno()
            self._program = subprocess.Popen(
                [sys.executable, "-m", "spark_eval", "--serve", str(inherited)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[inherited],
                preexec_fn=KILLED_WITH_PARENT,
            )

    def end(self) -> None:
        """At once; the next run begins another one."""
        if self._program is not None:
            self._program.kill()
            self._program.communicate()
        if self._folder is not None:
            self._folder.cleanup()
        self._program = self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _socket_in(folder: TemporaryDirectory[str]) -> Path:
    return Path(folder.name) / "judge"
