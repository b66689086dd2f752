"""The disk of a simulated Active Manager: its real database, in memory, with time and loss as any
simulated server's has them.
"""

from lab.hosts.simulator.chance import Chance
from lab.hosts.simulator.disk import Disk, Fail, Give, Life
from lab.hosts.simulator.world import World
from nodes.core.effects import Commit
from nodes.core.inputs import DatabaseOpened, Input, ManagerOpened
from nodes.store.manager_database import ManagerDatabase, manager_database_in_memory
from nodes.store.queue_database import queue_database_in_memory


class ManagerDisk(Disk):
    """What survives its process. There is no queue database on it."""

    def __init__(self, world: World, server: str, seed: int) -> None:
        super().__init__(world, server, seed)
        self._manager: ManagerDatabase | None = None

    def plug_in(
        self, give: Give, fail: Fail, now_ms: int
    ) -> tuple[Life, DatabaseOpened | ManagerOpened]:
        created = self._manager is None
        if self._manager is None:
            self._manager = manager_database_in_memory(now_ms, self._new_database_id())
        opened = self._manager.start(created)
        self.life = ManagerLife(self, self._manager, self._world, self._chance, give, fail)
        return self.life, opened

    def set_queue_database_aside(self) -> None:
        """The next life finds no database."""
        self._manager = None

    def fill(self, is_full: bool) -> None:
        super().fill(is_full)
        if self._manager is not None:
            self._manager.limit_growth(is_full)


class ManagerLife(Life):
    """The database as one process has it open."""

    def __init__(
        self,
        disk: Disk,
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
