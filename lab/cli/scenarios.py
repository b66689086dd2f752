"""What is asked, before anything is started: validate, schema, plan."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lab.cli.completion import scenario_names
from lab.cli.options import (
    AllowUnsafe,
    Name,
    Seed,
    checked_scenario,
    counted,
    print_all,
    resolved_plan,
)
from lab.cli.paths import not_empty
from lab.planning.random_schedule import in_words
from lab.planning.random_settings import settings_in_words, with_drawn_settings
from lab.planning.resolve import schedule_context
from lab.planning.view import show
from lab.planning.write_out import with_plain_faults
from lab.program.errors import CALL_WRONG, ScenarioError
from lab.program.given_file import is_folder, is_there
from lab.scenario.json_schema import schema_text
from lab.validation.library import files_of_scenarios, find_scenario
from lab.validation.validate import check


class Kind(StrEnum):
    """Which files a schema is for."""

    scenario = "scenario"
    topology = "topology"


def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="names, paths or folders; by default every scenario",
            callback=not_empty,
            autocompletion=scenario_names,
        ),
    ] = None,
    allow_unsafe: AllowUnsafe = False,
) -> None:
    """Report every mistake of scenario and topology files, each with its place."""
    paths = [_path(name) for name in names] if names else files_of_scenarios()
    checked = check(paths, allow_unsafe=allow_unsafe)
    print_all([str(found) for found in (*checked.warnings, *checked.mistakes)])
    if checked.mistakes:
        files = len({mistake.file for mistake in checked.mistakes})
        mistakes = counted(len(checked.mistakes), "mistake")
        print(f"{mistakes} in {counted(files, 'file')}", file=sys.stderr)
        raise typer.Exit(CALL_WRONG)
    print(f"{counted(len(checked.scenarios), 'scenario')}, no mistakes")


def schema(
    kind: Annotated[Kind, typer.Argument(help="which files")] = Kind.scenario,
) -> None:
    """Print the JSON Schema that editors complete from."""
    print(schema_text(kind.value), end="")


def plan(
    name: Name,
    seed: Seed = None,
    json: Annotated[bool, typer.Option("--json", help="print plan.json")] = False,
    as_scenario: Annotated[
        bool,
        typer.Option("--as-scenario", help="print the scenario, what is drawn written out"),
    ] = False,
    allow_unsafe: AllowUnsafe = False,
) -> None:
    """Print the resolved timeline, link by link, and how long it will take. Touches nothing."""
    scenario = checked_scenario(name, allow_unsafe=allow_unsafe)
    resolved = resolved_plan(scenario, seed)
    if json:
        print(resolved.to_json(), end="")
        return
    if as_scenario:
        authored = scenario.text, scenario.scenario, scenario.topology
        print(with_plain_faults(*authored, resolved.seed), end="")
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 100
    settings = settings_in_words(scenario.scenario, resolved.seed)
    context = schedule_context(
        with_drawn_settings(scenario.scenario, resolved.seed), resolved.topology
    )
    faults = in_words(scenario.scenario.faults, context, resolved.seed)
    show(resolved, console, [*settings, *faults])


def _path(name: str) -> Path:
    """The file or folder; a folder without a file to check is a wrong call, not a pass."""
    path = Path(name)
    if not name or not is_there(path):
        return find_scenario(name)
    if is_folder(path) and next(path.rglob("*.yaml"), None) is None:
        raise ScenarioError(f"{name} holds no scenario", "name a file, or a folder that does")
    return path
