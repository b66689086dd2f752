"""A mailbox database as the plan has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Database:
    """`copies`: its servers in order of activation preference; `window_ms` of its duplicate
    detection (DD-2).
    """

    name: str
    copies: tuple[str, ...]
    window_ms: int | None
