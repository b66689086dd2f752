"""The ballast by which the lab has a disk used up: a file beside the queue database, on its volume.

Its blocks are allocated, so that what it takes is gone from the disk. How large the volume is the
configuration says (`QueueDatabaseVolumeSize`), not the disk that it lies on, which may be anybody's
and far larger: no more than a quota can be given to a container without rights.
"""

from __future__ import annotations

import os
from pathlib import Path

NAME = "ballast"


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
