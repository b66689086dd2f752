"""A front end says what the server behind says, chooses another, and keeps nothing (TP-7)."""

from __future__ import annotations

from typing import Any

from nodes.core.config.config import read_config
from nodes.core.front_end import FrontEnd
from nodes.core.interface import inputs as on
from nodes.core.interface.effects import (
    CloseSession,
    DropBody,
    Effect,
    HangUp,
    LogConnectivity,
    MailFrom,
    OpenSession,
    PassCommand,
    PassMessage,
    RecipientTo,
    SendReply,
)
from nodes.core.interface.replies import (
    R421_CONNECTION_RATE,
    R451_NO_SERVER,
    R451_SERVER_LOST,
    R550_NOT_ALLOWED,
)
from nodes.core.model.message import Envelope, Header

START_MS = 1_767_600_000_000
MINUTE = 60_000
SENDER, USER = "sender@outside.example", "user1@lab.example"
ENVELOPE = Envelope(SENDER, (USER,))


def _server(name: str, role: str, site: str) -> dict[str, Any]:
    described = {"Name": name, "Fqdn": f"{name}.lab.example", "Role": role, "Site": site}
    return described | {"DatabaseAvailabilityGroup": None, "Domain": None}


SERVERS = [
    _server("fe1", "frontend", "paris"),
    _server("par1", "mailbox", "paris"),
    _server("par2", "mailbox", "paris"),
    _server("lyo1", "mailbox", "lyon"),
]


RATE = {"TransportService": {"MaxConnectionRatePerMinute": 1}}


class Client:
    """One client of a front end, and the servers behind as the test says."""

    def __init__(self, **sections: Any) -> None:
        document = {"AcceptedDomain": "lab.example", "Databases": [], "Mailboxes": [], **sections}
        self.core = FrontEnd(read_config(SERVERS[0] | document | {"Servers": SERVERS}))
        self.now_ms = START_MS
        self.effects: list[Effect] = []
        self.hear(on.FrontEndStarted(), on.SessionAccepted("in-1", "192.0.2.1"))

    def hear(self, *happened: on.Input) -> list[Effect]:
        """What the core asks for."""
        self.effects = [e for each in happened for e in self.core.handle(each, self.now_ms)]
        return self.effects

    def wait(self, for_ms: int) -> list[Effect]:
        until_ms, found = self.now_ms + for_ms, list[Effect]()
        while (due_ms := self.core.next_deadline_ms()) is not None and due_ms <= until_ms:
            self.now_ms = due_ms
            found += self.hear(on.DeadlineReached())
        self.now_ms, self.effects = until_ms, found
        return found

    def of(self, kind: type) -> list[Any]:
        return [each for each in self.effects if isinstance(each, kind)]

    @property
    def called(self) -> list[str]:
        return [each.peer for each in self.of(OpenSession)]

    @property
    def replies(self) -> list[Any]:
        return [each.reply for each in self.of(SendReply)]

    def passed(self) -> list[Any]:
        return [each.command for each in self.of(PassCommand)]

    def offer(self) -> list[Effect]:
        header = Header("<m1@outside.example>", START_MS, "")
        return self.hear(on.MessageOffered("in-1", ENVELOPE, header, 100, "in:1"))

    def announce(self, session: str = "out-1") -> None:
        """MAIL and RCPT, which the server behind takes."""
        self.hear(on.SenderOffered("in-1", SENDER))
        self.hear(on.SessionOpened(session, False))
        self.hear(on.PassedCommandAnswered(session, 250, "2.1.0 Sender OK"))
        self.hear(on.RecipientOffered("in-1", USER))
        self.hear(on.PassedCommandAnswered(session, 250, "2.1.5 Recipient OK"))


def test_each_command_is_passed_on_before_it_is_answered() -> None:
    client = Client()
    client.hear(on.SenderOffered("in-1", SENDER))
    assert client.called == ["par1"]
    client.hear(on.SessionOpened("out-1", False))
    assert client.passed() == [MailFrom(SENDER)]
    assert client.replies == []
    client.hear(on.PassedCommandAnswered("out-1", 250, "2.1.0 Sender OK"))
    assert [reply.code for reply in client.replies] == [250]
    client.hear(on.RecipientOffered("in-1", USER))
    assert client.passed() == [RecipientTo(USER)]
    client.hear(on.PassedCommandAnswered("out-1", 550, "5.1.10 nobody"))
    assert [(reply.code, reply.lines) for reply in client.replies] == [(550, ("5.1.10 nobody",))]


