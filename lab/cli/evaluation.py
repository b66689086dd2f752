"""The programs of the evaluation: started by the lab, never imported.

Their exit codes mean what those of every command mean. They end with the command that started them,
however that ends, and Spark's JVM ends with them, when its standard input does.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.errors import (
    CALL_WRONG,
    GROUND_FAILED,
    INTERRUPTED,
    VERDICTS,
    GroundError,
    LabError,
)
from lab.program.progress import is_terminal, waiting
from lab.run import judgement as judging
from lab.run.durations import Durations
from lab.run.evaluation import colour_of
from lab.validation.library import RUNS

FROM_THE_START = "evaluation from the start"
STDERR = 2
CALLED = {"SHADOWLAB_CALLED": "1"}  # whoever is ended by a signal leaves it to us to say so


def evaluation(
    folder: Path | str, *options: str, quiet: bool = False, to_stderr: bool = False
) -> int:
    """Run the evaluation as a program; it prints its own verdict. `folder` is a path, or a URI that
    Spark reads. Raises GroundError."""
    return program("spark_eval", str(folder), *options, quiet=quiet, to_stderr=to_stderr)


def evaluation_timed(folder: Path, *options: str, to_stderr: bool) -> int:
    """The same with a bar on a terminal; how long it took is remembered. Raises GroundError."""
    durations, scenario = Durations(RUNS), Path(os.path.realpath(folder)).parent.name
    about = durations.expected(FROM_THE_START, scenario)
    if not is_terminal():
        return evaluation(folder, *options, to_stderr=to_stderr)
    target, began = (sys.stderr if to_stderr else sys.stdout), time.monotonic()
    command = [sys.executable, "-m", "spark_eval", str(folder), *options]
    with waiting("evaluating", about):
        done = subprocess.run(
            command,
            check=False,
            stdout=subprocess.PIPE,
            env=os.environ | CALLED | colour_of(target),
            preexec_fn=KILLED_WITH_PARENT,
        )
    print(done.stdout.decode("utf-8", "replace"), end="", file=target, flush=True)
    durations.note(time.monotonic() - began, FROM_THE_START, scenario)
    return _meant(done.returncode)


def comparison(folders: Sequence[Path], out: Path | None) -> int:
    """Compare two runs, by the judge in our environment or as a program. Raises GroundError."""
    if judging.is_there():
        try:
            where = None if out is None else out.absolute()
            words = _comparison([folder.absolute() for folder in folders], where)
            judged = judging.ask_judge("compare", words)
        except judging.NoJudge as error:
            print(f"{error}; the runs are compared in a session of their own", file=sys.stderr)
        else:
            sys.stderr.write(judged.err)
            print(judged.out, end="", flush=True)
            return _meant(judged.code)
    return program("spark_eval.compare", *_comparison(folders, out))


def _comparison(folders: Sequence[Path], out: Path | None) -> list[str]:
    return [*map(str, folders), *(["--out", str(out)] if out is not None else [])]


def program(module: str, *words: str, quiet: bool = False, to_stderr: bool = False) -> int:
    """Run a program of the evaluation; its exit code means what ours mean. `to_stderr`: what it
    prints is no data of ours. Raises GroundError."""
    said = subprocess.DEVNULL if quiet else STDERR if to_stderr else None
    command = [sys.executable, "-m", module, *words]
    environment = os.environ | CALLED
    done = subprocess.run(
        command, check=False, stdout=said, env=environment, preexec_fn=KILLED_WITH_PARENT
    )
    return _meant(done.returncode)


def _meant(code: int) -> int:
    if code in (INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):
        raise LabError(INTERRUPTED, "the evaluation was ended by a signal")
    if code not in (*VERDICTS, GROUND_FAILED, CALL_WRONG):
        raise GroundError(f"the evaluation ended with {code}", "see what it printed above")
    return code
