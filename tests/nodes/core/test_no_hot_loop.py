"""Whatever fails, time passes before it is tried again (SM-2, SM-6, SM-18): both cores, with
something of every kind to do, at a host where all of it fails at once.
"""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.active_manager import ActiveManager
from nodes.core.engine.work import LEAST_PAUSE_MS, Work
from nodes.core.interface import inputs as on
from nodes.core.model.database_copy import CopyState
from nodes.core.model.failover import (
    Asking,
    Failover,
    FailoverKind,
    FailoverState,
    ManagedDatabase,
    Telling,
)
from nodes.core.model.message import (
    ActiveCopy,
    Contact,
    DiscardNotification,
    Envelope,
    Fork,
    Header,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import (
    Position,
    ResubmitDemand,
    ResubmitRequest,
    SafetyNetSource,
)
from nodes.core.node import Node
from tests.nodes.core.copies.copies import databases
from tests.nodes.core.hostile import Hostile, HotLoop, Troubles
from tests.nodes.core.world import (
    HOUR,
    MANAGER,
    MINUTE,
    OUTSIDE,
    SERVERS,
    START_MS,
    USER1,
    USER2,
    config,
)
from tests.nodes.next_hops import DB1, DB2, EXT1

pytestmark = pytest.mark.slow

NOW_MS = START_MS + 12 * HOUR
SHORT: dict[str, Any] = {
    "TransportConfig": {
        "SafetyNetHoldTime": "00:30:00",
        "ShadowResubmitTimeSpan": "00:20:00",
        "ShadowMessageAutoDiscardInterval": "01:00:00",
    },
    "TransportService": {"MessageExpirationTimeout": "06:00:00"},
}
EACH = 4
"""Messages of a kind, requests, and so on."""
AT_ONCE = 300
"""Inputs of a start: all of them are made redundant, delivered, promoted, asked for."""
A_MINUTE = 120
"""From then on. A part that does not wait passes any bound."""

SESSIONS: tuple[str | int, ...] = ("refused", "lost", 451, 503, 554)


def message(
    number: int, hop: NextHop, recipient: str, request: str | None = None
) -> PrimaryMessage:
    return PrimaryMessage(
        internal_id=number,
        network_message_id=f"n{number}",
        header=Header(f"<p{number}@x>", NOW_MS - 5 * HOUR),
        envelope=Envelope("alice@partner.example", (recipient,)),
        size_bytes=1000,
        received_ms=NOW_MS - 5 * HOUR,
        shadow_server=None if number % 2 else "lyo1",
        forks=(Fork(hop, (recipient,)),),
        resubmit_request=request,
    )


def shadow(number: int, primary: str, database_id: str) -> ShadowMessage:
    return ShadowMessage(
        ShadowKey(primary, database_id, number),
        number,
        f"s{number}",
        Header(f"<s{number}@x>", NOW_MS),
        Envelope("alice@partner.example", (USER2,)),
        1000,
        NOW_MS - HOUR,
    )


def request(number: int, source: SafetyNetSource) -> ResubmitRequest:
    demand = ResubmitDemand(f"am:{number}", source, "DB1", START_MS, NOW_MS - HOUR)
    return ResubmitRequest(
        demand,
        "am1",
        NOW_MS,
        Position(START_MS, -1, -1),
        head_end_ms=NOW_MS - 2 * HOUR,
        untold=tuple(name for name in SERVERS if name != "par2"),
    )


def everything_begun() -> on.DatabaseOpened:
    """A server that has something of every kind to do."""
    hops = (
        (DB1, USER1),
        (DB2, USER2),
        (EXT1, OUTSIDE),
    )
    messages = [message(1 + n, *hops[n % 3]) for n in range(3 * EACH)]
    messages += [message(50 + n, *hops[0], f"am:{n}") for n in range(EACH)]
    shadows = [shadow(100 + n, "par1", "old") for n in range(EACH)]
    shadows += [shadow(200 + n, "lyo1", "lyo1-a") for n in range(EACH)]
    notified = [DiscardNotification("lyo1", 1 + n, 900 + n, NOW_MS - HOUR) for n in range(EACH)]
    sources = (SafetyNetSource.PRIMARY, SafetyNetSource.SHADOW)
    return on.DatabaseOpened(
        database_id="par2-a",
        created=False,
        starts=2,
        messages=tuple(messages),
        shadows=tuple(shadows),
        discards=tuple(notified),
        contacts=(
            Contact("par1", "new", NOW_MS - MINUTE, 0, 1000),
            Contact("lyo1", "lyo1-a", NOW_MS - HOUR, 0, 1000),
        ),
        last_discard_sequence=EACH,
        next_safety_net_expiry_ms=NOW_MS - HOUR,
        created_ms=START_MS,
        resubmit_requests=tuple(request(n, sources[n % 2]) for n in range(EACH)),
        active_copies=(ActiveCopy("DB1", "par2", 0, 0),),
    )


def hostile(core: Node | ActiveManager, troubles: Troubles) -> Hostile:
    return Hostile(core, troubles, NOW_MS, AT_ONCE, A_MINUTE)


@pytest.mark.parametrize("sessions", SESSIONS)
@pytest.mark.parametrize("disk_is_full", [True, False])
@pytest.mark.parametrize("copies", [("par2", "lyo1"), ("lyo1", "par2")])
def test_a_server_waits_before_it_tries_anything_again(
    copies: tuple[str, ...], disk_is_full: bool, sessions: str | int
) -> None:
    its_config = config("par2", Databases=databases(*copies), **SHORT)
    host = hostile(Node(its_config), Troubles(disk_is_full, sessions))
    host.give(everything_begun())
    host.run(3 * HOUR)
    assert host.handled["DeadlineReached"] > 100


def under_way(database: str, epoch: int, state: FailoverState, kind: FailoverKind) -> Failover:
    return Failover(
        database,
        epoch,
        kind,
        "silent",
        "par2",
        "lyo1",
        state,
        NOW_MS - HOUR,
        is_requested=state is FailoverState.DECIDED,
        mounted_ms=NOW_MS - HOUR if state is FailoverState.MOUNTED else None,
        start_ms=START_MS if state is FailoverState.MOUNTED else None,
    )


def asking(server: str, end_ms: int | None) -> Asking:
    return Asking(
        "DB1:1", server, "DB1", 1, SafetyNetSource.PRIMARY, "", START_MS, end_ms, NOW_MS - 10 * HOUR
    )


def everything_decided(kind: FailoverKind) -> on.ManagerOpened:
    """One failover is being announced and asked about, the next is decided."""
    told, untold = SERVERS[2:], SERVERS[:2]
    askings = [asking(name, NOW_MS - 5 * HOUR) for name in untold]
    askings += [asking(name, None) for name in told]
    return on.ManagerOpened(
        database_id="am1-a",
        created=False,
        starts=2,
        databases=(ManagedDatabase("DB1", "lyo1", 1, 0),),
        failovers=(
            under_way("DB1", 1, FailoverState.MOUNTED, FailoverKind.FAILOVER),
            under_way("DB1", 2, FailoverState.DECIDED, kind),
        ),
        tellings=tuple(Telling("DB1", name, 1, "lyo1") for name in untold)
        + tuple(Telling("DB1", name, 1, "lyo1", NOW_MS) for name in told),
        askings=tuple(askings),
    )


@pytest.mark.parametrize("kind", FailoverKind)
@pytest.mark.parametrize("copy", [None, CopyState.DISMOUNTED, CopyState.ACTIVE, CopyState.PASSIVE])
@pytest.mark.parametrize("sessions", SESSIONS)
@pytest.mark.parametrize("disk_is_full", [True, False])
def test_active_manager_waits_before_it_tries_anything_again(
    disk_is_full: bool, sessions: str | int, copy: CopyState | None, kind: FailoverKind
) -> None:
    its_config = config(MANAGER, managed=True, Databases=databases("par2", "lyo1"), **SHORT)
    host = hostile(ActiveManager(its_config), Troubles(disk_is_full, sessions, copy))
    host.give(everything_decided(kind))
    host.run(3 * HOUR)
    assert host.handled["DeadlineReached"] > 100


def test_a_part_that_does_not_wait_is_seen() -> None:
    class Restless(Node):
        def handle(self, happened: on.Input, now_ms: int):  # type: ignore[no-untyped-def]
            effects = super().handle(happened, now_ms)
            self._work.at(now_ms, lambda: None)
            return effects

    host = hostile(Restless(config("par2")), Troubles(True, "refused"))
    host.give(everything_begun())
    with pytest.raises(HotLoop):
        host.run(MINUTE)


def test_a_retry_is_never_due_at_the_instant_at_which_it_is_set() -> None:
    work = Work(lambda event: None, NOW_MS)
    work.again(0, lambda: None)
    assert work.next_deadline_ms() == NOW_MS + LEAST_PAUSE_MS
