"""A command and a lab that stands speak to each other."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.program.errors import GROUND_FAILED, GroundError, LabError, ScenarioError
from lab.standing.control import (
    CONTROL,
    STANDS_BY,
    Call,
    Control,
    ask,
    control_folders,
    is_controlled,
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state" / "calm-7"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def control(state: Path) -> Iterator[Control]:
    with Control(state) as control:
        yield control


def answering(control: Control, answer: Callable[[Call], None]) -> threading.Thread:
    """A lab that answers one call."""

    def serve() -> None:
        call = control.next_call(20)
        assert call is not None
        answer(call)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_a_request_gets_its_answer_and_what_is_said_before(control: Control, state: Path) -> None:
    def answer(call: Call) -> None:
        call.say("wait")
        call.say("a little")
        call.answer(got=call.request)

    said: list[str] = []
    thread = answering(control, answer)
    assert ask(state, {"op": "do", "entry": "kill: a"}, said.append) == {
        "got": {"op": "do", "entry": "kill: a"}
    }
    thread.join()
    assert said == ["wait", "a little"]


def test_a_refusal_is_the_callers_error(control: Control, state: Path) -> None:
    thread = answering(control, lambda call: call.refuse(ScenarioError("no server z", "try a")))
    with pytest.raises(LabError) as refused:
        ask(state, {"op": "do"})
    thread.join()
    error = refused.value
    assert (error.exit_code, error.cause, error.hint) == (4, "no server z", "try a")


def test_a_lab_that_ends_before_it_answers_is_said(control: Control, state: Path) -> None:
    thread = answering(control, Call.close)
    with pytest.raises(GroundError, match="calm-7 gives no answer") as refused:
        ask(state, {"op": "status"})
    thread.join()
    assert refused.value.exit_code == GROUND_FAILED


def test_who_hangs_up_or_says_nothing_sensible_is_in_nobodys_way(
    control: Control, state: Path
) -> None:
    where = json.loads((state / CONTROL).read_text())["socket"]
    for words in (b"", b"no json\n", b'{"op": "status"}\n'):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(where)
            connection.sendall(words)
    call = control.next_call(20)
    assert call is not None
    call.say("nobody hears it")
    call.answer(ok=True)
    thread = answering(control, lambda call: call.answer(n=1))
    assert ask(state, {"op": "status"}) == {"n": 1}
    thread.join()


def test_only_its_owner_is_heard_and_afterwards_nobody(state: Path) -> None:
    with Control(state):
        where = Path(json.loads((state / CONTROL).read_text())["socket"])
        assert where.parent.stat().st_mode & 0o077 == 0
        assert is_controlled(state)
        assert control_folders(state.parent) == [state]
    assert not where.parent.exists()
    assert not is_controlled(state)
    assert control_folders(state.parent) == []
    assert control_folders(state.parent / "none") == []
    with pytest.raises(GroundError, match="gives no answer"):
        ask(state, {"op": "status"})


def test_who_was_killed_stands_by_no_more(control: Control, state: Path) -> None:
    gone = json.loads((state / STANDS_BY).read_text()) | {"start_ticks": 1}
    (state / STANDS_BY).write_text(json.dumps(gone))
    assert not is_controlled(state)
    assert control_folders(state.parent) == []


def test_nobody_is_waited_for_longer(control: Control) -> None:
    began = time.monotonic()
    assert control.next_call(0.01) is None
    assert time.monotonic() >= began
