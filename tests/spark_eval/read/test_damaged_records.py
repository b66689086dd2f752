"""A record that anything happened to after the lab left it never passes: one file of it, of any
kind, is damaged in one of ten ways. SHADOWLAB_DAMAGED says how many records (`make damaged`).

The lab's list of files tells of most; what becomes of the list is among them. As many records have
a list that was written anew, after the damage: then the record has to contradict itself, and
`SELF_EVIDENT` says where it must.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from nodes.core.config.units import MINUTE_MS
from spark_eval.program.exit_codes import CRASHED
from spark_eval.read.folder.files import FolderFiles
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.spread.whole_run import whole_run
from tests.lab.cli.mutated_record import mutated
from tests.lab.hosts.simulator.plans import scenario
from tests.scenarios.recorded import recorded_of, write_folder
from tests.spark_eval.runs.damages import (
    DAMAGES,
    Damage,
    cut_between_lines,
    damage,
    emptied,
    line_lost,
    line_twice,
    of_another_run,
    removed,
)
from tests.spark_eval.runs.file_lists import with_list

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(3600)]

RECORDS = int(os.environ.get("SHADOWLAB_DAMAGED", "12"))
LIST = "files.json"
# kinds of files, by how their names begin, and what none of them can hide
SELF_EVIDENT: dict[str, tuple[Damage, ...]] = {
    "ledger": (cut_between_lines, line_lost, line_twice, emptied, removed, of_another_run),
    "operat": (cut_between_lines, line_lost, line_twice, emptied, removed),
    "manife": (of_another_run,),
    "plan.j": (of_another_run,),
}
# small ones, and one that loses a copy of a mailbox database, with some minutes of its mail alone:
# before and after the kill
SCENARIOS = ("queue-lost-with-two-messages", "one-message-out", "active-manager-dies")
MAIL_OF_SOME_MINUTES = {"at": 12 * MINUTE_MS, "for_ms": 6 * MINUTE_MS}


@dataclass(frozen=True, slots=True)
class Damaged:
    folder: Path
    name: str
    how: Damage
    seed: int

    @property
    def words(self) -> str:
        return f"{self.folder.name}: {self.name}, {self.how.__name__}, seed {self.seed}"


def test_no_damaged_record_passes(tmp_path: Path) -> None:
    sound = [_sound(tmp_path, name, seed) for name in SCENARIOS for seed in (7, 8)]
    assert all(map(_passes, sound))
    passed, judged = list[str](), 0
    for anew in (False, True):
        for each in _damaged(sound, tmp_path / "damaged", listed_anew=anew):
            if _passes(each.folder):
                passed.append(each.words)
            judged += 1
            shutil.rmtree(each.folder)
    assert (judged, passed) == (2 * RECORDS, [])


def test_whatever_a_plan_says_there_is_a_verdict(tmp_path: Path) -> None:
    """Names, types and values of plan.json, manifest.json and host.json that no lab wrote; with the
    list from before none passes, and with one from after each is judged.
    """
    sound = _sound(tmp_path, SCENARIOS[0], 7)
    for number in range(RECORDS):
        name = ("plan.json", "plan.json", "manifest.json", "host.json")[number % 4]
        folder = tmp_path / "mutated" / str(number)
        _copy(sound, folder)
        text = (folder / name).read_text()
        (folder / name).write_text(mutated(text, number))
        same = json.loads((folder / name).read_text()) == json.loads(text)
        if number % 2 and not same:
            with_list(folder)
        passes = _passes(folder)
        assert number % 2 or not passes, f"record {number}"


def _sound(root: Path, name: str, seed: int) -> Path:
    return with_list(write_folder(root / f"{name}-{seed}", recorded_of(_plan(name, seed))))


def _plan(name: str, seed: int) -> Plan:
    checked = scenario(name)
    streams = [
        stream.model_copy(update=MAIL_OF_SOME_MINUTES) if stream.for_ms > 6 * MINUTE_MS else stream
        for stream in checked.scenario.workload
    ]
    chosen = checked.scenario.model_copy(update={"workload": streams})
    return resolve(chosen, checked.topology, seed)


def _damaged(sound: list[Path], root: Path, *, listed_anew: bool) -> Iterator[Damaged]:
    """Ways take turns, and so do records; which file is drawn."""
    made = 0
    for number in count():
        origin, how = sound[number % len(sound)], DAMAGES[number // len(sound) % len(DAMAGES)]
        name = _drawn_file(origin, random.Random(number))
        if listed_anew and how not in SELF_EVIDENT.get(_kind(name), ()):
            continue
        folder = root / f"{'listed-anew' if listed_anew else 'damaged'}-{number}"
        _copy(origin, folder)
        before = _listed(folder)
        is_other = damage(folder, sound[(number + 2) % len(sound)], name, how, number)
        if is_other and (name != LIST or _listed(folder) != before):
            made += 1
            yield Damaged(_with_new_list(folder) if listed_anew else folder, name, how, number)
        else:
            shutil.rmtree(folder)
        if made == RECORDS:
            return


def _with_new_list(folder: Path) -> Path:
    """With no manifest, nothing promises one."""
    return with_list(folder) if (folder / "manifest.json").is_file() else folder


def _copy(origin: Path, folder: Path) -> None:
    """With a name of its own, which the list knows."""
    shutil.copytree(origin, folder, ignore=shutil.ignore_patterns("evaluation", "*.html", "*.xml"))
    (folder / "verdict.json").unlink(missing_ok=True)
    (folder / LIST).unlink()
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"run": folder.name}))
    with_list(folder)


def _drawn_file(origin: Path, chance: random.Random) -> str:
    """Each kind of file as often as any other."""
    run = open_run_folder(origin)
    names = [path.relative_to(origin).as_posix() for path in run.evidence()]
    names += ["plan.json", "manifest.json", "host.json", LIST]
    kind = chance.choice(sorted(set(map(_kind, names))))
    return chance.choice([name for name in names if _kind(name) == kind])


def _kind(name: str) -> str:
    return Path(name).name[:6]


def _listed(folder: Path) -> dict[str, Any] | None:
    """What the list of files says, however it is written."""
    try:
        said = json.loads((folder / LIST).read_bytes())
        return {each["file"]: each for each in said["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _passes(folder: Path) -> bool:
    """One that cannot be opened is not judged."""
    try:
        open_run_folder(folder)
    except RunFolderError:
        return False
    verdict = whole_run(FolderFiles(folder), ARROW_SCHEMAS).judgement.verdict
    assert verdict.exit_code != CRASHED, f"{folder.name}: {verdict.reasons}"
    return verdict.verdict == "pass"
