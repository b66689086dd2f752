"""What a run recorded: evaluate, report, story, compare."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lab.cli.completion import run_names
from lab.cli.evaluation import comparison, evaluation, evaluation_timed
from lab.cli.options import AsJson, Run
from lab.cli.paths import new_folder, not_empty, path_of
from lab.cli.summary import outcome, print_line
from lab.program.errors import ScenarioError
from lab.record.folder import VERDICT, point_latest
from lab.validation.library import RUNS, find_run


def evaluate(
    run: Run = str(RUNS / "latest"),
    master: Annotated[
        str | None,
        typer.Option(help="Spark master; by default what Spark is configured for, else local[*]"),
    ] = None,
    json: AsJson = False,
) -> None:
    """Judge a run folder again, and print its verdict; a URI names one that Spark reads."""
    options = () if master is None else ("--master", master)
    folder = _named(run)
    if isinstance(folder, str):
        if json:
            raise ScenarioError("--json: it is of run folders here", "verdict.json is beside them")
        raise typer.Exit(evaluation(folder, *options))
    code = evaluation_timed(folder, *options, to_stderr=json)
    _point_latest(folder)
    if json:
        print_line(outcome(folder, code))
    raise typer.Exit(code)


def _named(run: str) -> Path | str:
    """A run folder of this machine, or the URI of one elsewhere."""
    return run if "://" in run else find_run(run)


def _point_latest(folder: Path) -> None:
    """What was interrupted before its verdict and has one now may be the latest."""
    real = Path(os.path.realpath(folder))
    if real.parent.parent == Path(os.path.realpath(RUNS)) and (real / VERDICT).is_file():
        point_latest(RUNS / real.parent.name / real.name)


def report(run: Run = str(RUNS / "latest")) -> None:
    """Write the report of a run folder again, from what its evaluation found."""
    raise typer.Exit(evaluation(_named(run), "--report-only"))


def story(
    run: Run,
    message_id: Annotated[
        str,
        typer.Argument(metavar="MESSAGE-ID", help="as in ledger.jsonl", callback=not_empty),
    ],
) -> None:
    """Print every line about a message, across servers, in order of time."""
    raise typer.Exit(evaluation(_named(run), "--story", message_id))


def compare(
    run: Run,
    other: Annotated[
        str,
        typer.Argument(
            help="a run of the same plan, on another host or not",
            callback=not_empty,
            autocompletion=run_names,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="by default evaluation/compare of the second run", parser=path_of
        ),
    ] = None,
) -> None:
    """Say whether two runs of one plan agree, but for what timing leaves open."""
    named = None if out is None else new_folder("--out", out)
    raise typer.Exit(comparison([find_run(run), find_run(other)], named))
