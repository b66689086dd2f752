"""A plan as a value: what plan.json holds, and nothing of how it came to be."""

from dataclasses import dataclass, field
from typing import Literal

from lab.plan.check import check_plan
from lab.plan.faults import Fault, PowerLoss
from lab.plan.operations import Operation
from lab.plan.parts import Clock, Expect, Message, Settings, Stranger
from lab.plan.topology import Link, PlanTopology
from lab.program.json_record import LEFT_OUT_IF_EMPTY, from_text, to_line, to_text


@dataclass(frozen=True, slots=True)
class Plan:
    """What plan.json holds; `…_ms` is lab milliseconds since the start of lab time."""

    version: Literal[1]
    scenario: str
    summary: str
    proves: tuple[str, ...]
    tags: tuple[str, ...]
    seed: int
    seed_from: Literal["scenario", "argument"]
    clock: Clock
    duration_ms: int
    workload_end_ms: int
    last_heal_ms: int | None
    settle_ms: int
    topology: PlanTopology
    settings: Settings
    links: tuple[Link, ...]
    messages: tuple[Message, ...]
    faults: tuple[Fault, ...]
    operations: tuple[Operation, ...]
    expect: Expect
    strangers: tuple[Stranger, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)

    @property
    def powerless(self) -> frozenset[str]:
        """Servers whose power goes at some time."""
        return frozenset(each.server for each in self.faults if isinstance(each, PowerLoss))

    def to_json(self) -> str:
        """The text of plan.json."""
        return to_text(self)

    def to_line(self) -> str:
        """The same in one line."""
        return to_line(self)

    @staticmethod
    def from_json(text: str) -> "Plan":
        """The plan that a plan.json holds. Raises ValueError with the place of what is wrong."""
        plan = from_text(Plan, text)
        check_plan(plan)
        return plan
