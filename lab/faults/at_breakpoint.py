"""A fault that waits until a server reaches a breakpoint, and begins there.

The server holds still there in one session (`nodes.shell.chaos.breakpoints`); the fault is applied,
and the server goes on. What begins is a plain fault like any other, with its times from then. A
breakpoint that is never reached leaves no evidence.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab.faults.fault import Fault
from lab.faults.observer.target import RunningLab
from lab.plan import faults as plan_faults

Make = Callable[[Any, RunningLab], Fault]


class AtPlace:
    """One fault of a plan with `when`; `from_ms` to `until_ms` is when it may begin."""

    def __init__(self, planned: plan_faults.Fault, lab: RunningLab, make: Make) -> None:
        assert planned.when is not None, "a fault with a time waits for no place"
        self.id, self.from_ms, self.until_ms = planned.id, planned.start_ms, planned.when.until_ms
        self._planned, self._when, self._lab, self._make = planned, planned.when, lab, make

    def describe(self) -> str:
        return self._when.in_words()

    def place(self) -> Mapping[str, object]:
        """For the journal: where it begins."""
        when = self._when
        return {"server": when.server, "place": when.at, "nth": when.nth}

    def reached(self) -> Mapping[str, object] | None:
        """The moment at which the server reached the breakpoint, if it has. Raises GroundError."""
        return self._lab.servers.reached(self._when.server, self.id)

    def begin(self, now_ms: int) -> Fault:
        """The fault that begins now."""
        is_endless = plan_faults.is_for_good(self._planned)
        end_ms = self._planned.end_ms if is_endless else now_ms + self._when.for_ms
        plain = replace(self._planned, start_ms=now_ms, end_ms=end_ms, when=None)
        return self._make(plain, self._lab)

    def let_go(self) -> bool:
        """The server may go on; false where it did so by itself before. Raises GroundError."""
        return self._lab.servers.let_go(self._when.server, self.id)
