"""Files in the folders of a server, which the lab reads and writes with more rights than it has.

A link there may lead to what the server may not touch, so none is followed.
"""

import stat
from pathlib import Path


def require_file(path: Path) -> None:
    """Raises OSError, FileNotFoundError where nothing is there."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{path.name} is a link or no file, and none is followed")


def require_folder(path: Path) -> None:
    """Raises OSError, FileNotFoundError where nothing is there."""
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise OSError(f"{path.name} is a link or no folder, and none is followed")
