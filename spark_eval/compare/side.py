"""One of the two runs: its folder, its verdict and what its host says of its clock.

Both must come from the same plan, or from plans whose settings alone differ. What a host or a
caller changes in a plan is left out of that: the speed of the clock and who chose the seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spark_eval.read.folder.given_json import read_json
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError, open_run_folder
from spark_eval.story.row import inner, number, whole

Path_: TypeAlias = tuple[str, ...]

OF_THE_HOST: frozenset[Path_] = frozenset([("clock", "speed"), ("seed_from",)])
ABSENT = "nothing"
CLAIM = ("name", "status")
NUMBERS = ("delivery", "promotion", "safety_net")


@dataclass(frozen=True, slots=True)
class Side:
    """`name` distinguishes the two: the host's where they differ, else the folder's."""

    name: str
    folder: RunFolder
    verdict: dict[str, Any]
    plan: dict[str, Any]
    resolution_ms: float

    @property
    def heartbeat_ms(self) -> int:
        config = inner(inner(self.plan, "settings"), "TransportConfig")
        return whole(config, "ShadowHeartbeatFrequency") or 120_000


SETTINGS = "settings."


class Parted(NamedTuple):
    """Two runs, and where the settings of their plans part: place, and the value on either side."""

    sides: tuple[Side, Side]
    settings: list[tuple[str, str, str]]


def open_sides(first: Path, second: Path) -> Parted:
    """Raises RunFolderError where one is no evaluated run, or the plans differ beyond settings."""
    folders = (open_run_folder(first), open_run_folder(second))
    plans = tuple(_object(folder.path / "plan.json") for folder in folders)
    parted = list(differences(plans[0], plans[1]))
    for place, ours, theirs in parted:
        if not place.startswith(SETTINGS):
            where = f"{place}: {ours} in {first}, {theirs} in {second}"
            cause = f"the runs have different plans: {where}"
            hint = "compare runs of one scenario with one seed; their settings alone may differ"
            raise RunFolderError(cause, hint)
    names = [folder.host or "" for folder in folders]
    if names[0] == names[1] or not all(names):
        names = [folder.path.name for folder in folders]
    if names[0] == names[1]:
        names = ["first", "second"]
    a, b = (_side(*each) for each in zip(names, folders, plans, strict=True))
    return Parted((a, b), parted)


def differences(ours: Any, theirs: Any, at: Path_ = ()) -> Iterator[tuple[str, str, str]]:
    """Where two plans part: the place, and the value on either side."""
    if at in OF_THE_HOST or ours == theirs:
        return
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in [*ours, *(name for name in theirs if name not in ours)]:
            yield from _part(ours.get(name, ABSENT), theirs.get(name, ABSENT), (*at, name))
    elif isinstance(ours, list) and isinstance(theirs, list):
        for number in range(max(len(ours), len(theirs))):
            a, b = (v[number] if number < len(v) else ABSENT for v in (ours, theirs))
            yield from _part(a, b, (*at, str(number)))
    else:
        yield ".".join(at), _short(ours), _short(theirs)


_part = differences


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _side(name: str, folder: RunFolder, plan: dict[str, Any]) -> Side:
    if not (folder.path / "verdict.json").is_file() or not folder.evaluation.is_dir():
        cause = f"run folder {folder.path}: it was never evaluated"
        raise RunFolderError(cause, "shadowlab evaluate makes verdict.json and evaluation/")
    verdict = _object(folder.path / "verdict.json")
    for place in _misshapen(verdict):
        cause = f"{folder.path / 'verdict.json'}: {place} is not what an evaluation leaves there"
        raise RunFolderError(cause, "shadowlab evaluate makes it again")
    return Side(
        name=name,
        folder=folder,
        verdict=verdict,
        plan=plan,
        resolution_ms=number(_object(folder.path / "host.json"), "clock_resolution_ms") or 0,
    )


def _misshapen(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Where it has not the shape that is compared."""
    claims = verdict.get("claims", [])
    for at, claim in enumerate(claims if isinstance(claims, list) else [None]):
        if not isinstance(claim, dict) or not all(isinstance(claim.get(n), str) for n in CLAIM):
            yield f"claims.{at}"
    for name in NUMBERS:
        if not isinstance(verdict.get(name) or {}, dict):
            yield name


def _object(path: Path) -> dict[str, Any]:
    """Empty where there is none; `open_run_folder` has refused a plan that is no object."""
    if not path.is_file():
        return {}
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{path} cannot be read: {error}", "collect the run again") from error
    return content if isinstance(content, dict) else {}
