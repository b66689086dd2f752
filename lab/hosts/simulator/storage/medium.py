"""What the databases of a simulated server lie on: memory, or files that a power loss can hurt.

A plan in which a server's power goes has files under its databases; for all others, memory does the
same and is quicker.
"""

import atexit
import sqlite3
from collections.abc import Callable, Sequence
from weakref import WeakSet

from lab.hosts.simulator.random_delays import Chance
from lab.hosts.simulator.storage.sqlite_files import uri_of
from lab.hosts.simulator.storage.written_files import Files
from nodes.store import sqlite_file


class InMemory:
    """A database is there as long as its connection."""

    def keep(self, name: str, new: sqlite3.Connection) -> sqlite3.Connection:
        """Have the new database under that name; its connection from now on."""
        return new

    def put(self, name: str, image: bytes) -> sqlite3.Connection | None:
        """Have these bytes there; a connection to them, where nobody else could find them."""
        found = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        found.deserialize(image)
        return found

    def place_of(self, name: str) -> str | None:
        """What SQLite finds it by when its connection is gone; None where there is none."""
        return None

    def open(self, name: str) -> sqlite3.Connection:
        """What there is at `place_of`. Raises sqlite3.Error."""
        raise AssertionError("a database in memory is gone with its connection")

    def drop(self, name: str) -> None:
        """Nobody finds it any more."""

    def lose_power(self, under_way: Sequence[Callable[[], object]]) -> None:
        raise AssertionError("a power loss needs files")


class OnFiles:
    """A database is a file with its journal beside it, under the pragmas of `connect`."""

    def __init__(self, seed: int, server: str) -> None:
        self._files, self._chance = Files(), Chance(seed, "power", server)
        self._connections: list[sqlite3.Connection] = []
        _all.add(self)

    def keep(self, name: str, new: sqlite3.Connection) -> sqlite3.Connection:
        self._files.keep(name, new.serialize())
        new.close()
        return self.open(name)

    def put(self, name: str, image: bytes) -> sqlite3.Connection | None:
        self._files.keep(name, image)
        return None

    def place_of(self, name: str) -> str | None:
        return uri_of(self._files, name) if self._files.has(name) else None

    def open(self, name: str) -> sqlite3.Connection:
        connection = sqlite_file.connect(uri_of(self._files, name))
        self._connections.append(connection)
        return connection

    def drop(self, name: str) -> None:
        self._files.drop(name, *(name + end for end in ("-wal", "-journal")))

    def lose_power(self, under_way: Sequence[Callable[[], object]]) -> None:
        """Every connection is closed; each of `under_way` is broken off."""
        found = self._files.after_power_loss(self._chance, under_way)
        self.close()
        self._files = found

    def close(self) -> None:
        """Every connection."""
        while self._connections:
            self._connections.pop().close()


_all: WeakSet[OnFiles] = WeakSet()


@atexit.register
def _close_all() -> None:
    """While there is a Python that SQLite can call."""
    for each in list(_all):
        each.close()
