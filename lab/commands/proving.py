"""The catalogue of defects, and whether each is caught: prove."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from lab.commands.arguments import checked_scenario
from lab.commands.completing import defect_names
from lab.commands.paths import not_empty
from lab.errors import ScenarioError
from lab.printable import visible
from lab.scenario_files import RUNS
from nodes.core.configuration_error import suggestion

if TYPE_CHECKING:
    from defects.defect import Defect


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
    seeds: Annotated[int, typer.Option(min=1, help="how many for each defect")] = 5,
    master: Annotated[str, typer.Option(help="Spark master")] = "local[*]",
) -> None:
    """Break nodes on purpose, a defect at a time, and see that the right claim notices each."""
    from defects.catalogue import ALL
    from lab.prove_view import listed

    chosen = tuple(dict.fromkeys(map(_named, names))) if names else ALL
    if not lists:
        raise typer.Exit(_proven(chosen, seeds, master))
    print("\n".join(map(visible, listed(chosen))))


def _named(name: str) -> "Defect":
    """Raises ScenarioError."""
    from defects.catalogue import BY_NAME

    if name not in BY_NAME:
        hint = suggestion(name, BY_NAME)
        near = hint if hint.startswith("did") else "shadowlab prove --list shows every defect"
        raise ScenarioError(f"there is no defect {name}", near)
    return BY_NAME[name]


def _proven(defects: Sequence["Defect"], seeds: int, master: str) -> int:
    from lab.prove import Proving, new_folder
    from lab.prove_view import told

    wanted = dict.fromkeys(each.scenario for each in defects)
    scenarios = {name: checked_scenario(name) for name in wanted}
    folder = new_folder(RUNS, datetime.now(UTC))
    made = Proving(defects, scenarios, seeds, folder, master).run()
    print("\n".join(map(visible, told(made))))
    print(visible(f"proof: {folder / 'prove.json'}"))
    return made.code
