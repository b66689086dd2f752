"""The ledger as the sender lived it: the attempts at a message, and how each ended.

An attempt without an outcome (the lab died) is unknown, like one whose connection was lost after
the final dot. A message is acknowledged when one of its attempts ended ok.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import NamedTuple

from spark_eval.read.names import Ref, host_in
from spark_eval.read.rows import AttemptRow, OutcomeRow, collected

ACKNOWLEDGED, REJECTED, IN_DOUBT = "acknowledged", "rejected", "in doubt"
OVER_RATE = "421 4.4.2 Message submission rate"
TOO_MANY = "421 4.3.2 The maximum number of concurrent server connections has exceeded a "
OVER_CONNECTION_RATE = "421 4.3.2 Service not available"
OF_SOURCE = TOO_MANY + "per-source limit"
_INTERNAL_ID = re.compile(r"InternalId=([^,\]\s]+)")


class Attempt(NamedTuple):
    """`number` from 1; `outcome` is ok, failed or unknown; `ref` of how it ended, or began.
    `called`: whom the sender called; `server`: the same, or whose 250 a front end passed on.
    """

    number: int
    called: str
    server: str
    outcome: str
    started_ms: int | None
    started_mono_ns: int | None
    ended_ms: int | None
    ended_mono_ns: int | None
    reply: str | None
    reason: str | None
    ref: Ref

    @property
    def reply_internal_id(self) -> str | None:
        return internal_id_in(self.reply)

    def spans(self, mono_ns: int | None) -> bool:
        """Whether that moment lies within it, as far as it is known when it began and ended."""
        if mono_ns is None or self.started_mono_ns is None or mono_ns < self.started_mono_ns:
            return False
        return self.ended_mono_ns is None or mono_ns <= self.ended_mono_ns


def internal_id_in(reply: str | None) -> str | None:
    """The id that a 250 says its server gave the message."""
    found = _INTERNAL_ID.search(reply or "")
    return found[1] if found else None


def attempts_of(
    begun: Iterable[AttemptRow], ended: Iterable[OutcomeRow], front_ends: Container[str] = ()
) -> tuple[Attempt, ...]:
    """Of one message, in order."""
    starts: dict[int, list[AttemptRow | None]] = collected((row.attempt, row) for row in begun)
    ends: dict[int, list[OutcomeRow | None]] = collected((row.attempt, row) for row in ended)
    return tuple(
        _attempt(start, end, front_ends)
        for number in sorted({*starts, *ends})
        for start in starts.get(number) or [None]
        for end in ends.get(number) or [None]
    )


def _attempt(
    start: AttemptRow | None, end: OutcomeRow | None, front_ends: Container[str]
) -> Attempt:
    either = start or end
    assert either is not None
    called = (start and start.server) or (end and end.server) or ""
    return Attempt(
        number=either.attempt,
        called=called,
        server=(called in front_ends and end and host_in(end.reply)) or called,
        outcome=end.outcome if end else "unknown",
        started_ms=start.started_ms if start else None,
        started_mono_ns=start.mono_ns if start else None,
        ended_ms=end.ended_ms if end else None,
        ended_mono_ns=end.mono_ns if end else None,
        reply=end.reply if end else None,
        reason=end.reason if end else None,
        ref=end.ref if end else either.ref,
    )


def fate_of(attempts: Iterable[Attempt]) -> str:
    """`in doubt` too where nothing was tried."""
    outcomes = {each.outcome for each in attempts}
    if "ok" in outcomes:
        return ACKNOWLEDGED
    return IN_DOUBT if "unknown" in outcomes or not outcomes else REJECTED
