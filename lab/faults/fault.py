"""What every fault can do, and the order in which the schedule asks for it.

`start` — `evidence` — `stop` — `healed` — `evidence_healed`. `start` and `stop` act and return
soon; the others may wait, each bounded, and run beside the schedule. `stop` must work after any
part of `start`, and twice: it is what heals a run that ends early.
"""

from collections.abc import Mapping
from typing import Protocol

from lab.faults.observer.evidence import Evidence


class Fault(Protocol):
    """One fault of a plan. Times are lab ms since the start. Methods raise GroundError."""

    @property
    def id(self) -> str: ...

    @property
    def start_ms(self) -> int: ...

    @property
    def end_ms(self) -> int: ...

    def describe(self) -> str:
        """For a person, in a few words."""

    def intent(self) -> Mapping[str, object]:
        """What `start` is going to do, for the journal."""

    def start(self) -> Mapping[str, object]:
        """Do it; what the journal should know of how it went."""

    def evidence(self) -> Evidence:
        """Whether it took effect, looked for while it lasts."""

    def confirmed(self) -> Evidence:
        """Whether it took effect, by what proxies, engine or server said when it was applied: what
        remains of a fault that was healed before a probe could end.
        """

    def stop(self) -> None:
        """Begin to undo it."""

    def healed(self) -> Mapping[str, object]:
        """Wait until it is undone; what the journal should know of it."""

    def evidence_healed(self) -> Evidence:
        """Whether all is as before."""
