"""Changes of a `Commit` to Active Manager's own database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.model.failover import Asking, Failover, FailoverState, ManagedDatabase, Telling


@dataclass(frozen=True, slots=True)
class SetManagedDatabase:
    """Insert, or replace one of the same epoch or a lower one."""

    managed: ManagedDatabase


@dataclass(frozen=True, slots=True)
class InsertFailover:
    failover: Failover


@dataclass(frozen=True, slots=True)
class SetFailover:
    """Expects the one of this database and epoch in state `expected`."""

    failover: Failover
    expected: FailoverState


@dataclass(frozen=True, slots=True)
class SetTelling:
    """Insert, or replace one of the same epoch or a lower one."""

    telling: Telling


@dataclass(frozen=True, slots=True)
class InsertAsking:
    asking: Asking


@dataclass(frozen=True, slots=True)
class SetAsking:
    """Expects the one of this request and server to be open."""

    asking: Asking


ManagerChange: TypeAlias = (
    SetManagedDatabase | InsertFailover | SetFailover | SetTelling | InsertAsking | SetAsking
)
