"""A sweep's folder: what was asked, which batches are complete, which are judged already.

sweep.json                        what was asked (the lab writes it): `settings` is what may be
                                  drawn, `kinds` names the faults that may be met
seeds/batch=00000.json            the seeds of a batch that were chosen; without it they follow
                                  each other
record/batch=00000/*.parquet      lines of many runs, complete with its _SUCCESS
results/batch=00000.jsonl         one JSON object a run, whole or not there at all
verdict.json, report.html         of all that is judged
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from spark_eval.read.given_json import read_json
from spark_eval.read.run_folder import RunFolderError, refuse_links
from spark_eval.results.whole_file import write_whole

BATCH = re.compile(r"^batch=(\d{5,})$")
LARGE_BYTES = 4 * 1024 * 1024
"""Of a run's lines as Parquet, where they are a sixteenth of what they are as text."""
NUMBERS = ("first_seed", "seeds", "per_batch")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what may be drawn: from `low` to `high`; one text where it is no number."""

    name: str
    low: int | str
    high: int | str

    def holds(self, value: str) -> bool:
        """`value` as JSON writes it, a text without its quotes."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return value.removeprefix("-").isdigit() and self.low <= int(value) <= self.high
        return value == self.low


@dataclass(frozen=True, slots=True)
class DrawnSetting:
    """A parameter, where a plan has its value (a path as `get_json_object` reads it), its parts."""

    name: str
    path: str
    parts: tuple[Part, ...]

    def part_of(self, value: str | None) -> str | None:
        """The first that holds it."""
        found = (part.name for part in self.parts if value is not None and part.holds(value))
        return next(found, None)


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """`path` is absolute; `origin_ms` is the start of lab time, epoch ms."""

    path: Path
    scenario: str
    first_seed: int
    seeds: int
    per_batch: int
    origin_ms: int
    settings: tuple[DrawnSetting, ...] = ()
    kinds: tuple[str, ...] = ()

    def complete_batches(self) -> list[str]:
        """Names of the batches whose record is whole, in order."""
        return _in_order(path.parent.name for path in self.path.glob("record/batch=*/_SUCCESS"))

    def judged_batches(self) -> list[str]:
        """Names of the batches that have their result, in order; their record may be gone."""
        return _in_order(path.stem for path in self.path.glob("results/batch=*.jsonl"))

    def record(self, batch: str) -> Path:
        """Raises `RunFolderError` where the batch is not complete."""
        folder = self.path / "record" / batch
        if not BATCH.match(batch) or not (folder / "_SUCCESS").is_file():
            raise RunFolderError(
                f"sweep {self.path.name}: {batch!r} is no complete batch",
                "name a folder below record/ that holds _SUCCESS, as batch=00000",
            )
        return folder

    def seeds_of(self, batch: str) -> Sequence[int]:
        """The seeds that the batch was to simulate; none where sweep.json asks for none."""
        chosen = self.path / "seeds" / f"{batch}.json"
        if chosen.is_file():
            return [int(seed) for seed in json.loads(chosen.read_text(encoding="utf-8"))]
        start = self.first_seed + _number(batch) * self.per_batch
        return range(start, min(start + self.per_batch, self.first_seed + self.seeds))

    def has_large_runs(self, batch: str) -> bool:
        """Whether its runs are, by and large, too much for one partition."""
        written = sum(path.stat().st_size for path in self.record(batch).glob("*.parquet"))
        return written > LARGE_BYTES * max(len(self.seeds_of(batch)) or self.per_batch, 1)

    def result(self, batch: str) -> Path:
        return self.path / "results" / f"{batch}.jsonl"

    def is_judged(self, batch: str) -> bool:
        return self.result(batch).is_file()

    def write_result(self, batch: str, runs: Iterable[Mapping[str, Any]]) -> None:
        """All of it or nothing: a batch that has its file is not judged again."""
        write_whole(self.result(batch), "".join(f"{_line(run)}\n" for run in runs))

    def read_result(self, batch: str) -> list[dict[str, Any]]:
        with self.result(batch).open(encoding="utf-8") as lines:
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
    refuse_links(folder, "*", "record/*")
    try:
        asked = read_json(asked_in)
        numbers = {name: int(asked[name]) for name in NUMBERS}
        origin = datetime.fromisoformat(str(asked["origin"]))
        scenario = str(asked["scenario"])
        settings = tuple(_setting(name, each) for name, each in asked.get("settings", {}).items())
        kinds = tuple(map(str, asked.get("kinds", ())))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = f"it says version, scenario, {', '.join(NUMBERS)} and origin"
        cause = f"sweep folder {path}: sweep.json cannot be read: {type(error).__name__}: {error}"
        raise RunFolderError(cause, hint) from error
    return SweepFolder(
        folder,
        scenario,
        origin_ms=round(origin.timestamp() * 1000),
        settings=settings,
        kinds=kinds,
        **numbers,
    )


def _setting(name: str, asked: Mapping[str, Any]) -> DrawnSetting:
    parts = tuple(Part(str(each["name"]), each["low"], each["high"]) for each in asked["parts"])
    return DrawnSetting(name, str(asked["path"]), parts)


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted((name for name in names if BATCH.match(name)), key=_number)


def _number(batch: str) -> int:
    named = BATCH.match(batch)
    assert named is not None
    return int(named[1])


def _line(run: Mapping[str, Any]) -> str:
    return json.dumps(run, ensure_ascii=False, separators=(",", ":"))
