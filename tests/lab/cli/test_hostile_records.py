"""Commands on a simulated run whose record somebody has spoilt: one line and 3 or 4, never a hang,
never a verdict.
"""

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli import replay as replaying
from lab.cli.__main__ import main
from tests.lab.cli.short_run import short_run

pytestmark = pytest.mark.slow

SPOILT: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "gone": lambda path: None,
    "nested deep": lambda path: path.write_text('{"a":' * 100_000),
    "a number too long": lambda path: path.write_text("9" * 5000),
    "a number beyond all": lambda path: path.write_text('{"seed": 1e999}'),
    "no UTF-8": lambda path: path.write_bytes(b'"\xff"'),
    "a list": lambda path: path.write_text("[]"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a short run."""
    folder = short_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.timeout(60)
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plan.json", ["replay", "--record-only"]),
        ("plan.json", ["replay", "--node", "par-mbx1"]),
        ("logs/par-mbx1/inputs.jsonl", ["replay", "--node", "par-mbx1"]),
        ("verdict.json", ["shrink"]),
        ("host.json", ["shrink"]),
    ],
)
def test_a_spoilt_record_is_said_in_a_line(
    run: Path,
    capfd: pytest.CaptureFixture[str],
    name: str,
    words: list[str],
    spoil: Callable[[Path], object],
) -> None:
    (run / "verdict.json").write_text('{"claims": []}')
    (run / name).unlink()
    spoil(run / name)
    assert main([words[0], str(run), *words[1:]]) in (3, 4)
    said = capfd.readouterr().err
    assert "a bug of the lab" not in said
    assert len(said.splitlines()) <= 2


NODE = ["--node", "par-mbx1"]
WINDOW = '"duplicate_detection_window_ms": '
CHANGED = {
    "an input of another type": ("logs/par-mbx1/inputs.jsonl", '"session":"in-1"', '"session":1'),
    "a setting out of range": ("plan.json", WINDOW, WINDOW + "-"),
}


@pytest.mark.parametrize(("name", "old", "new"), CHANGED.values(), ids=CHANGED)
def test_values_that_no_node_wrote_are_said_in_a_line(
    run: Path, capfd: pytest.CaptureFixture[str], name: str, old: str, new: str
) -> None:
    text = (run / name).read_text()
    assert old in text
    (run / name).write_text(text.replace(old, new, 1))
    assert main(["replay", str(run), *NODE]) == 4
    said = capfd.readouterr().err
    assert "a bug of the lab" not in said
    assert len(said.splitlines()) <= 2


@pytest.mark.parametrize("changed", [{"event": []}, {"mono_ns": []}])
def test_a_line_of_a_log_that_no_node_wrote_is_where_the_replay_parts(
    run: Path, capfd: pytest.CaptureFixture[str], changed: dict[str, object]
) -> None:
    log = run / "logs/par-mbx1/lifecycle.jsonl"
    first, *rest = log.read_text().splitlines()
    line = json.dumps(json.loads(first) | changed)
    log.write_text("\n".join([line, first, *rest]) + "\n")
    assert main(["replay", str(run), *NODE]) == 1
    assert "a line that cannot be read" in capfd.readouterr().out


def test_files_that_differ_in_nothing_but_the_ends_of_their_lines_differ(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger = run / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"\n", b"\r\n"))
    assert main(["replay", str(run), "--record-only"]) == 1
    assert "ledger.jsonl:1: " in capfd.readouterr().out


def test_nothing_of_a_record_acts_on_the_terminal_of_a_replay(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    [log] = (run / "logs/par-mbx1").glob("MSGTRK*")
    log.write_text(log.read_text().replace(",SMTP,RECEIVE,", ",SMTP\x1b[31m,RECEIVE,", 1))
    (run / "\x9bname").touch()
    for words in (NODE, ["--record-only"]):
        assert main(["replay", str(run), *words]) == 1
        said = capfd.readouterr().out
        assert said.replace("\n", "").isprintable()
        assert "\\x" in said


def test_a_replay_that_cannot_be_judged_is_no_difference(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "evaluation", lambda *_, **__: 3)
    assert main(["replay", str(run)]) == 3


@pytest.mark.parametrize("columns", ["0", "-5", "x", "", "²", "9" * 11, "9" * 5000])
def test_whatever_columns_says_help_is_shown(
    columns: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["--help"]) == 0
    assert len(capfd.readouterr().out) < 1_000_000


def test_directional_marks_of_a_record_are_escaped_for_programs_too(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (run / "manifest.json").write_text(json.dumps({"run": "a\u202eb", "host": "\u2066x\x9b"}))
    assert main(["list", "runs", "--json"]) == 0
    said = capfd.readouterr().out
    assert said.replace("\n", "").isprintable()
    assert json.loads(said)[0]["run"] == "a\u202eb"


def test_a_server_whose_name_is_a_path_is_replayed_nowhere(
    run: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    name = f"{'../' * 8}{elsewhere.relative_to('/')}"
    plan = (run / "plan.json").read_text()
    (run / "plan.json").write_text(plan.replace('"par-mbx1', f'"{name}'))
    assert main(["replay", str(run), "--record-only"]) == 4
    said = capfd.readouterr().err
    assert "plan.json: Plan.topology.servers[0].name is '../../" in said
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"via": [\n    "par-mbx1"', '"via": [\n    "nobody"', "messages[0].via[0] is 'nobody'"),
        ('"server": "par-mbx1"', '"server": "nobody"', "faults[0].server is 'nobody'"),
        ('"name": "DB1"', '"name": "a/b"', "topology.databases[0].name is 'a/b'"),
        ('"retry_ms": 60000', '"retry_ms": 0', "messages[0].retry_ms is '0'"),
        ('"origin": "2', '"origin": "x', "clock.origin is 'x"),
        ('"ShadowRedundancyEnabled"', '"Shadow"', "settings.TransportConfig.Shadow is"),
    ],
)
def test_what_a_plan_says_wrongly_is_named_with_its_place(
    run: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, place: str
) -> None:
    plan = (run / "plan.json").read_text()
    assert old in plan
    (run / "plan.json").write_text(plan.replace(old, new, 1))
    for words in (["--record-only"], NODE):
        assert main(["replay", str(run), *words]) == 4
        assert f"plan.json: Plan.{place}" in capfd.readouterr().err


def test_a_file_of_any_size_is_compared_in_little_memory(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (run / "ledger.jsonl").open("r+b") as ledger:
        ledger.truncate(3 * 2**30)
    tracemalloc.start()
    try:
        assert main(["replay", str(run), "--record-only"]) == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "ledger.jsonl:" in capfd.readouterr().out
    assert peak < 256 * 2**20
