"""A simulated run again, from its plan, compared byte for byte with what its folder holds.

A run on the simulator is a function of its plan, so nothing is compared by meaning: a byte that
differs means that the folder was changed, or the code, or that something drew from a source that is
not the seed. host.json, files.json (which lists it), evaluation/ and the
folder's own name are what may differ.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.program.given_file import UnreadableFile, read_given
from lab.program.given_json import BYTES_MAX, read_text
from lab.record.file_list import FILE_LIST, write_file_list
from lab.record.first_files import Identity, manifest_of_folder
from lab.record.folder import json_text
from lab.run.simulated import SIMULATOR, run_name

MAY_DIFFER = ("host.json", "error.txt", "scenario.yaml", FILE_LIST)
JUDGED = ("verdict.json", "junit.xml", "report.html")
SHOWN = 160

Judge = Callable[[Path], None]
"""Evaluate a run folder; leaves the files of JUDGED in it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first line in which a file differs; None: there is no such line, or no such file."""

    file: str
    line: int
    recorded: str | None
    again: str | None


def read_simulated(folder: Path) -> Plan:
    """The plan of a simulated run. Raises ScenarioError for any other folder."""
    try:
        plan = Plan.from_json(read_text(folder / "plan.json"))
        recorded = read_text(folder / "manifest.json")
    except ValueError as error:
        raise ScenarioError(f"{folder}: {error}", "name a run folder of the simulator") from error
    if f'"host": "{SIMULATOR}"' not in recorded:
        hint = "a run on containers is replayed server by server: --node NAME"
        raise ScenarioError(f"{folder}: was not simulated", hint)
    return plan


def replay(folder: Path, scratch: Path, judge: Judge | None) -> list[Difference]:
    """Simulate the plan of `folder` again into the empty folder `scratch`, judge it there if asked,
    and compare. Raises ScenarioError, OSError.
    """
    plan = read_simulated(folder)
    record = simulate(plan)
    record.write(scratch)
    (scratch / "plan.json").write_text(plan.to_json(), encoding="utf-8")
    identity = Identity(run_name(plan), SIMULATOR, None)
    (scratch / "manifest.json").write_text(json_text(manifest_of_folder(plan, identity)), "utf-8")
    names = {*record.files, "plan.json", "manifest.json"}
    if judge is not None:
        for name in ("scenario.yaml", "host.json"):
            (scratch / name).write_bytes(_given(folder, name))
        write_file_list(scratch)
        judge(scratch)
        names.update(JUDGED)
    return list(differences(folder, scratch, names | _files_of(folder, judged=judge is not None)))


def _given(folder: Path, name: str) -> bytes:
    try:
        return read_given(folder / name, BYTES_MAX)
    except UnreadableFile as error:
        hint = "name a run folder of the simulator, or replay with --record-only"
        raise ScenarioError(f"{folder}: {name} {error}", hint) from error


def differences(recorded: Path, again: Path, names: Iterable[str]) -> Iterable[Difference]:
    """The first difference of each file, in the order of names."""
    for name in sorted(names):
        ours, theirs = _bytes(recorded / name), _bytes(again / name)
        if ours != theirs:
            yield _first_difference(name, ours, theirs)


def _files_of(folder: Path, *, judged: bool) -> set[str]:
    """Files that the folder has and that must be the same."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    left_out = set(MAY_DIFFER) | (set() if judged else set(JUDGED))
    return {name for name in found - left_out if not name.startswith("evaluation/")}


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _first_difference(name: str, ours: bytes | None, theirs: bytes | None) -> Difference:
    if ours is None or theirs is None:
        recorded, again = (None if each is None else "the file is there" for each in (ours, theirs))
        return Difference(name, 0, recorded, again)
    pairs = zip_longest(ours.splitlines(keepends=True), theirs.splitlines(keepends=True))
    number, (mine, other) = next(
        (number, pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]
    )
    return Difference(name, number, _shown(mine), _shown(other))


def _shown(line: bytes | None) -> str | None:
    return None if line is None else line.decode("utf-8", "replace")[:SHOWN]
