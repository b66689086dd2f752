"""An operation on Active Directory, which the lab stands for: the members of a group change.

No server is asked. Active Directory is always there, so each mailbox server is given what it holds
now: one that runs reads it at once, one that is paused when it goes on, one that is down when it
starts. Evidence is that each server which runs goes by it.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan.operations import ChangeGroup, groups_after
from lab.program.errors import GroundError
from lab.schedule.administered import Administered

READ_WITHIN_SECONDS = 20.0
LOOK_EVERY_SECONDS = 0.01


class DirectoryChange(Administered):
    """One change of a plan."""

    def __init__(self, planned: ChangeGroup, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned = planned
        topology = lab.plan.topology
        self._servers = [each.name for each in topology.servers if each.role == "mailbox"]

    def start(self) -> Mapping[str, object]:
        plan = self._lab.plan
        groups = groups_after(self._planned, plan.operations, plan.topology.groups)
        for server in self._servers:
            self._lab.servers.change_directory(server, groups)
        return {"asked": list(self._servers)}

    def evidence(self) -> Evidence:
        """True when every server that runs goes by it."""
        deadline_ns = self._lab.monotonic_ns() + round(READ_WITHIN_SECONDS * 1e9)
        while behind := [each for each in self._servers if self._is_behind(each)]:
            is_late = self._lab.monotonic_ns() > deadline_ns
            if is_late or self._lab.ending.wait(LOOK_EVERY_SECONDS):
                said = "did not say that it has read the change"
                return Evidence(None, (), f"{', '.join(behind)} {said}")
        return Evidence(True, (), "every server that runs has read it")

    def _is_behind(self, server: str) -> bool:
        servers = self._lab.servers
        try:
            if servers.goes_by_directory(server):
                return False
            return servers.is_running(server) and not servers.is_paused(server)
        except GroundError:  # on its way down or up
            return True
