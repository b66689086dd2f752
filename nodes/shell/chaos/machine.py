"""The machine a node stands on, where the lab has put it out of order (design decision 12).

The lab writes what it has done into one file of the data folder and signals the node, which reads
it then and at each start, and writes beside it what it found. Both are replaced whole. The `order`
counts up, so that an answer can be distinguished from an older one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from nodes.shell.storage.shared_files import read_shared, write_shared

ORDERED, FOUND = "machine.json", "machine-found.json"


@dataclass(frozen=True, slots=True)
class Machine:
    """`disk_is_full`: no database may grow. `skew_ms`: the clock shows so much more than lab time.
    `disk_percent`: so much of the volume of the queue database is in use, by this server or by
    somebody else; 0: what it uses itself.
    """

    order: int = 0
    disk_is_full: bool = False
    skew_ms: int = 0
    disk_percent: int = 0


_KINDS = {"order": int, "disk_is_full": bool, "skew_ms": int, "disk_percent": int}


def read_machine(data: Path) -> Machine:
    """As the lab ordered it; in order where it never did. Raises OSError, ValueError."""
    try:
        document = read_shared(data / ORDERED)
    except FileNotFoundError:
        return Machine()
    if {name: type(value) for name, value in document.items()} != _KINDS:
        raise ValueError(f"{data / ORDERED}: it holds {', '.join(_KINDS)}")
    return Machine(**document)  # type: ignore[arg-type]  # just looked at


def order_machine(data: Path, machine: Machine) -> None:
    """The lab's side. Raises OSError."""
    write_shared(data / ORDERED, json.dumps(asdict(machine)))


def tell_found(data: Path, machine: Machine, more: Mapping[str, object]) -> None:
    """The node's side, with `more` of what it saw. Raises OSError."""
    write_shared(data / FOUND, json.dumps(asdict(machine) | dict(more)))


def read_found(data: Path) -> Mapping[str, object]:
    """What the node found last; empty before. Raises OSError, ValueError."""
    try:
        return read_shared(data / FOUND)
    except FileNotFoundError:
        return {}
