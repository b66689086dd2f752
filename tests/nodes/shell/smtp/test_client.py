"""Outbound sessions say what the core wants said, and whatever goes wrong becomes an input."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from nodes.core.interface.effects import (
    AskDiscard,
    OpenSession,
    RequestResubmit,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import (
    DiscardAnswered,
    DiscardRefused,
    ResubmitAnswered,
    ResubmitRefused,
    SessionFailed,
    SessionLost,
    SessionOpened,
    TransmissionAnswered,
)
from nodes.core.model.message import Envelope
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState, SafetyNetSource
from nodes.shell.config_file import read_node_file
from nodes.shell.smtp.address import Address
from nodes.shell.smtp.client import OutboundSessions, Route
from nodes.shell.smtp.outbound_connection import Connection
from nodes.shell.tls import towards_the_outside
from tests.certificates import Authority
from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.running import running
from tests.nodes.shell.scripted import Door, saying
from tests.nodes.shell.waiting import until_async

HELLO = "S: 220 mx.partner.example ESMTP\nC: EHLO\nS: 250-mx.partner.example\nS: 250 8BITMIME\n"
ENVELOPE = Envelope("a@outside.example", ("b@partner.example", "c@partner.example"))
BODY = "Subject: hello\r\n\r\n.dot\r\n"


@dataclass
class Caller:
    """One node's outbound side, its session `out-1` towards the scripted server."""

    door: Door
    sessions: OutboundSessions
    heard: list[str]

    def open(self) -> None:
        self.sessions.open(OpenSession("out-1", "ext1", "delivery"))

    async def opened(self) -> None:
        self.open()
        await self.door.hears(SessionOpened)

    def transmit(
        self,
        envelope: Envelope = ENVELOPE,
        prologue: ShadowRequest | None = None,
        body: str = BODY,
    ) -> None:
        self.sessions.transmit(Transmit("out-1", prologue, envelope, body))

    async def answer(self) -> TransmissionAnswered:
        return await self.door.hears(TransmissionAnswered)


@asynccontextmanager
async def calling(folder: Path, script: str) -> AsyncIterator[Caller]:
    organisation = Organisation(folder)
    node = read_node_file(organisation.document("par-mbx1")).node
    async with saying(script) as (port, heard):
        route = Route({"ext1": Address("127.0.0.1", port)}, towards_the_outside(), tls_of_nobody())
        door = Door()
        sessions = OutboundSessions(door, node, route)
        yield Caller(door, sessions, heard)
        sessions.close_all()


def tls_of_nobody() -> ssl.SSLContext:
    return towards_the_outside()


@pytest.mark.parametrize(("more", "said"), [("", ""), ("Łódź\r\n", " BODY=8BITMIME")])
def test_a_message_is_said_word_for_word(more: str, said: str, tmp_path: Path) -> None:
    """8-bit octets are announced (RFC 6152 section 3)."""
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 250 ok\nC: RCPT\nS: 250 ok\n"
        "C: DATA\nS: 354 go\nC: .\nS: 250 2.6.0 <m>  [InternalId=1] taken\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit(body=BODY + more)
            answer = await caller.answer()
            assert answer == TransmissionAnswered("out-1", 250, "2.6.0 <m> [InternalId=1] taken")
            assert caller.heard == [
                "EHLO par-mbx1.shadowlab.example",
                f"MAIL FROM:<a@outside.example>{said}",
                "RCPT TO:<b@partner.example>",
                "RCPT TO:<c@partner.example>",
                "DATA",
                f"Subject: hello\r\n\r\n..dot\r\n{more}.\r\n",
            ]

    asyncio.run(say())


def test_8bit_octets_are_no_mistake_where_the_session_is_lost_before_they_are_said(
    tmp_path: Path,
) -> None:
    """While the body waits for its turn, and the connection that said 8BITMIME is gone."""

    async def say() -> None:
        async with calling(tmp_path, HELLO + "CUT\n") as caller:
            waits: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            caller.door.body = lambda handle: waits  # type: ignore[method-assign]
            caller.door.on_input = lambda happened: (
                caller.transmit() if isinstance(happened, SessionOpened) else None
            )
            caller.open()
            await caller.door.hears(SessionOpened)
            await asyncio.sleep(0.2)  # the end of the connection is there
            waits.set_result((BODY + "Łódź\r\n").encode())
            await caller.door.hears(SessionLost)
            assert not [
                each for each in caller.door.heard if isinstance(each, TransmissionAnswered)
            ]

    asyncio.run(say())


