"""`python -m spark_eval.compare RUN RUN`: do two runs of one plan agree?

Prints a table and leaves compare.json and compare.html in `--out`, by default below the second
run's evaluation/. Exit codes: 0 they agree, 1 they disagree, 2 there is no answer since one side is
unknown, 3 the tables could not be read, 4 the call or a record is wrong, or the plans are not the
same. Of two whose settings alone differ it prints what each run did, and exits with 0: nothing has
to agree there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spark_eval.program import ending

if __name__ == "__main__":
    ending.at_once()  # until the outer edge stands, and after it

from pyspark.errors import PySparkException

from spark_eval.compare.comparison import compare
from spark_eval.compare.page import lines, page, weighed_lines, weighed_page
from spark_eval.compare.side import open_sides
from spark_eval.compare.weighing import weigh
from spark_eval.program.exit_codes import CRASHED, PASS, WRONG_CALL
from spark_eval.program.outer_edge import guarded
from spark_eval.program.parser import Parser
from spark_eval.program.printable import visible, visible_lines
from spark_eval.read.folder.run_folder import RunFolderError, UnreadableRecordError
from spark_eval.results.files import as_text
from spark_eval.results.whole_file import write_whole
from spark_eval.session import using_session


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; data goes to standard output, everything else to standard error."""
    options = _parser().parse_args(arguments)
    try:
        return _compare(options.run, options.other, options.out, options.master)
    except RunFolderError as error:
        print(visible_lines((f"error: {error.cause}", f"hint: {error.hint}")), file=sys.stderr)
        return CRASHED if isinstance(error, UnreadableRecordError) else WRONG_CALL
    except (PySparkException, OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        print(visible(f"error: the runs could not be compared: {said[0]}"), file=sys.stderr)
        print("hint: shadowlab evaluate makes their tables again", file=sys.stderr)
        return CRASHED


def _compare(first: Path, second: Path, out: Path | None, master: str | None) -> int:
    sides, settings = open_sides(first, second)
    folder = out or sides[1].folder.evaluation / "compare"
    if settings:
        weighed = weigh(sides, settings)
        _leave(folder, weighed.content(), weighed_page(weighed), weighed_lines(weighed))
        return PASS
    with using_session(master, "shadowlab compare") as spark:
        found = compare(spark, sides)
    _leave(folder, found.content(), page(found), lines(found))
    return found.exit_code


def _leave(folder: Path, content: Mapping[str, Any], html: str, said: Iterable[str]) -> None:
    write_whole(folder / "compare.json", as_text(content))
    write_whole(folder / "compare.html", html)
    print(visible_lines(said))
    print(visible(f"report: {folder / 'compare.html'}"))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m spark_eval.compare", description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="a run folder")
    parser.add_argument("other", type=Path, help="a run folder of the same plan")
    parser.add_argument("--out", type=Path, help="where the report goes")
    parser.add_argument("--master", help="by default what Spark is configured for, else local[*]")
    return parser


if __name__ == "__main__":
    sys.exit(guarded(main))
