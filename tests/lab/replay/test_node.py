"""A recorded node goes through its core again: the same rows, or the place where they part."""

import inspect
import re
import sys
from bdb import BdbQuit
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.program.errors import LabError, ScenarioError
from lab.replay.node import Divergence, replay_node
from lab.replay.node_record import Log
from nodes.core.interface import inputs as on
from tests.lab.planning.test_resolve import plan_of
from tests.lab.replay.recorded_node import (
    CONNECTIVITY,
    MINUTE,
    SERVER,
    TRACKING,
    USER,
    RecordedNode,
)

OTHER = "db1-user02@shadowlab.example"


@pytest.fixture
def node(tmp_path: Path) -> RecordedNode:
    """Two lives of a node: one was killed, the other stopped in order."""
    node = RecordedNode(tmp_path, plan_of())
    node.start()
    node.take("m1")
    node.wait(MINUTE)
    node.take("m2", USER, OTHER)
    node.now_ms += 10 * MINUTE
    node.start(starts=2)
    node.take("m3")
    node.stop()
    return node


def change(path: Path, edit: Callable[[list[str]], None]) -> None:
    lines = path.read_text("utf-8").split("\n")
    edit(lines)
    path.write_text("\n".join(lines), "utf-8")


def exchange(path: Path, line: int, old: str, new: str) -> None:
    """Exchange one word of a line, numbered from 1."""

    def edit(lines: list[str]) -> None:
        assert old in lines[line - 1], lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new)

    change(path, edit)


def parted(folder: Path) -> Divergence:
    found = replay_node(folder, SERVER).divergence
    assert found is not None
    return found


def line_of(node: RecordedNode, kind: type[on.Input], number: int = 0) -> int:
    return [at for at, each in enumerate(node.heard, start=1) if isinstance(each, kind)][number]


def rows(path: Path) -> int:
    return sum(bool(line) and not line.startswith("#") for line in path.read_text().splitlines())


def test_every_row_of_every_life_is_logged_again(node: RecordedNode, tmp_path: Path) -> None:
    replay = replay_node(tmp_path, SERVER)
    assert replay.divergence is None
    assert (replay.lives, replay.inputs) == (2, len(node.heard))
    of_the_core = rows(node.logs / "lifecycle.jsonl") - len(["configured", "started"]) * 2 - 1
    logged = rows(node.logs / TRACKING) + rows(node.logs / CONNECTIVITY) + of_the_core
    assert replay.rows == logged >= 15


def test_what_is_the_clocks_may_differ(node: RecordedNode, tmp_path: Path) -> None:
    for name in (TRACKING, CONNECTIVITY):
        text = (node.logs / name).read_text()
        later = re.sub(r"(?m)^2026-01-05T08", "2026-01-05T09", text)
        (node.logs / name).write_text(re.sub(r"(?m),([0-9a-z]{8}-\S+),15", ",some-id,15", later))
    assert replay_node(tmp_path, SERVER).divergence is None


@pytest.mark.parametrize("after", range(4))
def test_a_kill_within_the_last_input_leaves_rows_out(tmp_path: Path, after: int) -> None:
    node = killed(tmp_path, after)
    node.start(starts=2)
    replay = replay_node(tmp_path, SERVER)
    assert (replay.lives, replay.divergence) == (2, None)


@pytest.mark.parametrize("left", [3, 30, 60])
def test_the_last_row_may_be_torn(tmp_path: Path, left: int) -> None:
    node = killed(tmp_path, after=4)
    path = node.logs / CONNECTIVITY
    whole, last = path.read_text().removesuffix("\n").rsplit("\n", 1)
    assert len(last) > left
    path.write_text(f"{whole}\n{last[:left]}")
    assert replay_node(tmp_path, SERVER).divergence is None


def test_a_torn_row_before_another_is_damage(tmp_path: Path) -> None:
    node = killed(tmp_path, after=4)
    line = len((node.logs / CONNECTIVITY).read_text().splitlines()) - 1
    change(node.logs / CONNECTIVITY, lambda lines: lines.__setitem__(line - 1, "2026-01-05T"))
    found = parted(tmp_path)
    assert found.found is not None
    assert (found.found.values, found.found.place) == (None, f"{CONNECTIVITY}:{line}")


def test_a_torn_last_input_was_never_heard(node: RecordedNode, tmp_path: Path) -> None:
    begin = line_of(node, on.DatabaseOpened, 1)
    change(node.logs / "inputs.jsonl", lambda lines: lines.insert(begin - 1, '{"now_ms":17676'))
    replay = replay_node(tmp_path, SERVER)
    assert (replay.inputs, replay.divergence) == (len(node.heard), None)