def test_8bit_octets_are_not_for_who_does_not_offer_to_take_them(tmp_path: Path) -> None:
    """RFC 6152 section 3: a permanent failure. The session serves for other messages."""
    script = HELLO.replace("250-mx", "250 mx").replace("S: 250 8BITMIME\n", "") + (
        "C: RSET\nS: 250 ok\nC: MAIL\nS: 250 ok\nC: RCPT\nS: 250 ok\nC: RCPT\nS: 250 ok\n"
        "C: DATA\nS: 354 go\nC: .\nS: 250 2.6.0 taken\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit(body=BODY + "Łódź\r\n")
            answer = await caller.answer()
            assert (answer.code, answer.text) == (
                554, "5.6.3 8-bit octets, and the server offers no 8BITMIME"
            )  # fmt: skip
            caller.door.heard.clear()
            caller.transmit()
            assert (await caller.answer()).code == 250
            assert caller.heard[1:3] == ["RSET", "MAIL FROM:<a@outside.example>"]

    asyncio.run(say())


@pytest.mark.parametrize("body", ["Subject: a\nb\r\n", "a\rb\r\n", "a\r\n\n", "a\r\r\n", "a"])
def test_what_data_cannot_carry_as_it_is_does_not_go_out(body: str, tmp_path: Path) -> None:
    """Nothing is mended (TL-10). The session serves for other messages."""
    script = HELLO + ACCEPTED + "C: DATA\nS: 354 go\nC: .\nS: 250 2.6.0 taken\n"

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit(body=body)
            answer = await caller.answer()
            assert (answer.code, answer.text.split()[0]) == (550, "5.6.11")
            caller.door.heard.clear()
            caller.transmit()
            assert (await caller.answer()).code == 250
            assert len(caller.heard) == 6

    asyncio.run(say())


def test_a_long_message_is_said_byte_for_byte(tmp_path: Path) -> None:
    """In pieces; a line that begins with a dot may begin one."""
    script = HELLO + ACCEPTED + "C: DATA\nS: 354 go\nC: .\nS: 250 2.6.0 taken\n"
    body = BODY + ".\r\n..\r\n\r\n \t\r\n" * 20_000

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit(body=body)
            assert (await caller.answer()).code == 250
            lines = body.removesuffix("\r\n").split("\r\n")
            stuffed = ["." + line if line.startswith(".") else line for line in lines]
            assert caller.heard[-1] == "\r\n".join([*stuffed, ".", ""])

    asyncio.run(say())


def test_a_message_refused_before_its_end_is_refused_and_ends_its_session(tmp_path: Path) -> None:
    """A server that reads no further leaves nobody waiting for it."""
    script = HELLO + ACCEPTED + "C: DATA\nS: 354 go\nC: Subject\nS: 452 4.3.1 no room\n"

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit(body=BODY + "x\r\n" * 8_000_000)
            assert (await caller.answer()).code == 452
            await caller.door.hears(SessionLost)
            assert caller.door.failed == []

    asyncio.run(say())


def test_single_recipients_may_be_refused(tmp_path: Path) -> None:
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 550 5.1.1 who?\nC: RCPT\nS: 250 ok\n"
        "C: DATA\nS: 354 go\nC: .\nS: 250 taken\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            answer = await caller.answer()
            assert (answer.code, answer.refused) == (
                250,
                (("b@partner.example", 550, "5.1.1 who?"),),
            )

    asyncio.run(say())


def test_after_a_refusal_the_next_message_begins_with_rset(tmp_path: Path) -> None:
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 550 no\nC: RCPT\nS: 450 later\n"
        "C: RSET\nS: 250 ok\nC: XSHADOWREQUEST\nS: 550 5.7.1 no\nC: RSET\nS: 250 ok\nC: MAIL\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            answer = await caller.answer()
            assert (answer.code, [code for _, code, _ in answer.refused]) == (450, [550, 450])
            caller.door.heard.clear()
            caller.transmit(prologue=ShadowRequest("par-mbx1", "db-a", 7, "net-7"))
            assert (await caller.answer()).code == 550
            caller.transmit()
            await until_async(lambda: len(caller.heard) == 8 or None, "the third message begins")
            assert caller.heard[4:] == [
                "RSET",
                "XSHADOWREQUEST par-mbx1 db-a 7 net-7",
                "RSET",
                "MAIL FROM:<a@outside.example>",
            ]

    asyncio.run(say())


def test_a_refused_body_is_the_answer(tmp_path: Path) -> None:
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 250 ok\nC: RCPT\nS: 250 ok\n"
        "C: DATA\nS: 354 go\nC: .\nS: 451-4.3.0\nS: 451 not now\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            assert await caller.answer() == TransmissionAnswered("out-1", 451, "4.3.0 not now")

    asyncio.run(say())


def test_a_connection_that_breaks_after_the_dot_is_lost_and_not_answered(tmp_path: Path) -> None:
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 250 ok\nC: RCPT\nS: 250 ok\n"
        "C: DATA\nS: 354 go\nC: .\nCUT\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            await caller.door.hears(SessionLost)
            assert not [h for h in caller.door.heard if isinstance(h, TransmissionAnswered)]

    asyncio.run(say())


def test_an_idle_session_that_the_peer_closes_is_lost_at_once(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO + "CUT\n") as caller:
            await caller.opened()
            lost = await caller.door.hears(SessionLost)
            assert lost == SessionLost("out-1", "connection closed by the peer")

    asyncio.run(say())


def test_a_421_is_the_answer_and_then_the_session_is_lost(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO + "C: MAIL\nS: 421 4.3.2 closing\n") as caller:
            await caller.opened()
            caller.transmit()
            await caller.door.hears(SessionLost)
            kinds = [type(h).__name__ for h in caller.door.heard]
            assert kinds == ["SessionOpened", "TransmissionAnswered", "SessionLost"]

    asyncio.run(say())


def test_a_silent_server_is_left_at_once_when_the_core_hangs_up(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, "") as caller:
            caller.open()
            await asyncio.sleep(0)
            caller.sessions.hang_up("out-1")
            await asyncio.wait_for(no_tasks_left(), 5)
            assert caller.door.heard == []

    asyncio.run(say())


def test_hanging_up_in_the_middle_of_a_message_says_nothing_more(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO + "C: MAIL\n") as caller:
            await caller.opened()
            caller.transmit()
            await until_async(lambda: len(caller.heard) == 2 or None, "MAIL was heard")
            caller.sessions.hang_up("out-1")
            await asyncio.wait_for(no_tasks_left(), 5)
            assert [type(h).__name__ for h in caller.door.heard] == ["SessionOpened"]

    asyncio.run(say())


async def no_tasks_left() -> None:
    """Until nobody works on an outbound session any more."""
    while [t for t in asyncio.all_tasks() if "OutboundSession" in repr(t.get_coro())]:
        await asyncio.sleep(0)


def test_an_idle_session_is_quit_politely(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO + "C: QUIT\nS: 221 bye\n") as caller:
            await caller.opened()
            caller.sessions.hang_up("out-1")
            await until_async(lambda: caller.heard[1:] == ["QUIT"] or None, "QUIT was heard")
            await asyncio.wait_for(no_tasks_left(), 5)
            assert [type(h).__name__ for h in caller.door.heard] == ["SessionOpened"]

    asyncio.run(say())


def test_a_server_that_refuses_to_greet_is_a_failed_session(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, "S: 554 no service\n") as caller:
            caller.open()
            assert "no service" in (await caller.door.hears(SessionFailed)).reason

    asyncio.run(say())


def test_a_port_where_nobody_listens_is_a_failed_session(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, "") as caller:
            caller.sessions.route = Route(
                {"ext1": Address("127.0.0.1", 1)}, tls_of_nobody(), tls_of_nobody()
            )
            caller.open()
            assert "Connect" in (await caller.door.hears(SessionFailed)).reason

    asyncio.run(say())


def test_a_peer_without_a_link_is_a_failed_session(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, "") as caller:
            caller.sessions.open(OpenSession("out-1", "lyo-mbx1", "heartbeat"))
            assert caller.door.heard == [SessionFailed("out-1", "there is no link to lyo-mbx1")]

    asyncio.run(say())


ACCEPTED = "C: MAIL\nS: 250 ok\nC: RCPT\nS: 250 ok\nC: RCPT\nS: 250 ok\n"


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param(ACCEPTED + "C: DATA\nS: 250 taken\n", id="a yes to DATA"),
        pytest.param(ACCEPTED + "C: DATA\nS: 354 go\nC: .\nS: 354 go on\n", id="no end"),
        pytest.param("C: MAIL\nS: 354 go\n", id="an answer to something else"),
        pytest.param("C: MAIL\nS: 250 ok\nC: RCPT\nS: 100 wait\n", id="no code of RFC 5321"),
        pytest.param("C: MAIL\nS: 650 ok\n", id="a code beyond all"),
        pytest.param("C: MAIL\nS: -25 ok\n", id="a number below zero"),
        pytest.param(
            ACCEPTED.replace("S: 250 ok", "S: 250 ok\nS: 250 ok", 1) + "C: DATA\nS: 354 go\n",
            id="two answers to MAIL",
        ),
        pytest.param(
            ACCEPTED + "C: DATA\nS: 354 go\nS: 250 taken\n", id="taken before it was there"
        ),
    ],
)
def test_what_is_no_answer_is_a_broken_session_and_never_a_yes(
    replies: str, tmp_path: Path
) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO + replies) as caller:
            await caller.opened()
            caller.transmit()
            lost = await caller.door.hears(SessionLost)
            assert lost.reason.startswith("OutOfStep: ")
            assert [type(h).__name__ for h in caller.door.heard] == ["SessionOpened", "SessionLost"]
            assert caller.door.failed == []

    asyncio.run(say())


