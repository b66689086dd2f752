"""Paths of this machine as Spark wants them: what it reads from is a pattern, what it writes to is
not.

A URI would not do: Spark takes its escapes as they stand.
"""

from __future__ import annotations

import re
from pathlib import Path

SIGNS = re.compile(r"([\\*?\[\]{}])")


def to_read(path: Path) -> str:
    """`path` is absolute; whatever has a meaning in a pattern loses it."""
    return "file://" + SIGNS.sub(r"\\\1", str(path))


def to_write(path: Path) -> str:
    return f"file://{path}"
