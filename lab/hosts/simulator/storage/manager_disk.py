"""The disk of a simulated Active Manager: its real database, with time and loss as any simulated
server's has them.
"""

from lab.hosts.simulator.event_loop import World
from lab.hosts.simulator.random_delays import Chance
from lab.hosts.simulator.storage.disk import Fail, Give, OpenDatabases, SimulatedDisk
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import (
    DatabaseOpened,
    FrontEndStarted,
    Input,
    ManagerOpened,
)
from nodes.store.manager_database import ManagerDatabase, manager_database_in_memory
from nodes.store.queue.database import queue_database_in_memory

MANAGER = "manager.db"


class SimulatedManagerDisk(SimulatedDisk):
    """What survives its process. There is no queue database on it."""

    def __init__(
        self, world: World, server: str, seed: int, medium: InMemory | OnFiles | None = None
    ) -> None:
        super().__init__(world, server, seed, medium)
        self._manager: ManagerDatabase | None = None

    def plug_in(
        self, give: Give, fail: Fail, now_ms: int
    ) -> tuple[OpenDatabases, DatabaseOpened | ManagerOpened | FrontEndStarted]:
        is_there = self.medium.place_of(MANAGER) is not None
        created = self._manager is None and not is_there
        if self._manager is None and is_there:
            self._manager = ManagerDatabase(self.medium.open(MANAGER))
        elif self._manager is None:
            new = manager_database_in_memory(now_ms, self._new_database_id())
            self._manager = ManagerDatabase(self.medium.keep(MANAGER, new.connection))
        self._manager.limit_growth(self._is_full)
        opened = self._manager.start(created)
        self.databases = OpenManagerDatabase(
            self, self._manager, self._world, self._chance, give, fail
        )
        return self.databases, opened

    def set_queue_database_aside(self) -> None:
        """The next life finds no database."""
        if self._manager is not None:
            self._manager.close()
            self._manager = None
        self.medium.drop(MANAGER)

    def _open_anew(self) -> None:
        self._manager = None

    def fill(self, is_full: bool) -> None:
        super().fill(is_full)
        if self._manager is not None:
            self._manager.limit_growth(is_full)


class OpenManagerDatabase(OpenDatabases):
    """The database as one process has it open."""

    def __init__(
        self,
        disk: SimulatedDisk,
        manager: ManagerDatabase,
        world: World,
        chance: Chance,
        give: Give,
        fail: Fail,
    ) -> None:
        super().__init__(disk, queue_database_in_memory(0, ""), world, chance, give, fail)
        self._manager = manager

    def _carry_out(self) -> tuple[Input, ...]:
        commits = [effect for effect in self._writing if isinstance(effect, Commit)]
        return self._manager.commit(commits)
