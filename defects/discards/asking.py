"""Defects of shadow servers: how they ask for discard notifications (SM-2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from defects.decisions import does
from defects.defect import Defect
from defects.settings import transport
from nodes.core.config.config import TransportConfig
from nodes.core.engine.work import Because
from nodes.core.sessions.outbound import SMTP, Sessions
from nodes.core.sessions.outbound_session import Lease, Ready, Request, Session
from nodes.core.sessions.outbound_states import SessionState
from nodes.core.shadow.shadow_queue import ShadowQueue

CALM, HANG = "calm", "heartbeats-hang"
FIVE_SECONDS_MS = 5_000


def _only_for_heartbeats(ask_first: Any, queue: ShadowQueue, lease: Lease) -> None:
    request = lease.session.request
    if request is not None and request.purpose == "heartbeat":
        ask_first(queue, lease)


def _not_in_sessions_for_logs(ask_first: Any, queue: ShadowQueue, lease: Lease) -> None:
    request = lease.session.request
    if request is None or request.purpose != "replication":
        ask_first(queue, lease)


def _every_five_seconds(config: TransportConfig) -> TransportConfig:
    return replace(config, shadow_heartbeat_frequency_ms=FIVE_SECONDS_MS)


def _asks_once_more(hang_up: Any, sessions: Sessions, session: Session) -> None:
    """Its own one is no such session."""
    stood = session.offers_shadow and session.state is not SessionState.CLOSED
    hang_up(sessions, session)
    if stood and not session.is_apart:
        sessions.request(session.peer, "heartbeat", Lease.release, lambda reason: None, opens=True)


def _never_gives_up(
    request: Any, sessions: Sessions, peer: str, purpose: str, ready: Ready, failed: Because,
    *service: str, opens: bool = False,
) -> Request:  # fmt: skip
    """What must open a session is the attempt that a promotion waits for."""

    def tries_on(reason: str) -> None:
        failed(reason)
        _try_until_it_stands(sessions, peer)

    wish: Request = request(
        sessions, peer, purpose, ready, tries_on if opens else failed, *service, opens=opens
    )
    return wish


def _try_until_it_stands(sessions: Sessions, peer: str) -> None:
    """Every five seconds, whether the sessions before have failed by then or not."""
    stands: list[Lease] = []

    def stood(lease: Lease) -> None:
        stands.append(lease)
        lease.release()

    def again() -> None:
        if not stands:
            sessions.request(peer, "heartbeat", stood, lambda reason: None)
            sessions.work.at(sessions.work.now_ms + FIVE_SECONDS_MS, again)

    again()


@contextmanager
def _none_beside_one_that_hangs() -> Iterator[None]:
    hanging: WeakKeyDictionary[Sessions, set[str]] = WeakKeyDictionary()

    def asked(
        request: Any, sessions: Sessions, peer: str, purpose: str, ready: Ready, failed: Because,
        *service: str, opens: bool = False,
    ) -> Request:  # fmt: skip
        wish = Request(peer, SMTP, purpose, ready, failed, sessions, sessions.work.now_ms)
        peers = hanging.setdefault(sessions, set())

        def stood(lease: Lease) -> None:
            peers.discard(peer)
            ready(lease)

        def lost(reason: str) -> None:
            peers.discard(peer)
            failed(reason)

        if not opens:
            wish = request(sessions, peer, purpose, ready, failed, *service)
        elif peer not in peers:
            peers.add(peer)
            wish = request(sessions, peer, purpose, stood, lost, opens=True)
        return wish

    with does(Sessions, "request", asked):
        yield


DISCARD, PACED = ("discard_after_delivery",), ("heartbeats_paced",)
ASKED = ("discards_asked",)
DEFECTS = (
    Defect(
        "asks-in-heartbeats-only",
        "The shadow server does not ask in sessions that it opens for something else.",
        "SM-2", CALM, ASKED, lambda: does(ShadowQueue, "ask_first", _only_for_heartbeats),
    ),
    Defect(
        "asks-in-no-session-for-logs",
        "The shadow server does not ask in sessions that it opens to ship logs.",
        "SM-2", "lossy-failover", ("discards_asked",),
        lambda: does(ShadowQueue, "ask_first", _not_in_sessions_for_logs),
    ),
    Defect(
        "asks-ten-times-too-seldom",
        "The shadow server asks ten times less often than ShadowHeartbeatFrequency says.",
        "SM-2", CALM, DISCARD,
        lambda: transport(
            lambda t: replace(
                t, shadow_heartbeat_frequency_ms=10 * t.shadow_heartbeat_frequency_ms
            )
        ),
    ),
    Defect(
        "waits-for-a-heartbeat-that-hangs",
        "No heartbeat is opened while another one hangs.",
        "SM-2", HANG, PACED, _none_beside_one_that_hangs,
    ),
    Defect(
        "opens-a-session-every-five-seconds",
        "The shadow server opens a session every five seconds, asks in it and hangs up.",
        "SM-2", CALM, PACED, lambda: transport(_every_five_seconds),
    ),
    Defect(
        "asks-every-five-seconds-where-nobody-answers",
        "Once a primary server cannot be reached, it is tried every five seconds.",
        "SM-2", "primary-returns-in-time", PACED, lambda: transport(_every_five_seconds),
    ),
    Defect(
        "asks-each-time-a-session-ends",
        "When a session to a primary server ends, another one is opened to ask in.",
        "SM-2", "nobody-asks", PACED, lambda: does(Sessions, "hang_up", _asks_once_more),
    ),
    Defect(
        "asks-on-after-a-promotion",
        "Where a promotion was due, the primary server is tried every five seconds from then on.",
        "SM-2", "primary-returns-after-promotion", PACED,
        lambda: does(Sessions, "request", _never_gives_up),
    ),
)  # fmt: skip
