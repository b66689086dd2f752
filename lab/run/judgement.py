"""How a run gets its verdict: from the judge in its environment, else by an evaluation of its own.

The lab shares no code with what judges it: a judge is asked over a Unix socket, a line of JSON each
way, as `spark_eval/evaluation/serving.py` says.
"""

import json
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.program.errors import GROUND_FAILED
from lab.program.progress import waiting
from lab.run.durations import Durations
from lab.run.evaluation import LOG, Evaluation
from lab.run.outcome import Judging, say_to_stderr

SOCKET = "SHADOWLAB_JUDGE"
"""Names the judge's socket in a run's environment."""


class NoJudge(Exception):
    """There is none, or it ended before it answered."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the program would have ended with, and printed."""

    code: int
    out: str
    err: str


def is_there() -> bool:
    """Somebody has begun this process with a judge to ask."""
    return bool(os.environ.get(SOCKET))


def ask_judge(program: str, words: Sequence[str]) -> Judged:
    """The answer of the judge in our environment, which has one call at a time.

    Raises NoJudge.
    """
    call = json.dumps({"program": program, "words": list(words)})
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(os.environ[SOCKET])
            asking.sendall(f"{call}\n".encode())
            with asking.makefile("rb") as lines:
                return Judged(**json.loads(lines.readline()))
    except (OSError, ValueError, TypeError) as error:
        raise NoJudge(f"the session that judges gave no answer: {error}") from error


def evaluation_of(folder: Path, *, to_stderr: bool = False) -> Judging:
    """`to_stderr`: the summary is no data of ours."""
    if is_there():
        return AskedJudge(folder, to_stderr=to_stderr)
    return Evaluation(folder, to_stderr=to_stderr)


class AskedJudge:
    """One run's evaluation by a judge that is warm already; there is nothing to begin early."""

    def __init__(self, folder: Path, *, to_stderr: bool) -> None:
        self._folder = folder
        self._to_stderr = to_stderr

    def judge(self) -> int:
        """As `Evaluation.judge`; where the judge gives no answer, by an evaluation of our own."""
        about = Durations(self._folder.parent.parent).expected(
            "evaluation", self._folder.parent.name
        )
        try:
            with waiting("evaluating", about):
                judged = ask_judge("evaluate", [str(self._folder.absolute())])
        except NoJudge as error:
            say_to_stderr(f"{error}; this run is judged in a session of its own")
            return Evaluation(self._folder, to_stderr=self._to_stderr).judge()
        log = self._folder / LOG
        log.parent.mkdir(exist_ok=True)
        log.write_text(judged.err, encoding="utf-8")
        print(judged.out, end="", file=sys.stderr if self._to_stderr else sys.stdout, flush=True)
        if judged.code == GROUND_FAILED:
            sys.stderr.write(judged.err)
        return judged.code

    def abandon(self) -> None:
        """It was never asked."""
