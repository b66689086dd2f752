"""The machine a node stands on, where the lab has put it out of order (design decision 12).

The lab writes what it has done into one file of the data folder and signals the node, which reads
it then and at each start, and writes beside it what it found. Both are replaced whole. The `order`
counts up, so that an answer can be told from an older one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ORDERED, FOUND = "machine.json", "machine-found.json"


@dataclass(frozen=True, slots=True)
class Machine:
    """`disk_is_full`: no database may grow. `skew_ms`: the clock shows so much more than lab
    time.
    """

    order: int = 0
    disk_is_full: bool = False
    skew_ms: int = 0


def read_machine(data: Path) -> Machine:
    """As the lab ordered it; in order where it never did. Raises OSError, ValueError."""
    try:
        document = json.loads((data / ORDERED).read_text("utf-8"))
    except FileNotFoundError:
        return Machine()
    try:
        return Machine(**document)
    except TypeError as error:
        raise ValueError(f"{data / ORDERED}: {error}") from error


def order_machine(data: Path, machine: Machine) -> None:
    """The lab's side. Raises OSError."""
    _replace(data / ORDERED, asdict(machine))


def tell_found(data: Path, machine: Machine, more: Mapping[str, object]) -> None:
    """The node's side, with `more` of what it saw. Raises OSError."""
    _replace(data / FOUND, asdict(machine) | dict(more))


def read_found(data: Path) -> Mapping[str, object]:
    """What the node found last; empty before. Raises OSError, ValueError."""
    try:
        found: dict[str, object] = json.loads((data / FOUND).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return found


def _replace(path: Path, document: Mapping[str, object]) -> None:
    """Whoever else has to read it may: the data folder says who can come so far."""
    path.with_suffix(".new").write_text(json.dumps(document), "utf-8")
    path.with_suffix(".new").chmod(0o644)
    os.replace(path.with_suffix(".new"), path)
