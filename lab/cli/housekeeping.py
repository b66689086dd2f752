"""What is there: list it, start a scenario, remove old runs."""

import shlex
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from json import dumps
from typing import Annotated

import typer

from lab.cli.completion import scenario_names
from lab.cli.options import counted, parsed_duration
from lab.cli.paths import not_empty
from lab.program.errors import GroundError
from lab.run.history import run_lines, run_objects, scenario_lines, scenario_objects
from lab.run.prune import prunable, remove, size_bytes
from lab.validation.library import RUNS, scenario_paths
from lab.validation.new_scenario import new_scenario
from lab.validation.requirement_list import naming_scenarios, requirement_lines, requirement_objects

KEEP = 10


class Listed(StrEnum):
    """What is listed."""

    scenarios = "scenarios"
    runs = "runs"
    requirements = "requirements"


def list_(
    what: Annotated[Listed, typer.Argument(help="which")] = Listed.scenarios,
    json: Annotated[
        bool, typer.Option("--json", help="an array of objects, for a program")
    ] = False,
) -> None:
    """List scenarios with what they check and how long they take, runs with their verdicts, or
    requirements with who checks them.
    """
    if json:
        print(dumps(list(_objects(what)), indent=1))
        return
    print(*list(_lines(what)) or [f"no {what.value} here"], sep="\n")


def _lines(what: Listed) -> Iterable[str]:
    if what is Listed.requirements:
        return requirement_lines(naming_scenarios(scenario_paths()))
    return scenario_lines() if what is Listed.scenarios else run_lines(RUNS)


def _objects(what: Listed) -> Iterable[Mapping[str, object]]:
    if what is Listed.requirements:
        return requirement_objects(naming_scenarios(scenario_paths()))
    return scenario_objects() if what is Listed.scenarios else run_objects(RUNS)


def new(
    name: Annotated[str, typer.Argument(help="its name", show_default=False, callback=not_empty)],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="a scenario to copy; by default a commented one",
            callback=not_empty,
            autocompletion=scenario_names,
        ),
    ] = None,
) -> None:
    """Write a scenario to start from."""
    path = new_scenario(name, source)
    print(path)
    print(f"shadowlab plan {shlex.quote(name)} shows what it does", file=sys.stderr)


def prune(
    keep: Annotated[
        int | None, typer.Option(min=1, help=f"of a scenario; {KEEP}, or 1 with --older-than")
    ] = None,
    older_than: Annotated[str | None, typer.Option(help="only older ones, such as 7d")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would go")] = False,
) -> None:
    """Remove old runs and sweeps; never the latest of a scenario."""
    kept = keep or (KEEP if older_than is None else 1)
    age = None
    if older_than is not None:
        age = timedelta(milliseconds=parsed_duration("--older-than", older_than))
    folders = prunable(RUNS, kept, age, datetime.now(UTC))
    total, gone, complaints = 0, 0, []
    for folder in folders:
        size = size_bytes(folder)
        if not dry_run and (complaint := remove(folder)) is not None:
            complaints.append(complaint)
            continue
        total, gone = total + size, gone + 1
        print(folder)
    said = "would go" if dry_run else "removed"
    told = f"{counted(gone, 'folder')}, {total / 1e6:.1f} MB {said}"
    print(told if folders else "nothing is old enough", file=sys.stderr)
    if complaints:
        cause = f"{counted(len(complaints), 'folder')} could not be removed: {complaints[0]}"
        raise GroundError(cause, "this user must be able to write there")
