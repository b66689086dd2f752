"""Whose fault a failed attempt is: the message's, or the next hop's.

A message that breaks its session (connection lost while it was sent; a 421, a reply that is none)
may do so for what it is, again and again, and must not hold up those behind it. So it is set aside
and waits for a retry of its own, while the next one is tried. If that fails as well, the next hop
is to blame, and the whole queue waits (RT-5).

It is never given up for that: a network that carries small mail and no large mail shows a sender
the same, and may be healed. It is tried again, and expires. Exchange's poison messages are those
that crash its own Transport service (F§3.2), which nothing here does.
"""

from __future__ import annotations


class Doubts:
    """Of one delivery queue, since its next hop last acknowledged or could not be reached: ids of
    messages that failed.
    """

    def __init__(self) -> None:
        self._doubted: set[int] = set()

    def is_its_own(self, internal_id: int) -> bool:
        """An attempt failed while the next hop could be reached: whether it may be the message."""
        self._doubted.add(internal_id)
        return self._doubted == {internal_id}

    def clear(self) -> None:
        """Nothing follows from what failed so far: the next hop works, or is another one now, or
        could not be reached at all.
        """
        self._doubted.clear()
