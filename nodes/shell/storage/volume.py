"""The volume that holds the queue database of a server, and the ballast by which the lab has it
used up: a file beside the queue database, whose blocks are allocated, so that what it takes is
gone.

How large the volume is the configuration says (`QueueDatabaseVolumeSize`). Where the data of the
server lie on a disk that is no larger, what the disk has left is what counts; where they lie on
anybody's and far larger one, what the server itself has taken does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nodes.store.queue.database import QueueDatabase

NAME = "ballast"


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
    with path.open("ab") as file:
        if file.tell() > size_bytes:
            file.truncate(size_bytes)
        os.posix_fallocate(file.fileno(), 0, size_bytes)
