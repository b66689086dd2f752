"""The evaluation of sweeps, as a program that is notified of each batch when its record is whole.

Names of batches go to its standard input, a line of JSON for each comes back when it is judged;
then the sweep's end, and the next sweep. One batch at most waits there, so simulating and judging
go on side by side and neither runs away from the other.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.errors import GroundError

END = "end\n"


@dataclass(frozen=True, slots=True)
class BatchJudged:
    """`verdicts`: how many runs had which."""

    batch: str
    runs: int
    seconds: float
    verdicts: Mapping[str, int]


class SweepJudge:
    """Use it as a context; the program ends with it. It judges the sweeps in `folders` one after
    another, and its log lies with the first. `small_batches`: of some ten runs."""

    def __init__(self, *folders: Path, master: str, small_batches: bool = False) -> None:
        self._log = folders[0] / "evaluation.log"
        command = [sys.executable, "-m", "spark_eval", "--when-told"]
        command += ["--sweep", *map(str, folders)]
        command += ["--small-batches"] if small_batches else []
        with self._log.open("wb") as log:
            self._program = subprocess.Popen(
                [*command, "--master", master],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=KILLED_WITH_PARENT,
            )
        self._told = self._heard = 0

    def next_judged(self, batch: str | None) -> BatchJudged | None:
        """Announce a batch and wait for the one before it; without one, wait for the last. None
        when nothing is waited for. Raises GroundError.
        """
        if batch is not None:
            self._say(f"{batch}\n")
            self._told += 1
        if self._told - self._heard < (1 if batch is None else 2):
            return None
        self._heard += 1
        return self._hear()

    def judge_now(self, batch: str) -> BatchJudged:
        """Announce a batch and wait for it. Raises GroundError."""
        self._say(f"{batch}\n")
        return self._hear()

    def conclude(self) -> tuple[int, str]:
        """Let it write a sweep's verdict and report; its exit code and its words. The next batch
        is the next sweep's. Raises GroundError.
        """
        self._say(END)
        told = self._answer("exit_code", "said")
        return told["exit_code"], told["said"]

    def _say(self, line: str) -> None:
        assert self._program.stdin is not None
        try:
            self._program.stdin.write(line)
            self._program.stdin.flush()
        except BrokenPipeError as error:
            raise self._failed("ended before its time") from error

    def _hear(self) -> BatchJudged:
        told = self._answer("batch", "runs", "seconds", "verdicts")
        return BatchJudged(told["batch"], told["runs"], told["seconds"], told["verdicts"])

    def _answer(self, *names: str) -> dict[str, Any]:
        """A line, which has these. Raises GroundError."""
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        try:
            said = json.loads(line)
            return {name: said[name] for name in names}
        except (ValueError, KeyError) as error:
            raise self._failed(f"said {line.strip()[:80]!r}") from error

    def _failed(self, how: str) -> GroundError:
        hint = f"see {self._log}; where memory ran out, ask for fewer seeds with --per-batch"
        return GroundError(f"the evaluation of the sweep {how}", hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.communicate()
