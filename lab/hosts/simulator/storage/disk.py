"""The disk of a simulated server: the real queue and mailbox databases, with time and loss.

What is being written takes a drawn time and is answered then. When the process is killed, a
transaction under way is there whole or not at all, as the seed says, and nobody got an answer; what
waited is lost (TL-7). When the power goes, what its medium has not made durable may be gone too.
Commits that wait share the next transaction, as in `nodes.shell.storage.disk`.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from lab.faults.damage import damaged
from lab.hosts.simulator.event_loop import World
from lab.hosts.simulator.random_delays import COMMIT_US, Chance
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from nodes.core.interface.effects import MeasureConverted, ReadSafetyNet
from nodes.core.interface.inputs import (
    DatabaseOpened,
    DatabaseSetAside,
    DiskMeasured,
    FrontEndStarted,
    Input,
    ManagerOpened,
)
from nodes.core.model.message import BodyHandle
from nodes.shell.chaos.breakpoints import InGroup, nowhere
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.volume import bytes_wanted
from nodes.shell.storage.writing import (
    Answers,
    Store,
    Write,
    let_go_of_stored,
    next_group,
    store,
    write_group,
)
from nodes.store import sqlite_file
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue.changes import StateMismatch
from nodes.store.queue.database import KIND, QueueDatabase, queue_database_in_memory

Give: TypeAlias = Callable[[Input], None]
Fail: TypeAlias = Callable[[Exception], None]

QUEUE = "queue.db"
MEASURED_US = 500


class SimulatedDisk:
    """What survives the server's process; `plug_in` for each life of it."""

    def __init__(
        self, world: World, server: str, seed: int, medium: InMemory | OnFiles | None = None
    ) -> None:
        self._world, self._server = world, server
        self._chance = Chance(seed, "disk", server)
        self._ids = Chance(seed, "database id", server)
        self.medium = medium or InMemory()
        self.when_writing: Callable[[Write | Store], None] = lambda written: None
        self.in_group: InGroup = nowhere
        self._queue: QueueDatabase | None = None
        self.mailboxes: dict[str, MailboxDatabase] = {}
        self.databases: OpenDatabases | None = None
        self._is_full = False
        self.volume_bytes = self._percent = self._ballast_bytes = 0

    def plug_in(
        self, give: Give, fail: Fail, now_ms: int
    ) -> tuple["OpenDatabases", DatabaseOpened | ManagerOpened | FrontEndStarted]:
        """A new life of the process: open the databases. `fail` hears of a mistake of ours;
        `now_ms` is the server's own time. One that cannot be trusted is set aside, as a file is.
        """
        reason = self._find_queue()
        created = self._queue is None
        if self._queue is None:
            new = queue_database_in_memory(now_ms, self._new_database_id())
            self._queue = QueueDatabase(self.medium.keep(QUEUE, new.connection))
        self._queue.limit_growth(self._is_full)
        opened = self._queue.start(created)
        self.use(self._percent)
        self.databases = OpenDatabases(self, self._queue, self._world, self._chance, give, fail)
        if reason is not None:
            give(DatabaseSetAside(QUEUE, f"{QUEUE}.old", reason))
        return self.databases, opened

    def _find_queue(self) -> str | None:
        """Open what there is; why it is set aside, where it cannot be trusted."""
        place = self.medium.place_of(QUEUE)
        if self._queue is not None:
            reason = self._queue.distrust()
        elif place is not None:
            reason = sqlite_file.damage(place, KIND)
        else:
            return None
        if reason is not None:
            self.set_queue_database_aside()
        elif self._queue is None and place is not None:
            self._queue = QueueDatabase(self.medium.open(QUEUE))
        return reason

    def pull_plug(self) -> None:
        """SIGKILL: what was handed to the operating system is there."""
        if self.databases is not None:
            self.databases.end(self._chance)
            self.databases = None

    def lose_power(self) -> None:
        """The next life finds what was durable, and of the rest what chance left."""
        self.medium.lose_power(() if self.databases is None else self.databases.break_off())
        self.databases = None
        self._open_anew()

    def _open_anew(self) -> None:
        """The queue database is the next life's to open."""
        self._queue = None
        names = list(self.mailboxes)
        self.mailboxes.clear()
        for name in names:
            with suppress(sqlite3.Error):  # nobody mends it, and nobody reads it again
                self.mailbox_database(name)

    def set_queue_database_aside(self) -> None:
        """The next life finds none."""
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        self.medium.drop(QUEUE)

    def lose_everything(self) -> None:
        """The next life, if there is one, finds a new disk."""
        self.set_queue_database_aside()
        for name, database in self.mailboxes.items():
            database.close()
            self.medium.drop(_file_of(name))
        self.mailboxes.clear()

    def damage_queue_database(self) -> None:
        """Of a server that is down: what its next life finds cannot be read."""
        if self._queue is not None:
            image = damaged(self._queue.connection.serialize())
            self.set_queue_database_aside()
            found = self.medium.put(QUEUE, image)
            self._queue = None if found is None else QueueDatabase(found)

    def fill(self, is_full: bool) -> None:
        """No database grows from now on; or each may again. The queue database of a server that is
        down may be damaged: its next life, which finds that out, does this.
        """
        self._is_full = is_full
        if self._queue is not None and self.databases is not None:
            self._queue.limit_growth(is_full)
        for database in self.mailboxes.values():
            database.limit_growth(is_full)

    def use(self, percent: int) -> None:
        """Somebody else uses so much of the volume that so many percent are in use now."""
        self._percent = percent
        own_bytes = 0 if self._queue is None else self._queue.used_bytes
        self._ballast_bytes = bytes_wanted(self.volume_bytes, percent, own_bytes)

    @property
    def used_bytes(self) -> int:
        return self._ballast_bytes + (0 if self._queue is None else self._queue.used_bytes)

    @property
    def queue_connection(self) -> sqlite3.Connection | None:
        return None if self._queue is None else self._queue.connection

    def mailbox_database(self, name: str) -> MailboxDatabase:
        """Open. Raises sqlite3.Error where a power loss has left it damaged."""
        if name not in self.mailboxes:
            self.mailboxes[name] = self._open_mailboxes(name)
            self.mailboxes[name].limit_growth(self._is_full)
        return self.mailboxes[name]

    def _open_mailboxes(self, name: str) -> MailboxDatabase:
        file = _file_of(name)
        if self.medium.place_of(file) is not None:
            return MailboxDatabase(self.medium.open(file))
        new = MailboxDatabase.in_memory(name, self._server)
        return MailboxDatabase(self.medium.keep(file, new.connection))

    def _new_database_id(self) -> str:
        digits = [self._ids.hex(count) for count in (8, 4, 3, 3, 12)]
        return f"{digits[0]}-{digits[1]}-4{digits[2]}-8{digits[3]}-{digits[4]}"


