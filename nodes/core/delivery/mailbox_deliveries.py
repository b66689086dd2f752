"""How many deliveries are under way into mailbox databases of this server, from whichever queue:
MaxConcurrentMailboxDeliveries at most (F§3.2).
"""

from __future__ import annotations

from collections.abc import Callable


class MailboxDeliveries:
    """`freed`: whoever waits may go on."""

    def __init__(self, most: int, freed: Callable[[], None]) -> None:
        self._most, self._freed = most, freed
        self._under_way = 0

    @property
    def has_room(self) -> bool:
        return self._under_way < self._most

    def begin(self) -> None:
        self._under_way += 1

    def end(self) -> None:
        self._under_way -= 1
        if self._under_way == self._most - 1:
            self._freed()
