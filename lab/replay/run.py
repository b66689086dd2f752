"""A simulated run again, from its plan, compared byte for byte with what its folder holds.

A run on the simulator is a function of its plan, so nothing is compared by meaning: a byte that
differs means that the folder was changed, or the code, or that something drew from a source that is
not the seed. host.json, files.json (which lists it), evaluation/ and the
folder's own name are what may differ.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.program.given_file import UnreadableFile, read_given
from lab.program.given_json import BYTES_MAX, read_text
from lab.record.file_list import FILE_LIST, write_file_list
from lab.record.first_files import Identity, manifest_of_folder
from lab.record.folder import json_text
from lab.replay.recorded_plan import PLAN, plan_of
from lab.run.simulated import SIMULATOR, run_name
from nodes.core.config.error import ConfigurationError

MAY_DIFFER = ("host.json", "error.txt", "scenario.yaml", FILE_LIST)
JUDGED = ("verdict.json", "junit.xml", "report.html")
SHOWN = 160
LINE_MAX_BYTES = 16 * 1024 * 1024

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
    plan = plan_of(folder)
    try:
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
    record = _simulated(folder, plan)
    record.write(scratch)
    (scratch / PLAN).write_text(plan.to_json(), encoding="utf-8")
    identity = Identity(run_name(plan), SIMULATOR, None)
    (scratch / "manifest.json").write_text(json_text(manifest_of_folder(plan, identity)), "utf-8")
    names = {*record.files, PLAN, "manifest.json"}
    if judge is not None:
        for name in ("scenario.yaml", "host.json"):
            (scratch / name).write_bytes(_given(folder, name))
        write_file_list(scratch)
        judge(scratch)
        names.update(JUDGED)
    return list(differences(folder, scratch, names | _files_of(folder, judged=judge is not None)))


def _simulated(folder: Path, plan: Plan) -> RecordInMemory:
    try:
        return simulate(plan)
    except ConfigurationError as error:
        raise ScenarioError(f"{folder / PLAN}: {error.message}", error.hint) from error


def _given(folder: Path, name: str) -> bytes:
    try:
        return read_given(folder / name, BYTES_MAX)
    except UnreadableFile as error:
        hint = "name a run folder of the simulator, or replay with --record-only"
        raise ScenarioError(f"{folder}: {name} {error}", hint) from error


def differences(recorded: Path, again: Path, names: Iterable[str]) -> Iterable[Difference]:
    """The first difference of each file, in the order of names."""
    for name in sorted(names):
        found = _first_difference(name, recorded / name, again / name)
        if found is not None:
            yield found


def _files_of(folder: Path, *, judged: bool) -> set[str]:
    """Files that the folder has and that must be the same."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    left_out = set(MAY_DIFFER) | (set() if judged else set(JUDGED))
    return {name for name in found - left_out if not name.startswith("evaluation/")}


def _first_difference(name: str, recorded: Path, again: Path) -> Difference | None:
    """In memory for two lines, whatever their files are."""
    if not (recorded.is_file() and again.is_file()):
        ours, theirs = ("the file is there" if p.is_file() else None for p in (recorded, again))
        return None if ours == theirs else Difference(name, 0, ours, theirs)
    with recorded.open("rb") as one, again.open("rb") as other:
        for number, (mine, new) in enumerate(zip_longest(_pieces(one), _pieces(other)), start=1):
            if mine != new:
                return Difference(name, number, _shown(mine), _shown(new))
    return None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Its lines, each with its end; of one that nobody wrote so long, parts."""
    return iter(lambda: file.readline(LINE_MAX_BYTES), b"")


def _shown(line: bytes | None) -> str | None:
    return None if line is None else line[: 4 * SHOWN].decode("utf-8", "replace")[:SHOWN]
