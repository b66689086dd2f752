from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_eval.claims.node.connections_limited import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, mono, user

SERVER = "par-mbx1"
BEGAN = 5 * MINUTE
RATE = "421 4.4.2 Message submission rate for this client has exceeded the configured limit"
TOO_FAST = "421 4.3.2 Service not available"
OF_SOURCE = (
    "421 4.3.2 The maximum number of concurrent server connections has exceeded a per-source "
    "limit, closing transmission channel"
)


def _limited(section: str, **limits: int) -> Run:
    run = empty()
    servers = run.plan["settings"].setdefault("servers", {})
    servers.setdefault(SERVER, {})[section] = limits
    return run


def _sent(*at: int, limit: int = 2, refused_at: int | None = None) -> Run:
    """Messages of the workload, each taken within a second; one refused for their number."""
    run = _limited("ReceiveConnector", MessageRateLimit=limit)
    for start in at:
        run.attempt(run.submit(start, [user(1)]), SERVER, start, "ok", "250 ok", start + SECOND)
    if refused_at is not None:
        message_id = run.submit(refused_at, [user(1)])
        run.attempt(message_id, SERVER, refused_at, "failed", RATE, refused_at + SECOND)
    return run


def _came(*at: int, limit: int = 2, refused_at: int | None = None) -> Run:
    """The same with a limit of connections."""
    run = _sent(*at, limit=100)
    run.plan["settings"]["servers"][SERVER]["TransportService"] = {
        "MaxConnectionRatePerMinute": limit
    }
    if refused_at is not None:
        message_id = run.submit(refused_at, [user(1)])
        run.attempt(message_id, SERVER, refused_at, "failed", TOO_FAST, refused_at + SECOND)
    return run


def _from_an_outbox(run: Run) -> Run:
    """Who submits from a mailbox is no client of a Receive connector."""
    for message in run.plan["messages"]:
        message["mail"] = "internal"
    return run


def _killed(run: Run) -> Run:
    run.kill(SERVER, BEGAN + 5 * SECOND, BEGAN + 8 * SECOND)
    return run


def _call(
    *sessions: tuple[int, int], limit: int = 2, last_word: str | None = None, percent: int = 100
) -> Run:
    """Strangers, from and to when each has a session; the first of them hears that word."""
    run = _limited(
        "ReceiveConnector",
        MaxInboundConnectionPerSource=limit,
        MaxInboundConnectionPercentagePerSource=percent,
    )
    run.plan["strangers"] = [
        {"id": f"s{number}", "kind": "trickles", "at_ms": start, "server": SERVER,
         "certificate": None, "commands": [], "trickle": None}
        for number, (start, _) in enumerate(sessions)
    ]  # fmt: skip
    for number, (start, end) in enumerate(sessions):
        row = {"stranger": f"s{number}", "server": SERVER}
        said = {"type": "reply", "command": "banner", "reply": "220", "at_ms": start}
        run.strangers.append({**row, **said, "mono_ns": mono(start)})
        reply = None if number else last_word
        over = {"type": "end", "outcome": "refused", "reply": reply, "sent_bytes": 1, "at_ms": end}
        run.strangers.append({**row, **over, "mono_ns": mono(end)})
    return run


def _opened(*steps: tuple[str, str], peers: Sequence[str] = ("par-mbx2", "lyo-mbx1")) -> Run:
    """Sessions of the server, by name, opened and ended; two may be open, one to each server."""
    run = _limited(
        "TransportService", MaxOutboundConnections=2, MaxPerDomainOutboundConnections=len(peers) - 1
    )
    names = sorted({name for name, _ in steps})
    for at, (name, way) in enumerate(steps):
        peer = peers[names.index(name) % len(peers)]
        text = "delivery" if way == "+" else "Messages: 1"
        run.contacts.setdefault(SERVER, []).append(
            {"at_ms": BEGAN + at, "session": name, "source": "SMTP", "destination": peer,
             "direction": way, "description": text}
        )  # fmt: skip
    return run


