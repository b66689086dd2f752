"""In place of a disk: a simulated front end keeps messages in memory while their clients wait."""

from lab.hosts.simulator.storage.disk import Fail, Give, OpenDatabases, SimulatedDisk
from nodes.core.interface.inputs import DatabaseOpened, FrontEndStarted, ManagerOpened
from nodes.shell.storage.no_disk import NOTHING_KEPT
from nodes.shell.storage.writing import Store, Write
from nodes.store.queue.database import queue_database_in_memory


class SimulatedFrontEndDisk(SimulatedDisk):
    """Nothing survives its process."""

    def plug_in(
        self, give: Give, fail: Fail, now_ms: int
    ) -> tuple[OpenDatabases, DatabaseOpened | ManagerOpened | FrontEndStarted]:
        nothing = queue_database_in_memory(0, "")
        self.databases = Nothing(self, nothing, self._world, self._chance, give, fail)
        return self.databases, FrontEndStarted()


class Nothing(OpenDatabases):
    """Nothing can be written."""

    def write(self, effect: Write) -> None:
        raise AssertionError(f"{NOTHING_KEPT}: {effect}")

    def deliver(self, effect: Store) -> None:
        raise AssertionError(f"{NOTHING_KEPT}: {effect}")
