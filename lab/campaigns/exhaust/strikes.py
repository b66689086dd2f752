"""One fault at one event: what can be struck where, and the plan that says so.

At a server's door, and in the middle of what its disk writes, it is killed, and comes back with its
queue database, or its power goes, and it comes back with what was durable; at the door it may come
back with a new queue database too. Over a link, what is said is the first thing to be lost: a
message on its way to the target, or a reply on its way back. Every strike is an ordinary fault of
the plan, so that it is in the record with its evidence and judged like any other; only its
beginning is more exact than a plan can say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from lab.hosts.simulator.events import Event
from lab.plan.faults import Fault, Kill, PowerLoss, ReturnsWith
from lab.plan.link_faults import Cut, CutKind
from lab.plan.parts import Expect
from lab.plan.plan import Plan
from lab.plan.topology import LinkName

Kind: TypeAlias = Literal["kill", "power-loss", "disk-lost", "message-lost", "reply-lost"]
OF_A_PROCESS: tuple[Kind, ...] = ("kill", "power-loss")
KINDS: tuple[Kind, ...] = ("kill", "power-loss", "disk-lost", "message-lost", "reply-lost")

AWAY_MS = 10_000
LOST_MS = 60_000
RETURNS: dict[Kind, ReturnsWith] = {
    "kill": "same-queue-database",
    "disk-lost": "new-queue-database",
}
DONE_TO_SERVER: dict[Kind, str] = {
    "kill": "is killed",
    "power-loss": "loses its power",
    "disk-lost": "is killed and loses its queue database",
}
CUTS: dict[Kind, CutKind] = {"message-lost": "blackhole", "reply-lost": "ack-lost"}


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault that begins at the event of that number."""

    kind: Kind
    number: int
    event: Event

    @property
    def name(self) -> str:
        """`kill@17`; the same in every sitting."""
        return f"{self.kind}@{self.number}"

    @property
    def end_ms(self) -> int:
        """When it is healed, in lab ms."""
        is_over_link = isinstance(self.event.where, LinkName)
        return self.event.at_ms + (LOST_MS if is_over_link else AWAY_MS)

    def in_words(self) -> str:
        """`par-mbx1 is killed at 0:02:00.120, before MessageOffered <m1@lab>`."""
        at, where, what = _lab_time(self.event.at_ms), self.event.where, self.event.what
        if isinstance(where, LinkName):
            back = "" if self.kind == "message-lost" else " back"
            link = f"{where.source} to {where.target}"
            return f"{what} over {link} is lost on its way{back} at {at}"
        when = "in the middle of" if self.event.side == "disk" else "before"
        return f"{where} {DONE_TO_SERVER[self.kind]} at {at}, {when} {what}"


def strikes_at(plan: Plan, events: Sequence[Event]) -> list[Strike]:
    """Every single fault at `events`, from the first to the last."""
    others = {each.name for each in plan.topology.servers if each.role != "mailbox"}
    return [
        Strike(kind, number, event)
        for number, event in enumerate(events)
        for kind in _kinds(event, others)
    ]


def _kinds(event: Event, others: set[str]) -> tuple[Kind, ...]:
    """Active Manager and front ends have no queue database to lose."""
    if event.side == "disk":
        return OF_A_PROCESS
    if event.side == "door":
        return OF_A_PROCESS if event.where in others else (*OF_A_PROCESS, "disk-lost")
    return ("message-lost",) if event.side == "forward" else ("reply-lost",)


def struck(plan: Plan, strikes: Sequence[Strike]) -> tuple[Plan, dict[int, str]]:
    """The plan with the faults that `strikes` are, and which of them begins at which event.

    There is as much time after the last of them as after the last fault of a scenario. What the
    scenario expects and proves was said of the plan without them. Where faults are two, what
    both of them took away is excused, by its evidence.
    """
    first = len(plan.faults) + 1
    added = [_fault(strike, f"f{n}") for n, strike in enumerate(strikes, start=first)]
    last_ms = max([strike.end_ms for strike in strikes] + [plan.last_heal_ms or 0])
    faults = (*plan.faults, *added)
    excused = (0, len(plan.messages)) if len(faults) > 1 else None
    changed = replace(
        plan,
        proves=(),
        faults=faults,
        last_heal_ms=last_ms,
        duration_ms=max(plan.duration_ms, last_ms + plan.settle_ms),
        expect=Expect(lost=None, unprotected_loss=excused, promotions=None, verdict="pass"),
    )
    begin = {strike.number: fault.id for strike, fault in zip(strikes, added, strict=True)}
    return changed, begin


def _fault(strike: Strike, name: str) -> Fault:
    at_ms, end_ms, where = strike.event.at_ms, strike.end_ms, strike.event.where
    if isinstance(where, LinkName):
        return Cut(name, "cut", at_ms, end_ms, CUTS[strike.kind], (where,))
    if strike.kind == "power-loss":
        return PowerLoss(name, "power_loss", at_ms, end_ms, where)
    return Kill(name, "kill", at_ms, end_ms, where, RETURNS[strike.kind])


def overlap(first: Strike, second: Strike) -> bool:
    """Both are of one link, and the second begins before the first is healed."""
    is_same = first.event.where == second.event.where
    return is_same and isinstance(first.event.where, LinkName) and _begins_in(first, second)


def _begins_in(first: Strike, second: Strike) -> bool:
    return first.event.at_ms <= second.event.at_ms <= first.end_ms


def _lab_time(at_ms: int) -> str:
    seconds, ms = divmod(at_ms, 1000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"