def _through(*names: str, peers: Sequence[str] = ("par-mbx2", "lyo-mbx1", "lyo-mbx2")) -> Run:
    """All of them open at a time."""
    return _opened(*((name, "+") for name in names), *((name, "-") for name in names), peers=peers)


LONG = BEGAN + 9 * MINUTE
AGES = [(BEGAN, LONG)] * 2
HOLDS = {
    "two-a-minute": _sent(BEGAN, BEGAN + 20 * SECOND, BEGAN + 61 * SECOND),
    "refused-after-two": _sent(BEGAN, BEGAN + 20 * SECOND, refused_at=BEGAN + 40 * SECOND),
    "two-connections-a-minute": _came(BEGAN, BEGAN + 20 * SECOND, BEGAN + 61 * SECOND),
    "refused-after-two-connections": _came(
        BEGAN, BEGAN + 20 * SECOND, refused_at=BEGAN + 40 * SECOND
    ),
    "two-clients": _call(*AGES, (LONG + MINUTE, LONG + 2 * MINUTE)),
    "one-gives-way": _call((BEGAN, BEGAN + MINUTE), *AGES, last_word=OF_SOURCE, limit=2),
    "one-after-another": _opened(
        *(("a", "+"), ("b", "+"), ("a", "-"), ("c", "+"), ("b", "-"), ("c", "-")),
        peers=("par-mbx2", "lyo-mbx1", "lyo-mbx2"),
    ),
}
VIOLATED = {
    "three-a-minute": (
        _sent(BEGAN, BEGAN + 20 * SECOND, BEGAN + 50 * SECOND),
        "takes 3 messages in a minute, at most 2",
    ),
    "refused-after-one": (
        _sent(BEGAN, refused_at=BEGAN + 40 * SECOND),
        "refuses it after 1 messages in a minute, not 2",
    ),
    "refused-a-minute-later": (
        _sent(BEGAN, BEGAN + SECOND, refused_at=BEGAN + 64 * SECOND),
        "refuses it after 0 messages in a minute, not 2",
    ),
    "three-connections-a-minute": (
        _came(BEGAN, BEGAN + 20 * SECOND, BEGAN + 50 * SECOND),
        "takes 3 connections in a minute, at most 2",
    ),
    "refused-after-one-connection": (
        _came(BEGAN, refused_at=BEGAN + 40 * SECOND),
        "after 1 connections in a minute, not 2",
    ),
    "three-clients": (_call(*AGES, (BEGAN + MINUTE, LONG)), "has 3 sessions of clients, at most 2"),
    "three-sessions": (
        _through("a", "b", "c"), "has 3 sessions open at a time; MaxOutboundConnections is 2"
    ),
    "two-to-one-server": (
        _through("a", "b", peers=("par-mbx2", "par-mbx2")),
        "MaxPerDomainOutboundConnections to par-mbx2 is 1",
    ),
    "sent-away-from-among-a-few": (
        _call((BEGAN, BEGAN + MINUTE), *AGES, last_word=OF_SOURCE, limit=30),
        "sends s0 away from among 7 clients, of 30",
    ),
}  # fmt: skip
NOT_ASKED = {
    "no-limit": _sent(BEGAN, BEGAN, BEGAN, limit=2_147_483_647),
    "restarted-in-between": _killed(_sent(BEGAN, BEGAN + 20 * SECOND, BEGAN + 50 * SECOND)),
    "one-session": _through("a"),
}


def runs() -> dict[str, Run]:
    wrong = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return {**HOLDS, **wrong, **NOT_ASKED}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_what_keeps_within_a_limit_holds(name: str, results: Results) -> None:
    assert (results[name].status, results[name].violations) == ("holds", 0)


@pytest.mark.parametrize("name", VIOLATED)
def test_a_limit_that_is_not_kept_is_a_violation(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result
    assert VIOLATED[name][1] in result.examples[0].detail
    assert result.proofs["TL-5"] == "violated"


@pytest.mark.parametrize("name", NOT_ASKED)
def test_what_says_nothing_of_a_limit_is_not_asked(name: str, results: Results) -> None:
    assert results[name].asked == 0
