"""A node held at a breakpoint: where, how often, what goes on, and who lets go."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nodes.core.interface.effects import (
    CloseSession,
    Effect,
    HangUp,
    SendReply,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import (
    ConnectionLost,
    DeliveryRequested,
    DiscardAsked,
    Input,
    LogAnnounced,
    MessageOffered,
    SeedAnnounced,
    SessionLost,
    ShadowRequested,
    TransmissionAnswered,
)
from nodes.core.interface.replies import R250_SHADOW_NEXT, R421_STOPPING, R451_NOT_COMMITTED, Reply
from nodes.core.model.database_copy import ReplicationLog
from nodes.core.model.message import Envelope, Header
from nodes.shell.chaos.breakpoints import Breakpoints, LetGo
from nodes.shell.chaos.control_files import ControlFiles, control_file
from nodes.shell.chaos.places import Breakpoint, Place
from tests.nodes.shell.organisation import Organisation, free_port
from tests.nodes.shell.running import NodeProcess, process
from tests.nodes.shell.sending import Sent, send
from tests.nodes.shell.test_two_nodes import LYON, PARIS, events
from tests.nodes.shell.waiting import until
from tests.nodes.store.samples import count

OK = Reply(250, ("2.0.0 fine",))
ENVELOPE = Envelope("a@outside.example", ("b@shadowlab.example",))
QUEUED = Reply(250, ("2.6.0 queued",))


class Door:
    """Breakpoints between nobody and nobody: what passed, in order, and what holds."""

    def __init__(self, *planned: Breakpoint, spent: tuple[str, ...] = (), now_ms: int = 5) -> None:
        self.passed: list[Input | Effect] = []
        self.holds: list[tuple[tuple[str, ...], LetGo]] = []
        self.now_ms = now_ms
        self.between = Breakpoints(
            planned,
            spent,
            lambda: self.now_ms,
            self.passed.append,
            self.passed.append,
            lambda names, let_go: self.holds.append((names, let_go)),
        )

    @property
    def names(self) -> list[str]:
        return [name for names, _ in self.holds for name in names]


def at(place: Place, nth: int = 1, name: str = "f1", **times: int) -> Breakpoint:
    return Breakpoint(name, place, nth, times.get("from_ms", 0), times.get("until_ms", 10))


def offer(door: Door, session: str = "in-1") -> None:
    header = Header("<m@x>", None, "")
    door.between.give(MessageOffered(session, ENVELOPE, header, 3, "in:1"))


def announce(door: Door, session: str = "in-1") -> None:
    door.between.give(ShadowRequested(session, "par-mbx1", "db", 1, "n"))
    door.between.carry_out(SendReply(session, R250_SHADOW_NEXT))


def shadow(door: Door, session: str = "out-1", body: str = "in:1") -> TransmissionAnswered:
    request = ShadowRequest("par-mbx1", "db", 1, "n")
    door.between.carry_out(Transmit(session, request, ENVELOPE, body))
    return TransmissionAnswered(session, 250, "fine")


def test_the_reply_to_a_primary_message_is_held_and_goes_out_when_let_go() -> None:
    door, reply = Door(at("after-data-before-250")), SendReply("in-1", QUEUED)
    offer(door)
    door.between.carry_out(reply)
    assert (door.names, reply in door.passed) == (["f1"], False)
    door.holds[0][1]()
    assert door.passed[-1] == reply


def test_what_follows_in_the_session_waits_its_turn_and_other_sessions_do_not() -> None:
    door = Door(at("after-data-before-250"))
    first, then = SendReply("in-1", QUEUED), CloseSession("in-1", R421_STOPPING)
    offer(door)
    door.between.carry_out(first)
    door.between.carry_out(then)
    offer(door, "in-2")
    door.between.carry_out(SendReply("in-2", QUEUED))
    assert door.passed[-1] == SendReply("in-2", QUEUED)
    door.holds[0][1]()
    assert door.passed[-2:] == [first, then]


def test_the_core_hears_of_a_client_that_goes_away_meanwhile() -> None:
    door = Door(at("after-data-before-250"))
    offer(door)
    door.between.carry_out(SendReply("in-1", QUEUED))
    door.between.give(ConnectionLost("in-1"))
    assert door.passed[-1] == ConnectionLost("in-1")


def test_a_shadow_message_has_a_place_of_its_own() -> None:
    door = Door(at("after-data-before-250"), at("before-shadow-250", name="f2"))
    announce(door)
    offer(door)
    door.between.carry_out(SendReply("in-1", QUEUED))
    assert door.names == ["f2"]


def test_the_message_after_a_shadow_message_is_a_primary_one_again() -> None:
    door = Door(at("after-data-before-250"))
    announce(door)
    for _ in range(2):
        offer(door)
        door.between.carry_out(SendReply("in-1", QUEUED))
    assert door.names == ["f1"]


@pytest.mark.parametrize(
    "announced",
    [
        DeliveryRequested("in-1", "DB1", "n"),
        LogAnnounced("in-1", 0, ReplicationLog("DB1", 1, 0, 0, 0, "0" * 64)),
        SeedAnnounced("in-1", "DB1", 0),
    ],
)
def test_what_comes_for_a_mailbox_database_is_at_no_place(announced: Input) -> None:
    door = Door(at("after-data-before-250"), at("before-shadow-250", name="f2"))
    door.between.give(announced)
    door.between.carry_out(SendReply("in-1", OK))
    offer(door)
    door.between.carry_out(SendReply("in-1", QUEUED))
    assert door.names == []


def test_a_refusal_is_no_acknowledgement() -> None:
    door = Door(at("after-data-before-250"))
    offer(door)
    door.between.carry_out(SendReply("in-1", R451_NOT_COMMITTED))
    assert door.names == []


def test_the_answer_to_a_discard_query_is_held() -> None:
    door = Door(at("after-xqdiscard-before-reply"))
    door.between.give(DiscardAsked("in-1", "lyo-mbx1", "", 0))
    door.between.carry_out(SendReply("in-1", OK))
    assert door.names == ["f1"]


def test_the_shadow_servers_250_is_held_before_the_core_has_it_with_what_follows_it() -> None:
    door = Door(at("after-shadow-250-before-250"))
    answered, lost = shadow(door), SessionLost("out-1", "reset")
    door.between.give(answered)
    door.between.give(lost)
    assert (door.names, answered in door.passed) == (["f1"], False)
    door.holds[0][1]()
    assert door.passed[-2:] == [answered, lost]


def test_an_answer_that_nobody_waits_for_any_more_never_comes() -> None:
    door = Door(at("after-shadow-250-before-250"))
    answered = shadow(door)
    door.between.give(answered)
    door.between.carry_out(HangUp("out-1"))
    door.holds[0][1]()
    assert answered not in door.passed


def test_a_promoted_message_that_is_shadowed_again_is_at_no_place() -> None:
    door = Door(at("after-shadow-250-before-250"))
    door.between.give(shadow(door, body="db:7"))
    assert door.names == []


@pytest.mark.parametrize(("nth", "held_at"), [(1, 1), (3, 3)])
def test_the_nth_time_counts_over_sessions_and_holds_once(nth: int, held_at: int) -> None:
    door = Door(at("after-data-before-250", nth))
    for number in range(1, 6):
        offer(door, f"in-{number}")
        door.between.carry_out(SendReply(f"in-{number}", QUEUED))
        assert len(door.holds) == (number >= held_at)


@pytest.mark.parametrize("now_ms", [0, 2, 11])
def test_nothing_counts_before_its_time_or_after_it_or_while_lab_time_stands(now_ms: int) -> None:
    door = Door(at("after-data-before-250", from_ms=3 if now_ms else 0), now_ms=now_ms)
    offer(door)
    door.between.carry_out(SendReply("in-1", QUEUED))
    assert door.names == []


def test_a_breakpoint_that_has_held_a_node_before_holds_it_no_more() -> None:
    door = Door(at("after-data-before-250"), spent=("f1",))
    offer(door)
    door.between.carry_out(SendReply("in-1", QUEUED))
    assert door.names == []


def test_a_node_whose_lab_is_gone_goes_on_by_itself_and_says_so(tmp_path: Path) -> None:
    async def hold() -> None:
        gone = asyncio.Event()
        files = ControlFiles(tmp_path, lambda: 7, lambda: 8, _fail, longest_s=0.02)
        files.held(("f1",), gone.set)
        await asyncio.wait_for(gone.wait(), 20)

    asyncio.run(hold())
    assert control_file(tmp_path, "f1", "lapsed").exists()
    told = json.loads(control_file(tmp_path, "f1", "reached").read_text())
    assert told == {"at_ms": 7, "mono_ns": 8}
    assert ControlFiles(tmp_path, lambda: 7, lambda: 8, _fail).spent() == {"f1"}


def _fail(error: BaseException) -> None:
    raise error


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    made = Organisation(tmp_path, speed=60.0)
    made.ports = {PARIS: free_port(), LYON: free_port()}
    made.links = {PARIS: [LYON], LYON: [PARIS]}
    return made


class Sender:
    """One message over a session of its own, in a thread."""

    def __init__(self, port: int, number: int) -> None:
        self._sent: list[Sent] = []
        self._thread = threading.Thread(target=lambda: self._sent.append(send(port, number)))
        self._thread.start()

    @property
    def waits(self) -> bool:
        return self._thread.is_alive()

    def reply(self) -> str | None:
        self._thread.join(30)
        return self._sent[0].reply


@contextmanager
def both(organisation: Organisation, server: str, place: Place) -> Iterator[dict[str, NodeProcess]]:
    """Both servers, lab time running, and a breakpoint on one of them."""
    wanted: dict[str, Any] = {"Name": "f1", "At": place, "Nth": 1, "FromMs": 0, "UntilMs": 10**9}
    with ExitStack() as stack:
        organisation.start_lab_time(time.monotonic_ns() - 1_000_000_000)
        found = {}
        for each in (PARIS, LYON):
            organisation.sections["Breakpoints"] = [wanted] if each == server else []
            found[each] = stack.enter_context(process(organisation, each))
            found[each].port()
        yield found


def reached(organisation: Organisation, server: str) -> None:
    path = control_file(organisation.data(server), "f1", "reached")
    until(lambda: path.exists() or None, f"{server} is held", organisation.folder)


def let_go(organisation: Organisation, server: str) -> None:
    control_file(organisation.data(server), "f1", "go").write_text("")


def rows_in(organisation: Organisation, server: str, table: str) -> int:
    return count(organisation.data(server), table)


def test_a_held_server_keeps_one_sender_waiting_and_serves_the_others(
    organisation: Organisation,
) -> None:
    with both(organisation, PARIS, "after-data-before-250") as nodes:
        port = nodes[PARIS].port()
        first = Sender(port, 1)
        reached(organisation, PARIS)
        assert (Sender(port, 2).reply() or "").startswith("250")
        assert first.waits
        assert "RECEIVE" in events(organisation, PARIS), "it is durable"
        let_go(organisation, PARIS)
        assert (first.reply() or "").startswith("250")


def test_a_primary_held_at_the_shadow_servers_250_has_nothing_of_its_own(
    organisation: Organisation,
) -> None:
    with both(organisation, PARIS, "after-shadow-250-before-250") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, PARIS)
        assert events(organisation, LYON) == ["HARECEIVE"]
        assert events(organisation, PARIS) == []
        let_go(organisation, PARIS)
        assert (first.reply() or "").startswith("250")


def test_a_shadow_server_is_held_before_its_250(organisation: Organisation) -> None:
    with both(organisation, LYON, "before-shadow-250") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, LYON)
        assert events(organisation, PARIS) == []
        let_go(organisation, LYON)
        assert (first.reply() or "").startswith("250")


def test_a_primary_killed_before_its_commit_has_nothing_of_the_message(
    organisation: Organisation,
) -> None:
    with both(organisation, PARIS, "after-data-before-commit") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, PARIS)
        assert events(organisation, PARIS) == ["HAREDIRECT"]
        nodes[PARIS].kill()
        assert first.reply() is None
        assert rows_in(organisation, PARIS, "messages") == 0
        assert rows_in(organisation, LYON, "shadows") == 1


def test_a_shadow_server_killed_before_its_commit_has_nothing_and_was_not_believed(
    organisation: Organisation,
) -> None:
    with both(organisation, LYON, "before-shadow-commit") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, LYON)
        assert (first.waits, events(organisation, LYON)) == (True, [])
        nodes[LYON].kill()
        assert (first.reply() or "").startswith("250")
        assert rows_in(organisation, LYON, "shadows") == 0
        assert "HAREDIRECT" not in events(organisation, PARIS)


def test_a_node_killed_while_it_is_held_returns_and_is_held_no_more(
    organisation: Organisation,
) -> None:
    with both(organisation, PARIS, "after-data-before-250") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, PARIS)
        nodes[PARIS].kill()
        assert first.reply() is None
        wanted = {"Name": "f1", "At": "after-data-before-250", "Nth": 1}
        organisation.sections["Breakpoints"] = [{**wanted, "FromMs": 0, "UntilMs": 10**9}]
        with process(organisation, PARIS) as again:
            assert (send(again.port(), 2).reply or "").startswith("250")


def test_a_node_that_is_told_to_stop_while_it_is_held_answers_and_ends(
    organisation: Organisation,
) -> None:
    with both(organisation, PARIS, "after-data-before-250") as nodes:
        first = Sender(nodes[PARIS].port(), 1)
        reached(organisation, PARIS)
        assert nodes[PARIS].stop() == 0
        assert (first.reply() or "").startswith("250")


def test_without_a_plan_that_asks_there_is_no_folder_of_control_files(
    organisation: Organisation,
) -> None:
    with process(organisation, PARIS) as node:
        with socket.create_connection(("127.0.0.1", node.port()), timeout=20):
            pass
        node.stop()
    assert not (organisation.data(PARIS) / "breakpoints").exists()