def test_any_yes_to_a_recipient_is_one(tmp_path: Path) -> None:
    script = HELLO + (
        "C: MAIL\nS: 250 ok\nC: RCPT\nS: 252 perhaps\nC: RCPT\nS: 251 forwarded\n"
        "C: DATA\nS: 354 go\nC: .\nS: 250 taken\n"
    )

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            assert await caller.answer() == TransmissionAnswered("out-1", 250, "taken")

    asyncio.run(say())


def test_a_message_that_was_taken_counts_though_the_server_goes_on_talking(tmp_path: Path) -> None:
    script = HELLO + ACCEPTED + "C: DATA\nS: 354 go\nC: .\nS: 250 taken\nS: 250 again\n"

    async def say() -> None:
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            lost = await caller.door.hears(SessionLost)
            assert lost.reason == "the peer has said more than it was asked for"
            kinds = [type(h).__name__ for h in caller.door.heard]
            assert kinds == ["SessionOpened", "TransmissionAnswered", "SessionLost"]

    asyncio.run(say())


def asked(tmp_path: Path, reply: str) -> DiscardAnswered | DiscardRefused:
    """What becomes of XQDISCARD when the server says `reply`."""

    async def say() -> DiscardAnswered | DiscardRefused:
        async with calling(tmp_path, HELLO + f"C: XQDISCARD\n{reply}") as caller:
            await caller.opened()
            caller.sessions.ask_discard(AskDiscard("out-1", "", 3))
            await until_async(lambda: len(caller.door.heard) == 2 or None, "an answer")
            assert caller.heard[1] == "XQDISCARD par-mbx1 - 3"
            answer = caller.door.heard[1]
            assert isinstance(answer, DiscardAnswered | DiscardRefused)
            return answer

    return asyncio.run(say())


