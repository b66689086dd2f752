"""A sweep's folder: what was asked, and which batches are judged.

sweep.json                        what was asked (the lab writes it): `settings` is what may be
                                  drawn, `kinds` names the faults that may be met
results/batch=00000.jsonl         one JSON object a run, whole or not there at all
verdict.json, report.html         of all that is judged
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_eval.read.folder.given_json import read_json
from spark_eval.read.folder.run_folder import RunFolderError, refuse_links
from spark_eval.sweep.settings import DrawnSetting, settings_of

BATCH = re.compile(r"^batch=(\d{5,})$")
NUMBERS = ("first_seed", "seeds")


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """`path` is absolute."""

    path: Path
    scenario: str
    first_seed: int
    seeds: int
    settings: tuple[DrawnSetting, ...] = ()
    kinds: tuple[str, ...] = ()

    def judged_batches(self) -> list[str]:
        """Their names, in order."""
        return _in_order(path.stem for path in self.path.glob("results/batch=*.jsonl"))

    def read_result(self, batch: str) -> list[dict[str, Any]]:
        path = self.path / "results" / f"{batch}.jsonl"
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def open_sweep(path: Path) -> SweepFolder:
    """Raises `RunFolderError` where there is no sweep, sweep.json cannot be read, or what is
    written there would be written elsewhere.
    """
    folder = path.resolve()
    asked_in = folder / "sweep.json"
    if not asked_in.is_file():
        raise RunFolderError(
            f"sweep folder {path}: no sweep.json", "`shadowlab sweep SCENARIO --seeds N` makes one"
        )
    refuse_links(folder, "*")
    try:
        asked = read_json(asked_in)
        numbers = {name: int(asked[name]) for name in NUMBERS}
        scenario = str(asked["scenario"])
        settings = settings_of(asked.get("settings", {}))
        kinds = tuple(map(str, asked.get("kinds", ())))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = f"it says version, scenario and {', '.join(NUMBERS)}"
        cause = f"sweep folder {path}: sweep.json cannot be read: {type(error).__name__}: {error}"
        raise RunFolderError(cause, hint) from error
    return SweepFolder(folder, scenario, settings=settings, kinds=kinds, **numbers)


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(filter(BATCH.match, names), key=lambda name: (len(name), name))
