"""Which links and servers faults act on: at this moment, at any moment since, and by the plan soon.

Evidence for one fault is not looked for where another one acts. A fault is marked before it acts
and unmarked when it is undone, so nothing acts unmarked. What is looked at may change while a
probe is under way; so the plan says beforehand which links keep still for so long, and the marks
say afterwards whether they did. Nothing here acts or judges.
"""

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lab.plan.faults import Fault, ServerFault
from lab.plan.link_faults import LinkFault
from lab.plan.topology import LinkName


@dataclass(slots=True)
class Mark:
    """One fault, on links or on a server; `since` and `until` are counts of changes."""

    fault_id: str
    links: Collection[LinkName]
    server: str | None
    since: int
    until: int | None = None

    def concerns(self, link: LinkName) -> bool:
        return link in self.links or link.target == self.server


@dataclass(slots=True)
class Standing:
    """The faults that run or ran. Shared by threads."""

    _marks: list[Mark] = field(default_factory=list)
    _changes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cut(self, fault_id: str, links: Iterable[LinkName]) -> None:
        """A fault of links is about to act."""
        self._mark(fault_id, frozenset(links), None)

    def down(self, fault_id: str, server: str) -> None:
        """A fault of a server is about to act."""
        self._mark(fault_id, frozenset(), server)

    def healed(self, fault_id: str) -> None:
        with self._lock:
            self._changes += 1
            for mark in self._marks:
                if mark.fault_id == fault_id and mark.until is None:
                    mark.until = self._changes

    def changes(self) -> int:
        """A moment, to ask about later."""
        with self._lock:
            return self._changes

    def is_touched(self, link: LinkName, *, but: str = "", since: int | None = None) -> bool:
        """Whether a fault other than `but` concerns the link or its target, or has concerned it
        at any moment since the count of changes was `since`.
        """
        with self._lock:
            return any(
                mark.concerns(link)
                and mark.fault_id != but
                and (mark.until is None or (since is not None and mark.until > since))
                for mark in self._marks
            )

    def is_down(self, server: str) -> bool:
        with self._lock:
            return any(mark.server == server and mark.until is None for mark in self._marks)

    def _mark(self, fault_id: str, links: Collection[LinkName], server: str | None) -> None:
        with self._lock:
            self._changes += 1
            self._marks.append(Mark(fault_id, links, server, self._changes))


def is_to_be_touched(
    faults: Iterable[Fault], link: LinkName, from_ms: float, to_ms: float, *, but: str
) -> bool:
    """Whether the plan has a fault other than `but` act on the link or its target in that time.

    One that waits for a breakpoint may act from the first moment of its wait on.
    """
    return any(
        fault.id != but
        and fault.start_ms <= to_ms
        and fault.end_ms >= from_ms
        and _concerns(fault, link)
        for fault in faults
    )


def _concerns(fault: Fault, link: LinkName) -> bool:
    if isinstance(fault, LinkFault):
        return link in fault.links
    return isinstance(fault, ServerFault) and fault.server == link.target
