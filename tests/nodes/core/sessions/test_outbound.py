"""Outbound sessions: who has one first, and which answer counts."""

from __future__ import annotations

import pytest

from nodes.core.engine.work import Work
from nodes.core.interface import inputs as on
from nodes.core.model.message import Envelope
from nodes.core.sessions.outbound import Answer, PeerReached, Sessions
from nodes.core.sessions.outbound_session import Lease
from tests.nodes.core.world import MINUTE, SECOND, config

ANSWERED = on.TransmissionAnswered("out-1", 250, "2.6.0 Queued")
SHORT = {"ConnectionTimeout": "10s", "ConnectionInactivityTimeout": "5s"}
OTHERS: list[Answer] = [
    on.DiscardAnswered("out-1", "db", (), more=False),
    on.ResubmitRefused("out-1", 550, "no"),
    on.CopyCommandRefused("out-1", 550, "no"),
]


class Peer:
    """par1's sessions to par2; `asks` in each before it is handed over."""

    def __init__(self, *, asks: bool = False) -> None:
        self.asks = asks
        self.heard: list[object] = []
        self.reached: list[PeerReached] = []
        self.leases: list[Lease] = []
        self.work = Work(self.report)
        self.sessions = Sessions(config("par1"), self.work)
        self.sessions.request("par2", "delivery", self.leases.append, self.heard.append)
        self.sessions.opened(on.SessionOpened("out-1", offers_shadow=True))

    def report(self, event: PeerReached) -> None:
        self.reached.append(event)
        if self.asks:
            event.lease.ask("", 0, self.heard.append, self.heard.append)

    def wait(self, for_ms: int) -> None:
        self.work.now_ms += for_ms
        self.work.run_due()

    def transmit(self) -> None:
        envelope = Envelope("a@x", ("b@x",))
        self.leases[0].transmit(None, envelope, "db:1", self.heard.append, self.heard.append)


def test_a_session_goes_to_whom_it_was_opened_for_unless_somebody_asks_first() -> None:
    assert len(Peer().leases) == 1
    peer = Peer(asks=True)
    assert peer.leases == []
    peer.sessions.answered(OTHERS[0])
    assert peer.heard == [OTHERS[0]]
    peer.sessions.hand_over(peer.reached[0].lease)
    assert len(peer.leases) == 1


@pytest.mark.parametrize("other", OTHERS)
def test_only_the_answer_that_is_awaited_counts_and_only_once(other: Answer) -> None:
    peer = Peer()
    peer.transmit()
    peer.sessions.answered(other)
    assert peer.heard == []
    peer.sessions.answered(ANSWERED)
    peer.sessions.answered(ANSWERED)
    assert peer.heard == [ANSWERED]


def test_who_waits_for_an_answer_hears_of_the_loss_once() -> None:
    peer = Peer()
    peer.transmit()
    peer.sessions.failed("out-1", "gone")
    peer.sessions.failed("out-1", "gone")
    peer.sessions.answered(ANSWERED)
    assert peer.heard == ["gone"]


def test_a_transmission_whose_bytes_pass_is_not_cut_however_long_it_takes() -> None:
    """ConnectionInactivityTimeOut, of 10 minutes, counts from the last of them (SR-6)."""
    peer = Peer()
    peer.transmit()
    for _ in range(4):
        peer.wait(9 * MINUTE)
        peer.sessions.active("out-1")
    peer.wait(10 * MINUTE - 1)
    assert peer.heard == []
    peer.wait(1)
    assert peer.heard == ["ConnectionInactivityTimeOut"]


def test_only_a_transmission_is_kept_up_by_its_bytes() -> None:
    """What an idle session, or one that is gone, is said to pass changes nothing."""
    peer = Peer()
    peer.transmit()
    peer.sessions.answered(ANSWERED)
    peer.leases[0].release()
    peer.wait(59 * SECOND)
    peer.sessions.active("out-1")
    peer.wait(SECOND)
    assert not peer.leases[0].is_open
    peer.sessions.active("out-1")


@pytest.mark.parametrize(
    ("connector", "idle_s", "age_s"),
    [
        ({}, 60, 300),
        ({"ConnectionTimeout": "1h", "ConnectionInactivityTimeout": "30m"}, 60, 300),
        ({"ConnectionInactivityTimeout": "30s"}, 6, 300),
        ({"ConnectionTimeout": "2m", "ConnectionInactivityTimeout": "30s"}, 6, 60),
    ],
)
def test_a_session_is_retired_before_a_server_ends_it(
    connector: dict[str, str], idle_s: int, age_s: int
) -> None:
    """By ConnectionInactivityTimeout and ConnectionTimeout of that server's Receive connector."""
    policies = {"par2": {"ReceiveConnector": connector}, "lyo1": {"ReceiveConnector": SHORT}}

    def idle_after(age_ms: int, wait_ms: int) -> bool:
        leases, work = list[Lease](), Work(lambda event: None)
        sessions = Sessions(config("par1", Policies=policies, ReceiveConnector=SHORT), work)
        sessions.request("par2", "delivery", leases.append, lambda reason: None)
        sessions.opened(on.SessionOpened("out-1", offers_shadow=True))
        work.now_ms += age_ms
        leases[0].release()
        work.now_ms += wait_ms
        work.run_due()
        return leases[0].is_open

    assert idle_after(0, idle_s * SECOND - 1)
    assert not idle_after(0, idle_s * SECOND)
    assert idle_after(age_s * SECOND - 1, 0)
    assert not idle_after(age_s * SECOND, 0)


def test_a_request_that_opens_has_a_session_apart_from_the_pool_and_its_limit() -> None:
    settings = config("par1", TransportService={"MaxPerDomainOutboundConnections": 1})
    leases, failed = list[Lease](), list[str]()
    sessions = Sessions(settings, Work(lambda event: None))

    def ask(purpose: str, *, opens: bool = False) -> None:
        sessions.request("par2", purpose, leases.append, failed.append, opens=opens)

    def names() -> list[str]:
        return [lease.session.name for lease in leases]

    ask("heartbeat", opens=True)
    ask("delivery")
    sessions.opened(on.SessionOpened("out-2", offers_shadow=True))
    assert names() == ["out-2"], "mail does not wait for what hangs"
    leases[0].release()
    ask("heartbeat", opens=True)
    assert leases[0].is_open
    assert names() == ["out-2"], "no idle session will do"
    sessions.opened(on.SessionOpened("out-3", offers_shadow=True))
    leases[1].release()
    assert not leases[1].is_open
    ask("delivery")
    assert names() == ["out-2", "out-3", "out-2"]
    ask("delivery")
    sessions.failed("out-1", "ConnectionInactivityTimeOut")
    assert failed == ["ConnectionInactivityTimeOut"]
    sessions.failed("out-2", "gone")
    sessions.opened(on.SessionOpened("out-4", offers_shadow=True))
    assert names()[3:] == ["out-4"], "only a session of the pool makes room in it"