def test_discard_notifications_are_read(tmp_path: Path) -> None:
    at_ms = 1_767_600_000_000
    answer = asked(tmp_path, f"S: 250-DatabaseId=db-a\nS: 250-4 7 {at_ms} {at_ms}\nS: 250 More 1\n")
    assert answer == DiscardAnswered("out-1", "db-a", ((4, 7, at_ms, at_ms),), more=True)


def test_a_refused_question_is_told(tmp_path: Path) -> None:
    assert asked(tmp_path, "S: 550 5.7.1 no\n") == DiscardRefused("out-1", 550, "5.7.1 no")


def test_an_answer_that_cannot_be_understood_is_no_contact(tmp_path: Path) -> None:
    answer = asked(tmp_path, "S: 250 OK\n")
    assert answer == DiscardRefused("out-1", 250, "cannot be understood: OK")


def test_a_long_answer_fits(tmp_path: Path) -> None:
    """The core's pages have 200 notifications; the library bounds a reply at 32 KiB."""
    lines = "".join(f"S: 250-{n} {n + (1 << 59)} 1767600000000 1767600000000\n" for n in range(200))
    answer = asked(tmp_path, f"S: 250-DatabaseId=db-a\n{lines}S: 250 Done 200\n")
    assert isinstance(answer, DiscardAnswered)
    assert len(answer.notifications) == 200


def demanded(tmp_path: Path, reply: str) -> ResubmitAnswered | ResubmitRefused:
    """What becomes of XRESUBMIT ADD when the server says `reply`."""
    demand = ResubmitDemand("am:1", SafetyNetSource.SHADOW, "DB1", 5, 7, ("par-mbx2",))

    async def say() -> ResubmitAnswered | ResubmitRefused:
        async with calling(tmp_path, HELLO + f"C: XRESUBMIT\n{reply}") as caller:
            await caller.opened()
            caller.sessions.request_resubmit(RequestResubmit("out-1", demand))
            await until_async(lambda: len(caller.door.heard) == 2 or None, "an answer")
            assert caller.heard[1] == "XRESUBMIT ADD am:1 shadow DB1 5 7 par-mbx2"
            answer = caller.door.heard[1]
            assert isinstance(answer, ResubmitAnswered | ResubmitRefused)
            return answer

    return asyncio.run(say())


