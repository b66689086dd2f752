"""`python -m spark_eval RUN`: judge run folders, print the verdict, leave the files beside the
record; `spark-submit spark_eval/__main__.py RUN` does the same, by the master and the name that it
is given. `python -m spark_eval --sweep FOLDER`: one verdict from the results of a sweep's runs.

Exit codes: 0 pass, 1 fail, 2 unknown, 3 a check crashed or the record could not be evaluated, 4 the
call is wrong, or what it names is no record that can be read. Of several runs the worst counts: 3,
1, 2, 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

if not __package__:  # spark-submit runs this file as a script: its folder is no library
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from spark_eval.program import ending

if __name__ == "__main__":
    ending.at_once()  # until the outer edge stands, and after it

from spark_eval.program.exit_codes import CRASHED, WRONG_CALL
from spark_eval.program.outer_edge import guarded
from spark_eval.program.parser import Parser
from spark_eval.program.printable import visible, visible_lines
from spark_eval.read.folder.line_blocks import refuse_what_is_too_large
from spark_eval.read.folder.run_folder import (
    RunFolder,
    RunFolderError,
    UnreadableRecordError,
    is_uri,
    open_run_folder,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; data goes to standard output, everything else to standard error."""
    options = _parser().parse_args(arguments)
    try:
        return _answer(options)
    except RunFolderError as error:
        print(visible_lines((f"error: {error.cause}", f"hint: {error.hint}")), file=sys.stderr)
        return CRASHED if isinstance(error, UnreadableRecordError) else WRONG_CALL
    except BrokenPipeError:  # whoever read stdout has gone: no fault of the record
        raise
    except (OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        cause = f"error: the record could not be evaluated: {said[0]}"
        print(visible(cause), file=sys.stderr)
        print("hint: Spark needs Java 17 or newer, memory and room to write", file=sys.stderr)
        return CRASHED


def _answer(options: argparse.Namespace) -> int:
    """What needs no Spark is answered without: its import alone takes longer than a story."""
    if options.story is not None:
        return _story(options)
    if options.report_only:
        return _report_again(options)
    if options.serve is not None:
        return _serve(options)
    if options.sweep:
        from spark_eval.sweep.folder import open_sweep
        from spark_eval.sweep.program import conclude_all

        return conclude_all([open_sweep(folder) for folder in options.sweep])
    if not options.when_told:
        for name in options.run:
            if not is_uri(name):
                refuse_what_is_too_large(open_run_folder(Path(name)))
    from spark_eval.evaluation.program import judge_runs

    return judge_runs(options.run, options)


def _serve(options: argparse.Namespace) -> int:
    from spark_eval.compare.__main__ import main as compare
    from spark_eval.evaluation.serving import serve

    return serve(options.serve, options.master, {"evaluate": main, "compare": compare})


def _story(options: argparse.Namespace) -> int:
    from spark_eval.story.terminal import story_lines

    def tell(folder: RunFolder) -> None:
        print(visible_lines(story_lines(folder, options.story)))

    return _with_each(options, tell)


def _report_again(options: argparse.Namespace) -> int:
    from spark_eval.report.page import page_again

    def write(folder: RunFolder) -> None:
        page_again(folder)
        print(visible(f"report: {folder.report}"))

    return _with_each(options, write)


def _with_each(options: argparse.Namespace, work: Callable[[RunFolder], None]) -> int:
    """Only a folder that is elsewhere needs Spark, to fetch it."""
    if any(is_uri(name) for name in options.run):
        from spark_eval.evaluation.program import with_fetched

        return with_fetched(options.run, options.master, work)
    for folder in [open_run_folder(Path(name)) for name in options.run]:
        work(folder)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m spark_eval", description=__doc__.split("\n")[0])
    judged = parser.add_mutually_exclusive_group(required=True)
    judged.add_argument(
        "run", nargs="*", default=[], help="a run folder, or several; or URIs of them"
    )
    judged.add_argument(
        "--sweep", type=Path, nargs="+", metavar="FOLDER", help="the folder of a sweep, or several"
    )
    judged.add_argument(
        "--serve",
        type=int,
        metavar="DESCRIPTOR",
        help="answer calls over that Unix socket, in one session, until standard input ends",
    )
    parser.add_argument("--master", help="by default what Spark is configured for, else local[*]")
    parser.add_argument(
        "--report-only", action="store_true", help="make the report again from evaluation/"
    )
    parser.add_argument("--story", metavar="MESSAGE-ID", help="print every line about a message")
    parser.add_argument(
        "--when-told",
        action="store_true",
        help="bring Spark up, then wait for a line on standard input",
    )
    return parser


if __name__ == "__main__":
    sys.exit(guarded(main))