def test_a_crash_of_the_core_comes_again(tmp_path: Path) -> None:
    node = RecordedNode(tmp_path, plan_of())
    node.start()
    node.take("m1")
    node.crash()
    replay = replay_node(tmp_path, SERVER)
    assert replay.divergence is None
    assert replay.crashes == [f"life 1, line {len(node.heard)}: the core fails with KeyError(999)"]


def test_an_input_that_was_changed_is_named_with_both_rows(
    node: RecordedNode, tmp_path: Path
) -> None:
    line = line_of(node, on.MessageOffered, 1)
    exchange(node.logs / "inputs.jsonl", line, f'["{USER}","{OTHER}"]', f'["{USER}"]')
    found = parted(tmp_path)
    assert (found.life, found.log) == (1, Log.tracking)
    assert found.heard.line == line_of(node, on.TransmissionAnswered, 2)
    assert found.expected is not None
    assert found.found is not None
    assert found.found.values is not None
    assert found.expected["recipient-address"] == USER
    assert found.found.values["recipient-address"] == f"{USER};{OTHER}"


@pytest.mark.parametrize("name", [TRACKING, CONNECTIVITY, "lifecycle.jsonl"])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_row_too_few_or_too_many_is_found(
    node: RecordedNode, tmp_path: Path, name: str, by: int
) -> None:
    at = {TRACKING: 7, CONNECTIVITY: 8, "lifecycle.jsonl": 4}[name]
    change(node.logs / name, lambda lines: lines.__setitem__(slice(at, at), lines[at : at + by]))
    if by < 0:
        change(node.logs / name, lambda lines: lines.__delitem__(at))
    assert parted(tmp_path).log is not None


def test_a_life_that_was_stopped_leaves_nothing_out(node: RecordedNode, tmp_path: Path) -> None:
    change(node.logs / CONNECTIVITY, lambda lines: lines.__delitem__(-2))
    found = parted(tmp_path)
    assert (found.heard.happened, found.found) == (on.StopRequested(), None)


def test_a_kill_leaves_out_nothing_before_the_last_input(tmp_path: Path) -> None:
    node = killed(tmp_path, after=0)
    change(node.logs / CONNECTIVITY, lambda lines: lines.__delitem__(-2))
    found = parted(tmp_path)
    assert found.heard.line == line_of(node, on.SessionOpened, 1)


def test_a_core_that_fails_where_the_node_went_on_parts(node: RecordedNode, tmp_path: Path) -> None:
    line = line_of(node, on.Committed)
    exchange(node.logs / "inputs.jsonl", line, '"commit":7', '"commit":70')
    found = parted(tmp_path)
    assert (found.heard.line, found.log) == (line, None)
    assert found.reason == "the core fails with KeyError(70), and the node went on"


def test_a_core_that_fails_where_the_node_was_killed_parts(tmp_path: Path) -> None:
    node = RecordedNode(tmp_path, plan_of())
    node.start()
    node.crash()
    change(node.logs / "lifecycle.jsonl", lambda lines: lines.__delitem__(-2))
    assert parted(tmp_path).heard.happened == on.Committed(999)


@pytest.mark.parametrize(("tracking", "connectivity"), [(6, 14), (11, 6)])
def test_the_first_input_at_which_they_part_is_told(
    node: RecordedNode, tmp_path: Path, tracking: int, connectivity: int
) -> None:
    exchange(node.logs / TRACKING, tracking, "alice", "bob")
    exchange(node.logs / CONNECTIVITY, connectivity, "SMTP", "X")
    first = Log.tracking if tracking < connectivity else Log.connectivity
    assert parted(tmp_path).log is first


def test_the_addresses_of_a_peer_are_one(node: RecordedNode, tmp_path: Path) -> None:
    change(node.logs / TRACKING, lambda ls: ls.__setitem__(10, ls[10].replace("10.0.0.3", "10.9")))
    assert parted(tmp_path).found is not None


def test_until_a_line_nothing_later_is_looked_at(node: RecordedNode, tmp_path: Path) -> None:
    line = line_of(node, on.MessageOffered, 1)
    exchange(node.logs / "inputs.jsonl", line, f'["{USER}","{OTHER}"]', f'["{USER}"]')
    replay = replay_node(tmp_path, SERVER, until=line)
    assert (replay.inputs, replay.divergence) == (line, None)
    parts = line_of(node, on.TransmissionAnswered, 2)
    assert replay_node(tmp_path, SERVER, until=parts).divergence is not None


