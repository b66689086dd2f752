"""The timeline of faults in virtual time: the same faults and the same journal as on containers.

Starts and stops happen at their lab time; evidence is looked for a moment later, when no server is
on its way down, and a fault counts as healed when every server is up again that was on its way.
"""

from collections.abc import Callable, Sequence

from lab.evidence import Evidence
from lab.faults.fault import Fault
from lab.faults.journal import Journal, Phase
from lab.faults.schedule import Event, events_of
from lab.hosts.simulator.world import MS, World

LOOK_AFTER_US = 100 * MS


class SimulatedSchedule:
    """Runs the faults of one run; events are in the world from the start."""

    def __init__(
        self,
        world: World,
        faults: Sequence[Fault],
        journal: Journal,
        is_settled: Callable[[], bool],
    ) -> None:
        self._world, self._faults, self._journal = world, list(faults), journal
        self._is_settled = is_settled
        self._begun: list[Fault] = []
        for event in events_of(self._faults):
            world.at(event.at_ms * MS, self._act, event)

    def heal(self) -> None:
        """Stop what was begun and not stopped, last first."""
        for fault in reversed(self._begun.copy()):
            self._stop(fault)

    def _act(self, event: Event) -> None:
        fault = self._faults[event.index]
        if event.is_start:
            self._start(fault)
        elif fault in self._begun:
            self._stop(fault)

    def _start(self, fault: Fault) -> None:
        self._begun.append(fault)
        self._journal.write(fault.id, Phase.INTENDED, fault.intent())
        self._journal.write(fault.id, Phase.APPLIED, fault.start())
        self._world.after(LOOK_AFTER_US, self._witness, fault)

    def _witness(self, fault: Fault) -> None:
        if not self._is_settled():
            self._world.after(10 * MS, self._witness, fault)
            return
        seen = fault.evidence()
        if fault not in self._begun and fault.start_ms < fault.end_ms:
            seen = Evidence(None, seen.observations, "it was healed before it could be observed")
        self._journal.write(fault.id, Phase.EVIDENCE, seen.row())

    def _stop(self, fault: Fault) -> None:
        self._journal.write(fault.id, Phase.HEAL_INTENDED, {})
        fault.stop()
        self._begun.remove(fault)
        self._see_it_healed(fault)

    def _see_it_healed(self, fault: Fault) -> None:
        if not self._is_settled():
            self._world.after(10 * MS, self._see_it_healed, fault)
            return
        self._journal.write(fault.id, Phase.HEALED, fault.healed())
        self._journal.write(fault.id, Phase.EVIDENCE_HEALED, fault.evidence_healed().row())
