"""The evaluation, started as a program: the lab shares no code with what judges it.

`python -m spark_eval <run folder>` prints its summary to stdout and gives the verdict as its exit
code. It dies with the lab: the kernel kills it when the lab's process ends, however that ends.
"""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.errors import GROUND_FAILED, VERDICTS, GroundError
from lab.program.progress import is_terminal, waiting
from lab.run.durations import Durations

LOG = "evaluation/stderr.log"
VERDICT = "verdict.json"
FORCE_COLOR = "FORCE_COLOR"  # https://force-color.org
GO = b"the record is whole\n"


class Evaluation:
    """One run's evaluation, started early: Spark comes up while the lab is still taken down, then
    waits for the go-ahead. It is no part of what is taken down, so it carries no mark of the run.
    What it says on stderr goes to `evaluation/stderr.log` in the run folder; `to_stderr`: its
    summary goes to ours."""

    def __init__(self, folder: Path, *, to_stderr: bool = False) -> None:
        self._folder = folder
        self._target = sys.stderr if to_stderr else sys.stdout
        self._log = folder / LOG
        self._log.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "spark_eval", str(folder), "--when-told"]
        with self._log.open("wb") as log:
            self._program = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if is_terminal() else self._target,
                stderr=log,
                env=os.environ | colour_of(self._target),
                preexec_fn=KILLED_WITH_PARENT,
            )

    def judge(self) -> int:
        """Announce that the record is whole. Its exit code: 0 pass, 1 fail, 2 unknown, 3 it could
        not do its work.

        Raises GroundError when it left no verdict and did not say why.
        """
        try:
            with waiting("evaluating", self._about()):
                said, _ = self._program.communicate(GO)
        except BaseException:
            self.abandon()
            raise
        if said:  # else it was printed at once
            print(said.decode("utf-8", "replace"), end="", file=self._target, flush=True)
        code = self._program.returncode
        if code in VERDICTS and (self._folder / VERDICT).is_file():
            return code
        complaint = self._log.read_text(errors="replace")
        if code != GROUND_FAILED or not complaint:
            raise GroundError(_ended(code), self._hint(complaint))
        sys.stderr.write(complaint)
        return code

    def _hint(self, complaint: str) -> str:
        cause = f"see {self._log}" if complaint else "it said nothing: the disk may be full"
        return f"{cause}; shadowlab evaluate {shlex.quote(str(self._folder))} does it again"

    def _about(self) -> float:
        runs, scenario = self._folder.parent.parent, self._folder.parent.name
        return Durations(runs).expected("evaluation", scenario)

    def abandon(self) -> None:
        """There is nothing to judge, or nobody waits for it any more."""
        self._program.terminate()
        self._program.communicate()


def _ended(code: int) -> str:
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return f"the evaluation ended {how}"


def colour_of(target: TextIO) -> dict[str, str]:
    """What lets a program whose output passes through here colour it as for a terminal."""
    return {FORCE_COLOR: "1"} if target.isatty() else {}
