"""A file that a person names: read only if it is one, and never at the price of a hang.

A path of a command line or a name in a scenario may lead to a FIFO that nobody writes to, a
device that never ends, a folder, a loop of links, nothing. What it is, is asked before it is
opened; opening never waits. What is wrong with the path is said in a few words; a machine that
cannot read is the ground's failure.
"""

import errno
import os
import stat
from pathlib import Path

from lab.program.errors import GroundError

OF_THE_MACHINE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE)
SMALL_BYTES = 65_536  # of a file that grows, or that says no size (proc(5))
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnreadableFile(Exception):
    """A path that leads to no file that can be read; the text is the rule that it breaks."""


def read_given(path: Path, most_bytes: int) -> bytes:
    """The first bytes of a regular file. Raises UnreadableFile, or GroundError."""
    try:
        _refuse_others(os.stat(path).st_mode)
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        with open(os.open(path, flags), "rb") as stream:
            found = os.fstat(stream.fileno())
            _refuse_others(found.st_mode)
            return stream.read(min(most_bytes, found.st_size + SMALL_BYTES))  # taken at once
    except (OSError, ValueError) as error:
        raise UnreadableFile(_reason(path, error)) from error


def is_there(path: Path) -> bool:
    """Whether anything stands at the path, whatever it is. Raises GroundError."""
    return _mode(path) is not None


def is_file(path: Path) -> bool:
    """Whether the path leads to a regular file. Raises GroundError."""
    return stat.S_ISREG(_mode(path) or 0)


def is_folder(path: Path) -> bool:
    """Whether the path leads to a folder. Raises GroundError."""
    return stat.S_ISDIR(_mode(path) or 0)


def real_path(path: Path) -> Path:
    """Where links lead in the end; the path as it is where they go round in a circle."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as error:
        _reason(path, error)
        return None


def _refuse_others(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise UnreadableFile(f"is {kind} and no file")


def _reason(path: Path, error: OSError | ValueError) -> str:
    """Why it cannot be read, in the system's words. Raises GroundError where the machine fails."""
    if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
        raise GroundError(f"{path} cannot be read: {error.strerror}", "look at the disk") from error
    words = error.strerror if isinstance(error, OSError) else str(error)
    return f"cannot be read: {(words or type(error).__name__).lower()}"