def test_how_far_a_resubmit_request_is_is_read(tmp_path: Path) -> None:
    answer = demanded(tmp_path, "S: 250 2.0.0 completed 12\n")
    assert answer == ResubmitAnswered("out-1", ResubmitState.COMPLETED, 12)


def test_a_refused_resubmit_request_is_told(tmp_path: Path) -> None:
    answer = demanded(tmp_path, "S: 451 4.3.0 no\n")
    assert answer == ResubmitRefused("out-1", 451, "4.3.0 no")


def test_an_answer_to_xresubmit_that_cannot_be_understood_is_none(tmp_path: Path) -> None:
    answer = demanded(tmp_path, "S: 250 OK\n")
    assert answer == ResubmitRefused("out-1", 250, "cannot be understood: OK")


def opening(folder: Path, authority: Authority | None) -> SessionOpened | SessionFailed:
    """lyo-mbx1 calls a real par-mbx1 with certificates of that authority, None: of its own."""
    organisation = Organisation(folder)

    async def call() -> SessionOpened | SessionFailed:
        async with running(organisation, "par-mbx1") as port:
            context = (authority or organisation.authority).client_context(
                "lyo-mbx1.shadowlab.example"
            )
            if authority is not None:  # so that only the server finds fault
                context.load_verify_locations(organisation.authority.file)
            node = read_node_file(organisation.document("lyo-mbx1")).node
            door = Door()
            route = Route({"par-mbx1": Address("127.0.0.1", port)}, context, context)
            sessions = OutboundSessions(door, node, route)
            sessions.open(OpenSession("out-1", "par-mbx1", "heartbeat"))
            await until_async(lambda: door.heard or None, "an answer")
            sessions.close_all()
            answer = door.heard[0]
            assert isinstance(answer, SessionOpened | SessionFailed)
            return answer

    return asyncio.run(call())


def test_servers_of_the_organisation_offer_each_other_shadows(tmp_path: Path) -> None:
    """And say which queue database would hold them (SM-17)."""
    opened = opening(tmp_path, None)
    assert isinstance(opened, SessionOpened)
    assert opened.offers_shadow
    assert opened.database_id


def test_a_certificate_of_another_authority_opens_nothing(tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger")
    assert isinstance(opening(tmp_path / "lab", stranger), SessionFailed)


def test_a_server_inside_that_offers_no_tls_is_not_spoken_to(tmp_path: Path) -> None:
    async def say() -> None:
        async with calling(tmp_path, HELLO) as caller:
            links = {"lyo-mbx1": caller.sessions.route.links["ext1"]}
            caller.sessions.route = Route(links, tls_of_nobody(), tls_of_nobody())
            caller.sessions.open(OpenSession("out-1", "lyo-mbx1", "heartbeat"))
            failed = await caller.door.hears(SessionFailed)
            assert "STARTTLS extension not supported" in failed.reason

    asyncio.run(say())


def test_a_mistake_of_ours_in_a_session_is_noted_and_ends_that_session_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stumble(connection: Connection) -> None:
        raise AttributeError("over a stone")

    monkeypatch.setattr(Connection, "reach", stumble)

    async def talk() -> None:
        async with calling(tmp_path, HELLO) as caller:
            caller.open()
            failed = await caller.door.hears(SessionFailed)
            assert failed.reason == "AttributeError: over a stone"
            assert caller.door.failed == ["out-1: AttributeError: over a stone"]

    asyncio.run(talk())


@pytest.mark.parametrize(
    "answer",
    ["S: 250 " + "x" * 9000, "\n".join(["S: 250-" + "x" * 4000] * 10), "S: " + "x" * 9000],
    ids=["a line", "many lines", "no reply"],
)
def test_a_reply_that_is_too_long_ends_its_session_and_is_remembered_in_a_line(
    answer: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        async with calling(tmp_path, HELLO + f"C: MAIL\n{answer}\n") as caller:
            await caller.opened()
            caller.transmit()
            lost = await caller.door.hears(SessionLost)
            assert len(lost.reason) <= 512
            assert caller.door.failed == []

    asyncio.run(talk())


def test_of_a_long_refusal_a_line_is_kept(tmp_path: Path) -> None:
    async def talk() -> None:
        script = HELLO + "C: MAIL\nS: 550 " + "x" * 4000 + "\n"
        async with calling(tmp_path, script) as caller:
            await caller.opened()
            caller.transmit()
            answered = await caller.answer()
            assert (answered.code, len(answered.text)) == (550, 512)

    asyncio.run(talk())
