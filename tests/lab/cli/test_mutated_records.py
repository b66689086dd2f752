"""Whatever a record says: commands that read it answer with a verdict or with 4 and a line, cost
little, and leave nothing outside.

`SHADOWLAB_FUZZ` is the number of records (`make fuzz`: 10,000).
"""

import os
import shutil
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from tests.lab.cli.mutated_record import mutated, mutated_line
from tests.lab.cli.short_run import short_run
from tests.lab.validation.test_fuzz import bounded

COUNT = int(os.environ.get("SHADOWLAB_FUZZ", "100"))
BLOCK = 20
SERVER = "par-mbx1"
NODE = ["replay", "sound", "--node", SERVER]
AGAIN = ["replay", "sound", "--record-only"]
LISTED = (["list", "runs"], ["list", "runs", "--json"], ["prune", "--dry-run"], ["shrink", "sound"])
OF_LINES = (NODE,)
# the plan as often as all else together
FILES = {
    "plan.json": (mutated, (AGAIN, NODE)),
    "manifest.json": (mutated, (AGAIN, *LISTED)),
    f"logs/{SERVER}/inputs.jsonl": (mutated_line, OF_LINES),
    f"logs/{SERVER}/lifecycle.jsonl": (mutated_line, OF_LINES),
    "verdict.json": (mutated, LISTED),
    "host.json": (mutated, LISTED),
}
VERDICT = '{"verdict": "fail", "claims": [{"name": "no_loss", "status": "holds"}]}'
HOST = '{"exit": 0, "cause": "", "server_exit_codes": {"par-mbx1": 0}}'
TURNS = (*FILES, *["plan.json"] * 4)

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound")
    folder = short_run(root)
    (folder / "verdict.json").write_text(VERDICT)
    (folder / "host.json").write_text(HOST)
    return root


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_a_mutated_record_is_answered(
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    first: int,
) -> None:
    root = tmp_path / "here"
    shutil.copytree(sound, root)
    monkeypatch.chdir(root)
    [run] = (root / "runs").glob("*/*-7")
    for number in range(first, min(first + BLOCK, COUNT)):
        name = TURNS[number % len(TURNS)]
        mutate, commands = FILES[name]
        before = (run / name).read_text()
        (run / name).write_text(mutate(before, number))
        there = everything(tmp_path)
        for words in commands:
            answered(words, number, capsys)
        (run / name).write_text(before)
        assert everything(tmp_path) == there


def answered(words: list[str], number: int, capsys: pytest.CaptureFixture[str]) -> None:
    what = f"{' '.join(words)} of record {number}"
    with bounded(number, what, cpu_seconds=20):
        code = main(words)
    said = capsys.readouterr()
    assert code in (0, 1, 4), f"{what}: {code}: {said.err}"
    assert all(line.isprintable() for line in (said.out + said.err).split("\n")), what
    assert code != 4 or len(said.err.splitlines()) <= 2, said.err


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))
