"""The volume that holds the queue database of a server, and the ballast by which the lab has it
used up: a file beside the queue database, whose blocks are allocated, so that what it takes is
gone.

How large the volume is the configuration says (`QueueDatabaseVolumeSize`). Where the data of the
server lie on a disk that is no larger, what the disk has left is what counts; where they lie on
anybody's and far larger one, what the server itself has taken does.

A database writes to remove something too: its journal grows, and what is in the journal has to go
into the file before it can begin anew. On a disk that is full neither has room, and nothing would
ever expire. So a volume of its own has a *reserve*, as the database engine of Exchange keeps
reserved log files: it is let go of when nothing is left, and kept again when there is room.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nodes.store.queue.database import QueueDatabase

NAME = "ballast"
RESERVE = "reserve"
MIB = 1024 * 1024
RESERVE_BYTES = 8 * MIB
"""Twice what SQLite's journal grows to before it is written into the file."""
LEAST_BYTES = 4 * RESERVE_BYTES
"""A volume that is smaller has none."""
NOTHING_LEFT_BYTES = MIB


@dataclass(frozen=True, slots=True)
class Volume:
    """Of `size_bytes`; `folder` holds the queue database."""

    folder: Path
    size_bytes: int

    def used_bytes(self, database: QueueDatabase) -> int:
        """What the database and the ballast take, and what is missing on the disk where that is
        more. Raises sqlite3.Error, OSError.
        """
        taken = database.used_bytes + size_of_ballast(self.folder)
        room = free_bytes(self.folder) + database.free_bytes
        return max(taken, self.size_bytes - room)

    def look_after(self, database: QueueDatabase) -> None:
        """Let go of the reserve where nothing is left, and keep it where there is room. Raises
        sqlite3.Error, OSError.
        """
        reserve = self.folder / RESERVE
        if self.size_bytes < LEAST_BYTES or not self._is_a_disk:
            return
        left = free_bytes(self.folder) - NOTHING_LEFT_BYTES
        if not reserve.exists():
            if left >= RESERVE_BYTES or (left > 0 and database.free_bytes >= RESERVE_BYTES):
                allocate(reserve, min(left, RESERVE_BYTES))
        elif left < 0:
            reserve.unlink()
            database.write_journal()

    @property
    def _is_a_disk(self) -> bool:
        """Of its own: nothing is on it but the data of this server."""
        found = os.statvfs(self.folder)
        return found.f_blocks * found.f_frsize <= self.size_bytes

    def use(self, database: QueueDatabase, percent: int) -> None:
        """So many percent are in use from now on; 0: nothing but what the server takes itself.
        Raises sqlite3.Error, OSError.
        """
        used_bytes = self.used_bytes(database) - size_of_ballast(self.folder)
        write_ballast(self.folder, bytes_wanted(self.size_bytes, percent, used_bytes))


def free_bytes(folder: Path) -> int:
    """What the disk of that folder has left for somebody without rights. Raises OSError."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def bytes_wanted(volume_bytes: int, percent: int, used_bytes: int) -> int:
    """What brings a volume, of which `used_bytes` are in use without it, to that many percent."""
    return max(0, -(-volume_bytes * percent // 100) - used_bytes) if percent else 0


def size_of_ballast(folder: Path) -> int:
    """In bytes. Raises OSError."""
    try:
        return (folder / NAME).stat().st_size
    except FileNotFoundError:
        return 0


def write_ballast(folder: Path, size_bytes: int) -> None:
    """So much and no more; none at all where that is 0. Raises OSError."""
    path = folder / NAME
    if not size_bytes:
        path.unlink(missing_ok=True)
        return
    allocate(path, size_bytes)


def allocate(path: Path, size_bytes: int) -> None:
    """A file of that size, whose blocks are taken from the disk. Raises OSError."""
    with path.open("ab") as file:
        if file.tell() > size_bytes:
            file.truncate(size_bytes)
        os.posix_fallocate(file.fileno(), 0, size_bytes)
