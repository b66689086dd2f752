"""Operations: what an administrator asks of Active Manager, each at its time, between the faults.

An instant that nobody heals. It is said to Active Manager by its own certificate and past every
link, as by somebody who is logged in there; its evidence is the answer.
"""

from collections.abc import Callable, Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan import parts as plan_parts
from lab.plan.plan import Plan

DECIDED = "250"


class Asked:
    """One operation of a plan, in the shape of a fault (`lab.faults.fault`)."""

    def __init__(self, planned: plan_parts.Operation, manager: str, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.at_ms, planned.at_ms
        self._planned, self._manager, self._lab = planned, manager, lab
        self._reply: Callable[[], str] = lambda: ""

    def describe(self) -> str:
        to = f" to {self._planned.to}" if self._planned.to else ""
        return f"{self._planned.kind} of {self._planned.database}{to}"

    def intent(self) -> Mapping[str, object]:
        planned = self._planned
        return {"kind": planned.kind, "database": planned.database, "to": planned.to}

    def start(self) -> Mapping[str, object]:
        self._reply = self._lab.servers.ask(self._manager, self._planned)
        return {"asked": self._manager}

    def evidence(self) -> Evidence:
        """True when Active Manager decided on it."""
        reply = self._reply()
        if not reply:
            return Evidence(False, (), f"{self._manager} did not answer")
        return Evidence(reply.startswith(DECIDED), (), reply)

    def confirmed(self) -> Evidence:
        return Evidence(None, ())

    def stop(self) -> None:
        """Nobody heals it."""

    def healed(self) -> Mapping[str, object]:
        return {}

    def evidence_healed(self) -> Evidence:
        return Evidence(True, ())


def operations_of(plan: Plan, lab: RunningLab) -> list[Asked]:
    """The operations of a plan, ready for the schedule."""
    managers = [each.name for each in plan.topology.servers if each.role == "active_manager"]
    return [Asked(planned, managers[0], lab) for planned in plan.operations]
