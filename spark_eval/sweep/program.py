"""`python -m spark_eval --sweep FOLDER`: judge a sweep's batches, then give one verdict of all.

A batch that has its result is not judged again, so an interrupted sweep goes on where it stopped.
When told, batches are named on standard input while the lab goes on simulating, and each is
answered by one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_eval.program.exit_codes import CRASHED
from spark_eval.program.printable import visible
from spark_eval.read.run_folder import RunFolderError
from spark_eval.results.files import as_text
from spark_eval.results.whole_file import write_whole
from spark_eval.sweep.batch import judge_batch
from spark_eval.sweep.folder import SweepFolder
from spark_eval.sweep.page import render
from spark_eval.sweep.summary import summary
from spark_eval.sweep.verdict import NAMES, Tally

END = "end"


def judge_complete(spark: SparkSession, sweep: SweepFolder) -> int:
    """Judges every complete batch that is not judged yet; returns the exit code."""
    batches = sweep.complete_batches()
    for number, batch in enumerate(batches, start=1):
        told = _answered(spark, sweep, batch)
        print(f"{batch}: {number} of {len(batches)}: {_progress(told)}", file=sys.stderr)
    return conclude(sweep)


def judge_as_told(spark: SparkSession, sweep: SweepFolder, names: TextIO) -> int:
    """Judges batches as `names` tells them, a line each, until its end; returns the exit code."""
    codes = [0]
    for batch in _named(names):
        told = _told(spark, sweep, batch)
        codes.append(CRASHED if "error" in told else 0)
        print(json.dumps(told), flush=True)
    code = conclude(sweep)
    return CRASHED if CRASHED in codes else code


def conclude(sweep: SweepFolder) -> int:
    """verdict.json, report.html and the summary, from whatever is judged; returns the exit code."""
    tally = Tally()
    for batch in sweep.judged_batches():
        tally.add(sweep.read_result(batch))
    content = tally.content(sweep)
    write_whole(sweep.path / "report.html", render(content))
    write_whole(sweep.path / "verdict.json", as_text(content))
    print(summary(content))
    print(visible(f"report: {sweep.path / 'report.html'}"))
    return int(content["exit_code"])


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
