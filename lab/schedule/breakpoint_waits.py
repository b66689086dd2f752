"""The faults of one run that wait for breakpoints, and what the journal says of them.

Looks at what servers report and starts nothing. A breakpoint that is not reached while mail is sent
is given up: the fault has no evidence, and nothing to heal.
"""

from collections.abc import Iterable

from lab.faults.at_breakpoint import AtPlace
from lab.faults.fault import Fault
from lab.faults.observer.evidence import Evidence
from lab.program.errors import GroundError
from lab.schedule.journal import Journal, Phase


class Waiting:
    """Use `arm`, then `reached` and `give_up` again and again, then always `let_all_go`."""

    def __init__(self, faults: Iterable[Fault | AtPlace], journal: Journal) -> None:
        self._left = [fault for fault in faults if isinstance(fault, AtPlace)]
        self._journal = journal

    @property
    def is_over(self) -> bool:
        """Nothing is waited for any more."""
        return not self._left

    @property
    def until_ms(self) -> list[int]:
        """When each that waits is to be given up, in lab ms."""
        return [fault.until_ms for fault in self._left]

    def arm(self) -> None:
        for fault in self._left:
            span = {"from_ms": fault.from_ms, "until_ms": fault.until_ms}
            self._journal.write(fault.id, Phase.ARMED, {**fault.place(), **span})

    def reached(self) -> list[AtPlace]:
        """Those whose servers are held since the last look; nobody waits for them any more."""
        found = []
        for fault in self._left.copy():
            where = fault.reached()
            if where is not None:
                self._left.remove(fault)
                seen = {f"reached_{name}": value for name, value in where.items()}
                self._journal.write(fault.id, Phase.REACHED, {**fault.place(), **seen})
                found.append(fault)
        return found

    def give_up(self, now_ms: float) -> list[AtPlace]:
        """Those whose time was over before now."""
        late = [fault for fault in self._left if fault.until_ms < now_ms]
        for fault in late:
            self._left.remove(fault)
            fault.let_go()
            reason = f"its place was never reached: {fault.describe()}"
            self._journal.write(fault.id, Phase.EVIDENCE, Evidence(None, (), reason).row())
            self._journal.write(fault.id, Phase.HEALED, {})
            trivially = Evidence(True, (), "it never began")
            self._journal.write(fault.id, Phase.EVIDENCE_HEALED, trivially.row())
        return late

    def let_all_go(self) -> list[str]:
        """The run ends: no server is held any more. What went wrong, in words."""
        complaints = []
        for fault in self._left:
            try:
                fault.let_go()
            except GroundError as error:
                complaints.append(str(error))
        self._left.clear()
        return complaints
