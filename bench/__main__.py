"""`make bench`: run every measurement, print a table, write bench/results.json.

One that fails is named with its reason and keeps its last row; the others still run. One that this
machine cannot take gets a row without numbers that says what is missing.
Exit code 0, 3 when any failed, or 4 for a name that is none. `python -m bench lab_up` runs that
one alone.
"""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterable
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.result import Result
from lab.program.errors import GROUND_FAILED, LabError, ScenarioError, print_error
from lab.program.outer_edge import guarded

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def measurements() -> list[str]:
    """Names of the modules here that measure something."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(HERE / "rows")]))
    modules = {
        name: importlib.import_module(f"bench.rows.{name}") for name in names if name[0] != "_"
    }
    return [name for name, module in modules.items() if hasattr(module, "measure")]


def keep(results: Iterable[Result]) -> list[Result]:
    """Write these results over those of the same name, and give all that are known."""
    known = {result.name: result for result in _written()}
    known |= {result.name: result for result in results}
    rows = [known[name] for name in sorted(known)]
    RESULTS.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return rows


def _written() -> list[Result]:
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    return [Result(**row) for row in rows]


def show(results: Iterable[Result]) -> None:
    """The table, on stdout."""
    table = Table("name", "ours", "theirs", "ratio", "unit", "against", title="shadowlab bench")
    for each in results:
        numbers = (_shown(number) for number in (each.ours, each.theirs, each.ratio))
        table.add_row(each.name, *numbers, each.unit, each.against)
    Console().print(table)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def main(wanted: list[str]) -> int:
    """Run the measurements that are named, by default all."""
    known = measurements()
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=3) or known
            raise ScenarioError(f"there is no measurement {name!r}", f"known: {', '.join(near)}")
    done, failed = [], False
    for name in wanted or known:
        print(f"measuring {name}", file=sys.stderr)
        try:
            done.append(importlib.import_module(f"bench.rows.{name}").measure())
        except LabError as error:
            failed = True
            print_error(error)
    show(keep(done))
    return GROUND_FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
