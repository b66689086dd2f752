"""The catalogue of defects, and whether each is caught: prove."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from lab.cli.completion import defect_names
from lab.cli.options import STATE, On, checked_scenario, resolved_plan
from lab.cli.paths import not_empty
from lab.program.errors import ScenarioError, worst
from lab.program.java import require_java
from lab.program.printable import visible
from lab.validation.library import RUNS
from nodes.core.config.error import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from defects.defect import Defect
    from lab.campaigns.prove.verdict import Proof
    from lab.plan.plan import Plan
    from lab.validation.validate import CheckedScenario

SEEDS = {On.simulator: 5, On.containers: 1}
SEEDS_MAX = 1_000  # twenty times as many of a rare defect, planned before the first is simulated


def prove(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="defects; by default all", callback=not_empty, autocompletion=defect_names
        ),
    ] = None,
    lists: Annotated[
        bool, typer.Option("--list", help="only print what the catalogue has")
    ] = False,
    on: Annotated[On | None, typer.Option(help="by default the simulator")] = None,
    tenth: Annotated[
        str | None,
        typer.Option(help="a tenth of the catalogue: 1 to 10, or today", show_default=False),
    ] = None,
    nightly: Annotated[
        bool,
        typer.Option(
            "--nightly",
            help="all of it simulated; then today's tenth on containers, where an engine answers",
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, max=SEEDS_MAX, help="how many for each defect; by default 5, on containers 1"
        ),
    ] = None,
) -> None:
    """Break nodes on purpose, a defect at a time, and see that the right claim notices each."""
    if nightly:
        _refuse_beside("--nightly", {"names": names, "--tenth": tenth, "--list": lists})
        raise typer.Exit(_night(on, seeds))
    if tenth is not None:
        _refuse_beside("--tenth", {"names": names})
    chosen = _chosen(names, on, tenth, seeds)
    if lists:
        from lab.campaigns.prove.view import listed

        print("\n".join(map(visible, listed(chosen))))
        return
    if on is On.containers:
        require_java()
        raise typer.Exit(prove_on_containers(chosen, seeds))
    raise typer.Exit(prove_simulated(chosen, seeds))


def _refuse_beside(option: str, others: Mapping[str, object]) -> None:
    """Raises ScenarioError."""
    for other, given in others.items():
        if given:
            raise ScenarioError(f"{option} and {other}: both say what is tried", "leave one out")


def _night(on: On | None, seeds: int | None) -> int:
    from defects.catalogue import ALL
    from lab.campaigns.prove.choice import TODAY
    from lab.hosts.containers.engine import answers

    codes = []
    on_engine = on is On.containers or (on is None and answers())
    if on_engine:
        require_java()
    if on is not On.containers:
        codes.append(prove_simulated(ALL, seeds))
    if on_engine:
        codes.append(prove_on_containers(_chosen(None, On.containers, TODAY, seeds), seeds))
    elif on is None:
        print("no Docker engine answers: no defect is tried on containers", file=sys.stderr)
    return worst(codes)


def _chosen(
    names: list[str] | None, on: On | None, tenth: str | None, seeds: int | None
) -> "Sequence[Defect]":
    """Raises ScenarioError."""
    from defects.catalogue import ALL
    from lab.campaigns.prove.choice import part_of, tenth_of

    part = None if tenth is None else tenth_of(tenth, datetime.now(UTC).date())
    if names:
        chosen: Sequence[Defect] = tuple(dict.fromkeys(map(_named, names)))
    else:
        chosen = _for_containers(ALL, seeds) if on is On.containers else ALL
    return chosen if part is None else part_of(chosen, part)


def _named(name: str) -> "Defect":
    """Raises ScenarioError."""
    from defects.catalogue import BY_NAME

    if name not in BY_NAME:
        hint = suggestion(name, BY_NAME)
        near = hint if hint.startswith("did") else "shadowlab prove --list shows every defect"
        raise ScenarioError(f"there is no defect {name}", near)
    return BY_NAME[name]


def _for_containers(defects: "Sequence[Defect]", seeds: int | None) -> "Sequence[Defect]":
    """Those whose scenarios a night runs there."""
    from lab.campaigns.suite.plan import is_for_containers

    fit = [each for each in defects if not each.only_simulated]
    plans = _plans(fit, _scenarios(fit), seeds)
    return tuple(each for each in fit if all(map(is_for_containers, plans[each.name])))


def _scenarios(defects: "Sequence[Defect]") -> "dict[str, CheckedScenario]":
    wanted = dict.fromkeys(each.scenario for each in defects)
    return {name: checked_scenario(name) for name in wanted}


def _plans(
    defects: "Sequence[Defect]", scenarios: "Mapping[str, CheckedScenario]", seeds: int | None
) -> "dict[str, list[Plan]]":
    """Of each defect, on containers."""
    from lab.campaigns.prove.choice import seeds_of

    count = seeds or SEEDS[On.containers]
    return {
        each.name: [resolved_plan(scenarios[each.scenario], s) for s in seeds_of(each, count)]
        for each in defects
    }


def prove_simulated(defects: "Sequence[Defect]", seeds: int | None) -> int:
    from lab.campaigns.prove.prove import Proving, new_folder

    folder = new_folder(RUNS, datetime.now(UTC))
    count = seeds or SEEDS[On.simulator]
    made = Proving(defects, _scenarios(defects), count, folder).run()
    return _told(made, folder)


def prove_on_containers(defects: "Sequence[Defect]", seeds: int | None) -> int:
    """Raises ScenarioError for what no container can show, GroundError where no engine answers."""
    from lab.campaigns.prove.on_containers import OnContainers, real_servers
    from lab.campaigns.prove.prove import new_folder
    from lab.hosts.containers.engine import connect

    scenarios = _scenarios(defects)
    plans = _plans(defects, scenarios, seeds)
    for each in defects:
        _require_containers(each, plans[each.name])
    connect().close()
    folder = new_folder(RUNS, datetime.now(UTC))
    texts = {name: each.text for name, each in scenarios.items()}
    with real_servers(folder, STATE, texts) as run_one:
        made = OnContainers(defects, plans, folder, run_one).run()
    return _told(made, folder)


def _require_containers(defect: "Defect", plans: "Sequence[Plan]") -> None:
    """Raises ScenarioError where they cannot show it."""
    why = defect.only_simulated
    if any(plan.powerless for plan in plans):
        why = "a container that is killed loses nothing, so it knows no power_loss"
    if why:
        raise ScenarioError(f"--on containers: {defect.name}: {why}", "--on simulator")


def _told(made: "Proof", folder: "Path") -> int:
    from lab.campaigns.prove.view import told

    print("\n".join(map(visible, told(made))))
    print(visible(f"proof: {folder / 'prove.json'}"))
    return made.code
