"""Active Directory as a node's process sees it, once somebody has changed it: the distribution
groups, the mailboxes that are elsewhere than at first, or on their way, the servers whose component
HubTransport is Inactive, and those whose Receive connector authenticates no other server; and for a
server that came anew which mailbox databases exist already.

The lab stands for Active Directory. It writes all of that into one file of the data folder and
signals the node, which reads it then and at each start, and writes beside it which version it goes
by. Both files are replaced whole. Without the file all is as the configuration has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.core.config.document import objects, objects_if_any
from nodes.core.config.groups import GROUPS, DistributionGroup, group_of
from nodes.core.config.mailboxes import MAILBOXES, Mailbox, mailbox_of
from nodes.shell.storage.shared_files import read_shared, write_shared

DIRECTORY, FOUND = "directory.json", "directory-found.json"
BYTES_MAX = 16 * 1024 * 1024


CREATED, INACTIVE, NOT_AUTHENTICATING = "DatabasesCreated", "Inactive", "NotAuthenticating"


@dataclass(frozen=True, slots=True)
class Directory:
    """`version` counts up; `groups` are all there are, None where nobody has changed anything;
    `databases` were created once; `mailboxes` are those that are not where the configuration has
    them; `inactive` and `not_authenticating` are servers by name.
    """

    version: int
    groups: tuple[DistributionGroup, ...] | None
    databases: tuple[str, ...] = ()
    mailboxes: tuple[Mailbox, ...] = ()
    inactive: tuple[str, ...] = ()
    not_authenticating: tuple[str, ...] = ()


def read_directory(data: Path) -> Directory | None:
    """None where nothing was changed. Raises OSError, ValueError."""
    document = _document(data)
    if document is None:
        return None
    version, databases = document.get("version"), document.get(CREATED, [])
    if type(version) is not int or not isinstance(databases, list):
        raise ValueError(f"{data / DIRECTORY}: it has no version")
    if not document.keys() & {GROUPS, CREATED}:
        raise ValueError(f"{data / DIRECTORY}: it has {GROUPS} or {CREATED}")
    groups = tuple(map(group_of, objects(document, GROUPS))) if GROUPS in document else None
    moved = tuple(map(mailbox_of, objects_if_any(document, MAILBOXES)))
    created, servers = tuple(map(str, databases)), (INACTIVE, NOT_AUTHENTICATING)
    return Directory(version, groups, created, moved, *(_names(document, key) for key in servers))


def _names(document: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Of servers. Raises ValueError."""
    names = document.get(key, [])
    if not isinstance(names, list):
        raise ValueError(f"{DIRECTORY}: {key} is no list")
    return tuple(map(str, names))


def change_directory(data: Path, document: Mapping[str, object]) -> None:
    """The lab's side: DistributionGroups and Mailboxes as in a configuration, and the servers that
    are Inactive, or do not authenticate. Raises OSError, ValueError.
    """
    _write(data, document)


def note_created(data: Path, databases: Sequence[str]) -> None:
    """The lab's side, of a server that is down and has lost its disk. Raises OSError,
    ValueError.
    """
    _write(data, {CREATED: list(databases)})


def _document(data: Path) -> dict[str, object] | None:
    try:
        return read_shared(data / DIRECTORY, BYTES_MAX)
    except FileNotFoundError:
        return None


def _write(data: Path, document: Mapping[str, object]) -> None:
    now = read_directory(data)
    version = 1 if now is None else now.version + 1
    whole = (_document(data) or {}) | {"version": version, **document}
    write_shared(data / DIRECTORY, json.dumps(whole))


class DirectoryWatch:
    """The node's side: which version it goes by."""

    def __init__(self, data: Path) -> None:
        self._data, self._version = data, 0

    def news(self) -> Directory | None:
        """Each version once; None where nothing is new. Raises OSError, ValueError."""
        directory = read_directory(self._data)
        if directory is None or directory.version == self._version:
            return None
        self._version = directory.version
        return directory

    def tell_read(self) -> None:
        """The lab may know. Raises OSError."""
        write_shared(self._data / FOUND, json.dumps({"version": self._version}))


def goes_by_it(data: Path) -> bool:
    """Whether the node has read what was written last. Raises OSError, ValueError."""
    now = read_directory(data)
    try:
        found = read_shared(data / FOUND)
    except FileNotFoundError:
        return now is None
    return now is None or found.get("version") == now.version
