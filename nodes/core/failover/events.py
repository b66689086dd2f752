"""What the parts of Active Manager report of a database; who hears it, its door says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FailoverEvent:
    database: str


class CopySeen(FailoverEvent):
    """A copy has answered, or has not."""


class FailoverMounted(FailoverEvent):
    """Another copy is active."""


class FailoverGivenUp(FailoverEvent):
    """No other copy is active after all."""


class ServerTold(FailoverEvent):
    """One server more knows which copy is active."""


class AskingClosed(FailoverEvent):
    """One Safety Net less is to be asked."""
