"""Where Spark reads, as it wants it said: what it reads from is a pattern.

A local path goes without escapes: Spark takes those of a URI as they stand.
"""

from __future__ import annotations

import re
from pathlib import Path

SIGNS = re.compile(r"([\\*?\[\]{}])")


def to_read(place: Path | str) -> str:
    """An absolute path or a URI; whatever has a meaning in a pattern loses it."""
    uri = f"file://{place}" if isinstance(place, Path) else place
    scheme, separator, path = uri.partition("://")
    return scheme + separator + SIGNS.sub(r"\\\1", path)
