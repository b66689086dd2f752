"""What became of all messages of a run, as sums: parts of a run add up to the whole."""

from __future__ import annotations

from typing import NamedTuple


class Totals(NamedTuple):
    """Counts of messages: `promised` to anybody, `lost` or `excused` for anybody; `may_be_…` of
    those whose fate is not known.
    """

    promised: int = 0
    lost: int = 0
    excused: int = 0
    may_be_lost: int = 0
    may_be_excused: int = 0

    def plus(self, other: Totals) -> Totals:
        return Totals(*(a + b for a, b in zip(self, other, strict=True)))
