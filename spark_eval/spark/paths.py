"""Where Spark reads and writes, as it wants it said: what it reads from is a pattern, what it
writes to is not.

A local path goes without escapes: Spark takes those of a URI as they stand.
"""

from __future__ import annotations

import re
from pathlib import Path

SIGNS = re.compile(r"([\\*?\[\]{}])")


def to_read(place: Path | str) -> str:
    """An absolute path or a URI; whatever has a meaning in a pattern loses it."""
    scheme, separator, path = to_write(place).partition("://")
    return scheme + separator + SIGNS.sub(r"\\\1", path)


def to_write(place: Path | str) -> str:
    return f"file://{place}" if isinstance(place, Path) else place
