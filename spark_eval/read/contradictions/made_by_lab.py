"""What there is to hold a record against, and the shape in which a contradiction is named."""

from __future__ import annotations

from spark_eval.fault_kinds import SERVER, Does, kinds
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading
from spark_eval.read.names import Ref

UNSTEADY = kinds(SERVER, Does.AWAY, Does.IN_DOUBT)
ROUNDED_MS = 1


def found(file: str, line: int | None, damage: str) -> Damage:
    """It is damage of its file, by the server '': nothing of a server's log is excused by it."""
    return Damage("", file, line, damage)


def found_at(ref: Ref, damage: str) -> Damage:
    return found(ref.file, ref.line, damage)


def has_ended(heading: Heading) -> bool:
    """Whether the lab said that it went to its end. A simulated run has a record only if it did."""
    return heading.host.exit == 0 or heading.is_simulated


def is_steady(heading: Heading) -> bool:
    """Whether no fault was to take a server or its disk away."""
    return not any(fault.kind in UNSTEADY for fault in heading.plan.faults)
