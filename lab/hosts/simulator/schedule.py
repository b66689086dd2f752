"""The timeline of faults in virtual time: the same faults and the same journal as on containers.

Starts and stops happen at their lab time; evidence is looked for a moment later, when no server is
on its way down, and a fault counts as healed when every server is up again that was on its way.
"""

from collections.abc import Callable, Collection, Sequence

from lab.faults.at_breakpoint import AtPlace
from lab.faults.fault import Fault
from lab.faults.observer.evidence import Evidence, unseen
from lab.hosts.simulator.event_loop import MS, World
from lab.program.errors import GroundError
from lab.schedule.administered import Administered
from lab.schedule.breakpoint_waits import Waiting
from lab.schedule.journal import Journal, Phase
from lab.schedule.schedule import Event, events_of, is_for_good

LOOK_AFTER_US = 100 * MS
TOLD_US = 10 * MS  # until the lab has seen that a server is held
GIVE_UP_US = 1_000 * MS


class SimulatedSchedule:
    """Runs the faults of one run; events are in the world from the start."""

    def __init__(
        self,
        world: World,
        faults: Sequence[Fault | AtPlace],
        journal: Journal,
        is_settled: Callable[[], bool],
        struck: Collection[str] = (),
    ) -> None:
        """`struck`: ids of the faults that begin when `strike` says so, not at their time."""
        self._world, self._journal = world, journal
        timed = [fault for fault in faults if not isinstance(fault, AtPlace)]
        self._struck = {fault.id: fault for fault in timed if fault.id in struck}
        self._faults = [fault for fault in timed if fault.id not in struck]
        self._waiting = Waiting(faults, journal)
        self._is_settled = is_settled
        self._begun: list[Fault] = []
        for event in events_of(self._faults):
            world.at(event.at_ms * MS, self._act, event)
        world.at(0, self._waiting.arm)
        for until_ms in self._waiting.until_ms:
            world.at(until_ms * MS + GIVE_UP_US, self._give_up)

    def strike(self, fault_id: str) -> None:
        """At once, in the middle of what happens."""
        fault = self._struck[fault_id]
        self._start_until_its_end(fault)

    def look(self) -> None:
        """A server is held: the lab sees it in a moment."""
        self._world.after(TOLD_US, self._begin)

    def heal(self) -> None:
        """Stop what was begun and not stopped, last first."""
        self._waiting.let_all_go()
        for fault in reversed([each for each in self._begun if not is_for_good(each)]):
            self._stop(fault)

    def _begin(self) -> None:
        """Apply what waited for this, then let the server go on."""
        for reached in self._waiting.reached():
            fault = reached.begin(self._world.now_ms())
            self._start_until_its_end(fault)
            reached.let_go()

    def _give_up(self) -> None:
        self._waiting.give_up(self._world.now_ms())

    def _act(self, event: Event) -> None:
        fault = self._faults[event.index]
        if event.is_start:
            self._start(fault)
        else:
            self._stop_if_begun(fault)

    def _stop_if_begun(self, fault: Fault) -> None:
        if fault in self._begun:
            self._stop(fault)

    def _start_until_its_end(self, fault: Fault) -> None:
        self._start(fault)
        if not is_for_good(fault):
            self._world.at(fault.end_ms * MS, self._stop_if_begun, fault)

    def _start(self, fault: Fault) -> None:
        self._begun.append(fault)
        self._journal.write(fault.id, Phase.INTENDED, fault.intent())
        self._journal.write(fault.id, Phase.APPLIED, fault.start())
        self._world.after(LOOK_AFTER_US, self._witness, fault)

    def _witness(self, fault: Fault) -> None:
        if not self._is_settled():
            self._world.after(10 * MS, self._witness, fault)
            return
        if isinstance(fault, Administered) and not fault.is_over():
            self._world.after(LOOK_AFTER_US, self._witness, fault)
            return
        seen = fault.evidence()
        if fault not in self._begun and fault.start_ms < fault.end_ms:
            seen = unseen(fault.confirmed())
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
        try:
            self._journal.write(fault.id, Phase.HEALED, fault.healed())
            seen = fault.evidence_healed()
        except GroundError as error:
            if self._begun:  # another fault may have its server down, as on containers
                self._world.after(10 * MS, self._see_it_healed, fault)
                return
            seen = Evidence(False, (), str(error))  # its server has crashed
        self._journal.write(fault.id, Phase.EVIDENCE_HEALED, seen.row())
