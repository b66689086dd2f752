"""`python -m spark_eval --sweep FOLDER ...`: one verdict of each sweep, from its results.

Runs are judged where they are simulated, by `sweep/result`; this needs neither them nor Spark.
"""

from __future__ import annotations

from collections.abc import Iterable

from spark_eval.program.exit_codes import WORST_FIRST
from spark_eval.program.printable import visible
from spark_eval.read.folder.run_folder import RunFolderError
from spark_eval.report.render import MISSHAPEN
from spark_eval.results.files import as_text
from spark_eval.results.whole_file import write_whole
from spark_eval.sweep.folder import SweepFolder
from spark_eval.sweep.page import render
from spark_eval.sweep.summary import summary
from spark_eval.sweep.verdict import Tally


def conclude_all(sweeps: Iterable[SweepFolder]) -> int:
    """Print what each comes to; the worst exit code. Raises RunFolderError."""
    codes = []
    for sweep in sweeps:
        code, said = conclude(sweep)
        print(said)
        codes.append(code)
    return next(code for code in WORST_FIRST if code in codes)


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
