"""Ids without chance: from the id of the queue database and a counter (design decision 2).

Ids that were used but not committed (a rejected message, a shadow whose primary died before its own
commit) must not be used again after a restart: a shadow server would take the new message for the
one it holds, and acknowledge what it has not got. So each start of a queue database has a block of
ids of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

BLOCK = 1 << 32


@dataclass(slots=True)
class Identity:
    """Gives out internal ids and discard sequence numbers of one queue database."""

    database_id: str = ""
    _last_internal_id: int = 0
    _last_sequence: int = 0

    def opened(self, database_id: str, starts: int, last_sequence: int) -> None:
        self.database_id = database_id
        self._last_internal_id = starts * BLOCK
        self._last_sequence = last_sequence

    def next_internal_id(self) -> int:
        self._last_internal_id += 1
        return self._last_internal_id

    def next_sequence(self) -> int:
        self._last_sequence += 1
        return self._last_sequence

    def network_message_id(self, internal_id: int) -> str:
        """GUID-shaped, one for all forks and shadows of a message (TL-3)."""
        digest = sha256(f"{self.database_id}:{internal_id}".encode()).hexdigest()
        parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
        return "-".join(parts)
