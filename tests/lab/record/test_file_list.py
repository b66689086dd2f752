"""When a record is whole, every file of it is listed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from lab.record.file_list import FILE_LIST, write_file_list
from lab.run.outcome import RunOptions
from lab.run.simulated import run_simulated
from tests.lab.hosts.simulator.plans import plan
from tests.lab.hosts.simulator.test_replayed_folder import Unjudged


def listed(folder: Path) -> dict[str, tuple[int, str]]:
    entries = json.loads((folder / FILE_LIST).read_text())["files"]
    return {each["file"]: (each["bytes"], each["sha256"]) for each in entries}


def test_each_file_has_its_size_and_digest(tmp_path: Path) -> None:
    (tmp_path / "logs" / "a").mkdir(parents=True)
    (tmp_path / "evaluation").mkdir()
    for name, text in {"plan.json": "{}", "logs/a/x.LOG": "", "evaluation/stderr.log": "x"}.items():
        (tmp_path / name).write_text(text)
    write_file_list(tmp_path)
    write_file_list(tmp_path)  # it does not list itself
    assert listed(tmp_path) == {
        "plan.json": (2, hashlib.sha256(b"{}").hexdigest()),
        "logs/a/x.LOG": (0, hashlib.sha256(b"").hexdigest()),
    }


def test_a_simulated_run_is_listed_before_it_is_judged(tmp_path: Path) -> None:
    there: list[bool] = []

    class Looks(Unjudged):
        def judge(self) -> int:
            there.append((self.folder / FILE_LIST).is_file())
            return 0

    folder = run_simulated(
        plan("calm", 1), RunOptions(runs=tmp_path), Looks, lambda line: None
    ).folder
    assert there == [True]
    assert json.loads((folder / "manifest.json").read_text())["file_list"] == FILE_LIST
    assert {"plan.json", "manifest.json", "host.json", "ledger.jsonl"} <= listed(folder).keys()