def test_a_debugger_is_called_once_before_the_last_input(
    node: RecordedNode, tmp_path: Path
) -> None:
    called: list[None] = []
    replay_node(tmp_path, SERVER, 5, lambda: called.append(None))
    assert called == [None]


@pytest.mark.parametrize("until", [0, 1000])
def test_a_line_that_is_not_there_is_refused(
    node: RecordedNode, tmp_path: Path, until: int
) -> None:
    with pytest.raises(ScenarioError, match=f"--until {until}: par-mbx1 heard"):
        replay_node(tmp_path, SERVER, until)


@pytest.mark.parametrize("server", ["ext1", "par-mbx9"])
def test_only_mailbox_servers_have_a_core(node: RecordedNode, tmp_path: Path, server: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        replay_node(tmp_path, server)
    assert refused.value.hint == "known are par-mbx1, par-mbx2, lyo-mbx1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('{"now_ms"', '{"now_', r":3: is damaged"),
        ('"RecipientOffered"', '"RecipientBegged"', r":3: no input that this version knows"),
        ('"address"', '"adress"', r":3: no input that this version knows: KeyError\('address'\)"),
        ('"mono_ns"', '"mono"', r":3: no input that this version knows: KeyError\('mono_ns'\)"),
    ],
)
def test_an_input_that_cannot_be_read_is_named(
    node: RecordedNode, tmp_path: Path, old: str, new: str, said: str
) -> None:
    exchange(node.logs / "inputs.jsonl", 3, old, new)
    with pytest.raises(ScenarioError, match=said):
        replay_node(tmp_path, SERVER)


def test_a_node_without_inputs_is_refused(node: RecordedNode, tmp_path: Path) -> None:
    (node.logs / "inputs.jsonl").unlink()
    with pytest.raises(LabError, match="no such file"):
        replay_node(tmp_path, SERVER)


def test_the_command_tells_what_agrees(
    node: RecordedNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(tmp_path), "--node", SERVER]) == 0
    counted, agreed = capsys.readouterr().out.splitlines()
    assert counted == f"par-mbx1: 2 lives, {len(node.heard)} inputs, 27 rows replayed"
    assert agreed == "the replay logs what the node logged"


def test_the_command_tells_where_they_part_and_how_to_look(
    node: RecordedNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(node.logs / TRACKING, lambda lines: lines.__setitem__(6, lines[6].replace("1000", "7")))
    assert main(["replay", str(tmp_path), "--node", SERVER]) == 1
    line = line_of(node, on.Committed)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == [
        f"replay and node part in life 1, inputs.jsonl:{line}, 2026-01-05T08:00:00.000Z",
        '  input:  {"input":"Committed","commit":7}',
        "  differs: total-bytes",
    ]
    assert "total-bytes=1000" in lines[4]
    assert "total-bytes=7" in lines[5]
    assert lines[5].endswith(f"({TRACKING}:7)")
    hint = f"shadowlab replay {tmp_path} --node par-mbx1 --until {line} --debug"
    assert lines[6] == f"hint: {hint} stops before that input"


def test_debugging_stops_where_the_input_is_at_hand(
    node: RecordedNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def look() -> None:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        seen.append(frame.f_back.f_locals["happened"])

    monkeypatch.setattr(sys, "breakpointhook", look)
    words = ["replay", str(tmp_path), "--node", SERVER, "--until", "4", "--debug"]
    assert main(words) == 0
    assert seen == [node.heard[3]]


def test_who_quits_the_debugger_is_told_of_no_difference(
    node: RecordedNode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def quit_it() -> None:
        raise BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", quit_it)
    words = ["replay", str(tmp_path), "--node", SERVER, "--until", "4", "--debug"]
    assert main(words) == 130
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [[], ["--node", SERVER, "--debug"], ["--node", "par-mbx9"]])
def test_a_wrong_call_is_4(node: RecordedNode, tmp_path: Path, words: list[str]) -> None:
    assert main(["replay", str(tmp_path), *words]) == 4


def killed(folder: Path, after: int) -> RecordedNode:
    """A node that was killed after so many of the four effects of its last input."""
    node = RecordedNode(folder, plan_of())
    node.start()
    node.take("m1")
    node.now_ms += MINUTE
    assert node.kill_within(on.DeadlineReached(), after) == 4
    return node