def test_it_says_250_only_when_the_server_behind_has_and_keeps_nothing() -> None:
    client = Client()
    client.announce()
    client.offer()
    assert [each.body for each in client.of(PassMessage)] == ["in:1"]
    assert client.wait(4 * MINUTE) == []
    client.hear(on.TransmissionAnswered("out-1", 250, "2.6.0 Queued mail for delivery"))
    assert [reply.code for reply in client.replies] == [250]
    assert [each.body for each in client.of(DropBody)] == ["in:1"]
    row, *_ = client.of(LogConnectivity)
    assert row.description == "Passed <m1@outside.example>: 250 2.6.0 Queued mail for delivery"
    assert client.effects.index(row) < client.effects.index(client.of(SendReply)[0])


def test_what_the_server_refuses_is_refused_in_its_words() -> None:
    client = Client()
    client.announce()
    client.offer()
    client.hear(on.TransmissionAnswered("out-1", 451, "4.4.0 Message failed to be made redundant"))
    (reply,) = client.replies
    assert (reply.code, reply.lines) == (451, ("4.4.0 Message failed to be made redundant",))


def test_another_server_of_the_site_is_chosen_and_hears_what_was_said_before() -> None:
    client = Client()
    client.announce()
    client.hear(on.SessionLost("out-1", "gone"))
    client.offer()
    assert client.called == ["par1"]  # that its session ended makes it no worse than others
    client.hear(on.SessionFailed("out-2", "refused"))
    assert client.called == ["par2"]
    client.hear(on.SessionOpened("out-3", False))
    assert client.passed() == [MailFrom(SENDER)]
    client.hear(on.PassedCommandAnswered("out-3", 250, "OK"))
    assert client.passed() == [RecipientTo(USER)]
    client.hear(on.PassedCommandAnswered("out-3", 250, "OK"))
    assert client.of(PassMessage)
    assert client.replies == []


def test_a_server_that_is_silent_is_given_up_before_the_client_must_be() -> None:
    client = Client()
    client.hear(on.SenderOffered("in-1", SENDER))
    client.wait(5 * MINUTE - 1)
    assert client.called == ["par2"]
    assert client.replies == [R451_NO_SERVER]
    assert client.of(CloseSession) == []


def test_where_no_server_of_the_site_answers_it_refuses_and_calls_none_of_another() -> None:
    client = Client()
    client.hear(on.SenderOffered("in-1", SENDER))
    client.hear(on.SessionFailed("out-1", "refused"))
    client.hear(on.SessionFailed("out-2", "refused"))
    assert client.called == []
    assert client.replies == [R451_NO_SERVER]


def test_an_answer_that_is_lost_is_no_250_and_no_other_server_has_the_message() -> None:
    client = Client()
    client.announce()
    client.offer()
    client.hear(on.SessionLost("out-1", "gone"))
    assert client.called == []
    assert client.replies == [R451_SERVER_LOST]
    assert [each.body for each in client.of(DropBody)] == ["in:1"]


def test_a_421_behind_ends_that_session_and_not_the_clients() -> None:
    client = Client()
    client.announce()
    client.offer()
    client.hear(on.TransmissionAnswered("out-1", 421, "4.3.2 Service not active"))
    assert client.replies == [R451_SERVER_LOST]


def test_with_its_client_goes_the_session_behind_and_the_message() -> None:
    client = Client()
    client.announce()
    client.offer()
    client.hear(on.ConnectionLost("in-1"))
    assert [each.session for each in client.of(HangUp)] == ["out-1"]
    assert [each.body for each in client.of(DropBody)] == ["in:1"]
    assert client.hear(on.TransmissionAnswered("out-1", 250, "too late")) == []


def test_a_reset_makes_void_what_the_server_behind_has_heard() -> None:
    client = Client()
    client.announce()
    client.hear(on.TransactionReset("in-1"))
    assert [each.session for each in client.of(HangUp)] == ["out-1"]
    client.hear(on.SenderOffered("in-1", SENDER))
    assert client.called == ["par2"]


def test_nobody_has_a_right_here() -> None:
    client = Client()
    client.hear(on.PeerAuthenticated("in-1", "par2"))
    client.hear(on.DiscardAsked("in-1", "par2", "", 0))
    assert client.replies == [R550_NOT_ALLOWED]
    client.hear(on.OutboxRequested("in-1", "DB1"))
    assert client.replies == [R550_NOT_ALLOWED]


def test_a_session_ends_by_its_time_outs() -> None:
    client = Client()
    client.wait(5 * MINUTE)
    assert [each.session for each in client.of(CloseSession)] == ["in-1"]


def test_a_front_end_counts_connections_by_their_first_sender() -> None:
    client = Client(**RATE)
    client.wait(1_000)
    client.hear(on.SessionAccepted("in-2", "192.0.2.1"))
    client.hear(on.SenderOffered("in-1", SENDER))
    assert client.of(CloseSession) == []
    client.hear(on.SenderOffered("in-2", SENDER))
    assert client.of(CloseSession) == [CloseSession("in-2", R421_CONNECTION_RATE)]
