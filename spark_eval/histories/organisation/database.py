"""A mailbox database as the plan has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Database:
    """`copies`: its servers, the one that is active at the start first, and the activation
    preference of each; `window_ms` of its duplicate
    detection (DD-2), `cleanup_ms` between clean-ups (DD-5); `journal`: the mailbox
    that gets its journal reports.
    """

    name: str
    copies: tuple[str, ...]
    preferences: tuple[int | None, ...]
    window_ms: int | None
    cleanup_ms: int | None = None
    journal: str | None = None

    def preference(self, server: str) -> int | None:
        """The activation preference of the copy there; the lower, the better."""
        return self.preferences[self.copies.index(server)]
