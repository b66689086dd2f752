"""Whose fault a failed attempt is: the message's, or the next hop's.

A message that breaks its session (connection lost while it was sent), or is put off by the next hop
(4xx, a reply that is none), may do so for what it is, again and again, and must not hold up those
behind it. So it is set aside and waits for a retry of its own, while the next one is tried. If that
fails as well, the next hop is to blame, and the whole queue waits (RT-5).

With PoisonThreshold strikes a message is poison (F§3.2): Exchange counts crashes of its Transport
service, this one sessions. A network that fails now and then breaks sessions too, so a strike is
given only where it cannot have been the network: others were acknowledged a moment before the
message was offered and a moment after its session broke, and that was at once. A message without
such evidence is no poison; it is tried again, and expires.

Knows ids only; times are lab ms.
"""

from __future__ import annotations

from dataclasses import dataclass

AT_ONCE_MS = 1000


@dataclass(frozen=True, slots=True)
class Broke:
    """A session was lost while a message was sent over it."""

    offered_ms: int
    lost_ms: int


class Doubts:
    """Of one delivery queue, since its next hop last acknowledged or could not be reached."""

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._worked_ms: int | None = None
        self._doubted: set[int] = set()
        self._broke: dict[int, int] = {}
        self._strikes: dict[int, int] = {}

    def is_its_own(self, internal_id: int, broke: Broke | None = None) -> bool:
        """An attempt failed while the next hop could be reached: whether it may be the message."""
        self._doubted.add(internal_id)
        if broke is not None and self._was_amid_others(broke):
            self._broke[internal_id] = broke.lost_ms
        return self._doubted == {internal_id}

    def _was_amid_others(self, broke: Broke) -> bool:
        """As far as it can be known when it breaks."""
        before = self._worked_ms is not None and broke.offered_ms - self._worked_ms <= AT_ONCE_MS
        return before and broke.lost_ms - broke.offered_ms <= AT_ONCE_MS

    def acknowledged(self, internal_id: int, now_ms: int) -> int | None:
        """The next hop works; the message that is poison by that, if any."""
        others, broke = self._doubted - {internal_id}, self._broke
        self._strikes.pop(internal_id, None)
        self.clear()
        self._worked_ms = now_ms
        if len(others) != 1:
            return None
        (other,) = others
        if other not in broke or now_ms - broke[other] > AT_ONCE_MS:
            return None
        self._strikes[other] = self._strikes.get(other, 0) + 1
        is_poison = 0 < self._threshold <= self._strikes[other]
        if is_poison:
            del self._strikes[other]
        return other if is_poison else None

    def clear(self) -> None:
        """Nothing follows from what failed so far; strikes stay."""
        self._worked_ms = None
        self._doubted = set()
        self._broke = {}

    def forget(self) -> None:
        """The next hop is another server now."""
        self.clear()
        self._strikes.clear()
