"""`python -m spark_eval --sweep FOLDER ...`: judge sweeps' batches, then give one verdict of each.

A batch that has its result is not judged again, so an interrupted sweep goes on where it stopped.
With `--when-told`, batches are named on standard input while the lab goes on simulating, and each
is answered by one line of JSON, as is the `end` that lets a sweep be concluded and the next begin.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_eval.program.exit_codes import CRASHED, WORST_FIRST
from spark_eval.program.printable import visible
from spark_eval.read.run_folder import RunFolderError
from spark_eval.report.render import MISSHAPEN
from spark_eval.results.files import as_text
from spark_eval.results.whole_file import write_whole
from spark_eval.sweep.batch import judge_batch
from spark_eval.sweep.folder import SweepFolder
from spark_eval.sweep.page import render
from spark_eval.sweep.summary import summary
from spark_eval.sweep.verdict import NAMES, Tally

END = "end"


def judge_complete(spark: SparkSession, sweeps: Sequence[SweepFolder]) -> int:
    """Judges every complete batch that is not judged yet; returns the worst exit code."""
    return _worst([_judged_complete(spark, sweep) for sweep in sweeps])


def judge_as_told(spark: SparkSession, sweeps: Iterable[SweepFolder], names: TextIO) -> int:
    """Judges batches as `names` gives them, a line each: the first sweep's until `end`, then the
    next one's. Returns the worst exit code."""
    return _worst([_judged_as_told(spark, sweep, names) for sweep in sweeps])


def _worst(codes: Sequence[int]) -> int:
    return next(code for code in WORST_FIRST if code in codes)


def _judged_complete(spark: SparkSession, sweep: SweepFolder) -> int:
    batches = sweep.complete_batches()
    for number, batch in enumerate(batches, start=1):
        told = _answered(spark, sweep, batch)
        print(f"{batch}: {number} of {len(batches)}: {_progress(told)}", file=sys.stderr)
    code, said = conclude(sweep)
    print(said)
    return code


def _judged_as_told(spark: SparkSession, sweep: SweepFolder, names: TextIO) -> int:
    codes = [0]
    for batch in _named(names):
        told = _told(spark, sweep, batch)
        codes.append(CRASHED if "error" in told else 0)
        print(json.dumps(told), flush=True)
    code, said = conclude(sweep)
    print(json.dumps({"exit_code": code, "said": said}), flush=True)
    return _worst([code, *codes])


def conclude(sweep: SweepFolder) -> tuple[int, str]:
    """verdict.json and report.html, from whatever is judged; the exit code, and the summary. Raises
    RunFolderError where results are none of an evaluation.
    """
    tally, name = Tally(), "results"
    try:
        for batch in sweep.judged_batches():
            name = f"results/{batch}.jsonl"
            tally.add(sweep.read_result(batch))
        content = tally.content(sweep)
        page = render(content)
    except MISSHAPEN as error:
        cause = f"sweep {sweep.path.name}: {name} is not what an evaluation leaves there: {error!r}"
        raise RunFolderError(cause, "remove it; its batch is simulated and judged again") from error
    write_whole(sweep.path / "report.html", page)
    write_whole(sweep.path / "verdict.json", as_text(content))
    report = visible(f"report: {sweep.path / 'report.html'}")
    return int(content["exit_code"]), f"{summary(content)}\n{report}"


def _named(names: Iterable[str]) -> Iterator[str]:
    for line in names:
        name = line.strip()
        if name == END:
            return
        if name:
            yield name


def _told(spark: SparkSession, sweep: SweepFolder, batch: str) -> dict[str, Any]:
    """The answer to one name; what goes wrong with a batch is in it and leaves the others alone."""
    try:
        return _answered(spark, sweep, batch)
    except (RunFolderError, PySparkException, OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        return {"batch": batch, "error": said[0]}


def _answered(spark: SparkSession, sweep: SweepFolder, batch: str) -> dict[str, Any]:
    """`batch`, `runs`, `verdicts` (how many had which, worst first), `seconds` (wall)."""
    started = time.monotonic()
    if sweep.is_judged(batch):
        results = sweep.read_result(batch)
    else:
        results = judge_batch(spark, sweep, batch)
    counts = Counter(result["exit_code"] for result in results)
    return {
        "batch": batch,
        "runs": len(results),
        "verdicts": {name: counts[code] for code, name in NAMES.items() if counts[code]},
        "seconds": round(time.monotonic() - started, 3),
    }


def _progress(told: dict[str, Any]) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in told["verdicts"].items())
    return f"{counts} in {told['seconds']:.1f} s"
