"""Active Directory as a node's process sees it: the distribution groups, once somebody has changed
them.

The lab stands for Active Directory. It writes all groups into one file of the data folder and
signals the node, which reads it then and at each start, and writes beside it which version it goes
by. Both files are replaced whole. Without the file the groups are those of the configuration.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.core.config.document import objects
from nodes.core.config.groups import GROUPS, DistributionGroup, group_of
from nodes.shell.storage.shared_files import read_shared, write_shared

DIRECTORY, FOUND = "directory.json", "directory-found.json"
BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Directory:
    """`version` counts up; `groups` are all there are."""

    version: int
    groups: tuple[DistributionGroup, ...]


def read_directory(data: Path) -> Directory | None:
    """None where nothing was changed. Raises OSError, ValueError."""
    try:
        document = read_shared(data / DIRECTORY, BYTES_MAX)
    except FileNotFoundError:
        return None
    version = document.get("version")
    if type(version) is not int:
        raise ValueError(f"{data / DIRECTORY}: it has no version")
    return Directory(version, tuple(map(group_of, objects(document, GROUPS))))


def change_directory(data: Path, groups: Sequence[object]) -> None:
    """The lab's side: `groups` as DistributionGroups of a configuration. Raises OSError,
    ValueError.
    """
    now = read_directory(data)
    version = 1 if now is None else now.version + 1
    document = {"version": version, "DistributionGroups": groups}
    write_shared(data / DIRECTORY, json.dumps(document))


def tell_read(data: Path, version: int) -> None:
    """The node's side. Raises OSError."""
    write_shared(data / FOUND, json.dumps({"version": version}))


def goes_by_it(data: Path) -> bool:
    """Whether the node has read what was written last. Raises OSError, ValueError."""
    now = read_directory(data)
    try:
        found = read_shared(data / FOUND)
    except FileNotFoundError:
        return now is None
    return now is None or found.get("version") == now.version
