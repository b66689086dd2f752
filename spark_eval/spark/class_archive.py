"""The archive of Spark's classes that `make` made for this machine's Java, if it did.

A JVM that maps it need not read, check and link some thousand classes again. It checks for itself
that the archive fits (the same Java, the same jars) and goes without one that does not; but one
that was cut short ends it, so the size that the archive had when it was tried stands beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"


def sharing(archive: Path = ARCHIVE) -> list[str]:
    """Options of a JVM: none where there is no archive, or another one than was tried."""
    if not _is_whole(archive):
        return []
    # of an archive that does not fit nothing is said: all works as it would without
    return [f'"-XX:SharedArchiveFile={archive}"', "-Xlog:cds*=off", "-Xlog:class*=off"]


def _is_whole(archive: Path) -> bool:
    try:
        return archive.stat().st_size == int(archive.with_suffix(".size").read_text())
    except (OSError, ValueError):
        return False
