"""When a fault that waits for a breakpoint starts."""

from dataclasses import dataclass

from nodes.shell.chaos.places import Place


@dataclass(frozen=True, slots=True)
class When:
    """Instead of a time: the `nth` time that a server reaches a breakpoint.

    Counted from the fault's `start_ms`, the earliest it can begin, to `until_ms`, the latest. It
    lasts `for_ms` from then on, so its `end_ms` is the latest at which it can be healed.
    """

    server: str
    at: Place
    nth: int
    until_ms: int
    for_ms: int

    def in_words(self) -> str:
        """`par-mbx1 is at after-data-before-250 for the 3rd time`."""
        return f"{self.server} is at {self.at} for the {_ordinal(self.nth)} time"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