def _file_of(mailbox_database: str) -> str:
    return f"mailbox-{mailbox_database}.db"


class OpenDatabases:
    """The databases as one process has them open. After `end` nothing is answered."""

    def __init__(
        self,
        disk: SimulatedDisk,
        queue: QueueDatabase,
        world: World,
        chance: Chance,
        give: Give,
        fail: Fail,
    ) -> None:
        self._disk, self._queue, self._world = disk, queue, world
        self._chance, self._give, self._fail = chance, give, fail
        self.bodies = Bodies(queue.read_body, self._read_copy)
        self._waiting: list[Write] = []
        self._writing: list[Write] = []
        self._deliveries: deque[Store] = deque()
        self._is_over = self._is_halfway = False

    def write(self, effect: Write) -> None:
        self._waiting.append(effect)
        if not self._writing:
            self._write_next()

    def _write_next(self) -> None:
        self._writing = next_group(self._waiting)
        self._world.after(self._chance.mostly_short(*COMMIT_US), self._written)

    def _written(self) -> None:
        if self._is_over or self._is_struck(self._writing[0]):
            return
        tell = self._disk.in_group(self._finish) if len(self._writing) > 1 else None
        if tell is None:
            self._finish()
        else:
            self._is_halfway = True
            tell()

    def _finish(self) -> None:
        self._is_halfway = False
        group = self._writing
        try:
            answers = self._carry_out()
        except StateMismatch as mistake:
            self._fail(mistake)
            return
        self._writing = []
        if self._waiting:
            self._write_next()
        for effect, answer in zip(group, answers, strict=True):
            let_go_of_stored(self.bodies, effect, answer)
            self._give(answer)

    def _carry_out(self) -> Answers:
        return write_group(self._queue, self.bodies, self._writing)

    def deliver(self, effect: Store) -> None:
        self._deliveries.append(effect)
        if len(self._deliveries) == 1:
            self._deliver_next()

    def _deliver_next(self) -> None:
        self._world.after(self._chance.mostly_short(*COMMIT_US), self._delivered)

    def _delivered(self) -> None:
        if self._is_over or self._is_struck(self._deliveries[0]):
            return
        try:
            answer = self._store(self._deliveries.popleft())
        except StateMismatch as mistake:
            self._fail(mistake)
            return
        if self._deliveries:
            self._deliver_next()
        self._give(answer)

    def _store(self, effect: Store) -> Input:
        return store(self._disk.mailbox_database, self.bodies, effect)

    def _read_copy(self, handle: BodyHandle) -> bytes | None:
        return self._disk.mailbox_database(handle.split(":")[1]).read(handle)

    def measure(self) -> None:
        self._world.after(MEASURED_US, self._measured)

    def count(self, session: str) -> None:
        self._world.after(MEASURED_US, self._counted, session)

    def _counted(self, session: str) -> None:
        if not self._is_over:
            self._give(self._queue.count_copies(session))

    def _measured(self) -> None:
        if not self._is_over:
            self._give(DiskMeasured(self._disk.used_bytes))

    def read(self, handle: BodyHandle) -> bytes:
        """The bytes behind a handle. Raises BodyGone."""
        return self.bodies.fetch(handle)

    def _is_struck(self, written: Write | Store) -> bool:
        """A fault that begins in the middle of it has ended the process."""
        if not isinstance(written, ReadSafetyNet | MeasureConverted):
            self._disk.when_writing(written)
        return self._is_over

    @property
    def is_busy(self) -> bool:
        return bool(self._writing or self._deliveries)

    def end(self, chance: Chance) -> None:
        """What is under way may have become durable, without a word; what was held in the middle
        has not.
        """
        self._is_over = True
        if self._writing and chance.happens(0.5) and not self._is_halfway:
            self._carry_out_in_vain()
        if self._deliveries and chance.happens(0.5):
            self._store(self._deliveries[0])

    def break_off(self) -> Sequence[Callable[[], object]]:
        """The same at a power loss: what is under way, to be carried out as far as the power is
        there.
        """
        self._is_over = True
        begun: list[Callable[[], object]] = []
        if self._deliveries:
            begun.append(partial(self._store, self._deliveries[0]))
        if self._writing:
            begun.append(self._carry_out_in_vain)
        return begun

    def _carry_out_in_vain(self) -> None:
        with suppress(StateMismatch):  # that may be why it ends
            self._carry_out()
