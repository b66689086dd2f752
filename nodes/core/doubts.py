"""Whose fault a failed attempt is: the message's, or the next hop's.

A message that breaks its session (connection lost while it was sent, a reply that is none), or is
put off by the next hop (4xx), may do so for what it is, again and again, and must not hold up those
behind it. So it is set aside and waits for a retry of its own, while the next one is tried. If that
fails as well, the next hop is to blame, and the whole queue waits (RT-5). If it is acknowledged,
the next hop works; a message that broke its session right before then has a strike, and with
PoisonThreshold strikes it is poison (F§3.2): Exchange counts crashes of its Transport service, this
one sessions. Where nothing shows that the next hop works, no message is poison; it expires.

Knows ids only, and no time.
"""

from __future__ import annotations


class Doubts:
    """Of one delivery queue, since its next hop last acknowledged or could not be reached."""

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._doubted: set[int] = set()
        self._broke: set[int] = set()
        self._strikes: dict[int, int] = {}

    def is_its_own(self, internal_id: int, *, broke: bool) -> bool:
        """An attempt failed while the next hop could be reached: whether it may be the message."""
        self._doubted.add(internal_id)
        if broke:
            self._broke.add(internal_id)
        return self._doubted == {internal_id}

    def acknowledged(self, internal_id: int) -> int | None:
        """The next hop works; the message that is poison by that, if any."""
        others = self._doubted - {internal_id}
        broke = others & self._broke
        self._strikes.pop(internal_id, None)
        self.clear()
        if len(others) != 1 or not broke:
            return None
        (other,) = broke
        self._strikes[other] = self._strikes.get(other, 0) + 1
        is_poison = 0 < self._threshold <= self._strikes[other]
        if is_poison:
            del self._strikes[other]
        return other if is_poison else None

    def clear(self) -> None:
        """Nothing follows from what failed so far; strikes stay."""
        self._doubted.clear()
        self._broke.clear()

    def forget(self) -> None:
        """The next hop is another server now."""
        self.clear()
        self._strikes.clear()
