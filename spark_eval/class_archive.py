"""The archive of Spark's classes that `make` made for this machine's Java, if it did.

A JVM that maps it need not read, check and link some thousand classes again. It checks for itself
that the archive fits (the same Java, the same jars) and goes without one that does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"


def sharing(archive: Path = ARCHIVE) -> list[str]:
    """Options of a JVM. An empty file stands for an archive that could not be made here."""
    if not archive.exists() or not archive.stat().st_size:
        return []
    # of an archive that does not fit nothing is said: all works as it would without
    return [f'"-XX:SharedArchiveFile={archive}"', "-Xlog:cds*=off", "-Xlog:class*=off"]
