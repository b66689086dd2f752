"""The words that commands share: what names a scenario, a seed or a run, and what they stand for.

Nothing here acts; a scenario with mistakes ends the call, after all of them have been printed.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lab.cli.completion import run_names, scenario_names
from lab.cli.paths import not_empty
from lab.plan.plan import Plan
from lab.planning.resolve import default_seed, resolve
from lab.program.errors import CALL_WRONG, ScenarioError
from lab.scenario.quantities import SEED_MAX, parse_duration
from lab.validation.library import load_scenario
from lab.validation.validate import CheckedScenario
from nodes.core.config.error import ConfigurationError

STATE = Path(".shadowlab")

Name = Annotated[
    str,
    typer.Argument(
        help="a scenario's name or path",
        show_default=False,
        callback=not_empty,
        autocompletion=scenario_names,
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, max=SEED_MAX, help="by default the scenario's")]
PerBatch = Annotated[
    int, typer.Option(min=1, max=SEED_MAX, help="how many are written down together")
]
Run = Annotated[
    str,
    typer.Argument(
        help="a run folder, or a scenario for its latest run",
        callback=not_empty,
        autocompletion=run_names,
    ),
]

AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="for a program: stdout is one line of JSON with folder, code, verdict and cause; "
        "what a person reads goes to stderr",
    ),
]


AllowUnsafe = Annotated[
    bool,
    typer.Option(
        "--allow-unsafe", help="settings that lose mail, such as a short SafetyNetHoldTime, warn"
    ),
]


class On(StrEnum):
    """Where a plan is run."""

    containers = "containers"
    simulator = "simulator"


def checked_scenario(name: str, *, allow_unsafe: bool = False) -> CheckedScenario:
    """The scenario of that name; its mistakes end the call, its warnings do not."""
    scenario, notes = load_scenario(name, allow_unsafe=allow_unsafe)
    print_all(notes)
    if scenario is None:
        raise typer.Exit(CALL_WRONG)
    return scenario


def resolved_plan(scenario: CheckedScenario, seed: int | None) -> Plan:
    if seed is None:
        own = default_seed(scenario.scenario.scenario)
        return resolve(scenario.scenario, scenario.topology, own, "scenario")
    return resolve(scenario.scenario, scenario.topology, seed, "argument")


def require_seeds(option: str, first: int, count: int) -> None:
    """`count` seeds from `first` on are bounded as one is. Raises ScenarioError."""
    last = first + count - 1
    if last > SEED_MAX:
        hint = f"{option} {count} from seed {first} on would end with {last}; ask for fewer"
        raise ScenarioError(f"{option} {count}: {SEED_MAX} is the last seed", hint)


def print_all(texts: list[str]) -> None:
    for text in texts:
        print(text, file=sys.stderr)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def parsed_duration(option: str, text: str) -> int:
    """A timespan of the command line, in milliseconds. Raises ScenarioError."""
    try:
        return parse_duration(text)
    except ConfigurationError as error:
        raise ScenarioError(f"{option}: {text!r} {error.rule}", error.hint) from error
