"""What a record says before any of its lines is read: its plan, what made it, and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spark_eval.read.clocks import LabClock
from spark_eval.read.csv_rows import epoch_ms_of
from spark_eval.read.damage import NO_SHAPE, Damage, damaged
from spark_eval.read.folder.files import Files
from spark_eval.read.json_values import Malformed, strict_json
from spark_eval.read.plan import (
    NO_HOST,
    NO_MANIFEST,
    TRACKING,
    Host,
    Manifest,
    Plan,
    host_of,
    manifest_of,
    plan_of,
)

MAILBOX, FRONT_END = "mailbox", "frontend"
SIMULATOR = "simulator"
PLAN = "plan.json"
NO_DATE = "the start of lab time is no date"


class NoPlanError(Exception):
    """Nothing says what should have happened."""


@dataclass(frozen=True, slots=True)
class Heading:
    """`is_made`: the lab made it: its plan names what it sends. `origin_ms`: the start of lab time,
    epoch ms; `damage` of what stands in one file of JSON.
    """

    plan: Plan
    host: Host
    manifest: Manifest
    files: frozenset[str]
    origin_ms: int
    clock: LabClock
    damage: tuple[Damage, ...]
    is_made: bool

    @property
    def is_simulated(self) -> bool:
        return self.manifest.host == SIMULATOR

    @property
    def is_of_lab(self) -> bool:
        """Whether a host of the lab's ran it; else it is somebody else's, made by hand."""
        return self.manifest.host is not None

    @property
    def untracked(self) -> frozenset[str]:
        """Mailbox servers that, as the plan says, write no message tracking log."""
        return frozenset(
            (each.name or "").lower()
            for each in self.plan.topology.servers or ()
            if each.role == MAILBOX and each.evidence is not None and TRACKING not in each.evidence
        )

    @property
    def front_ends(self) -> frozenset[str]:
        """Who passes sessions on, and takes no mail itself (TP-7)."""
        servers = self.plan.topology.servers or ()
        return frozenset((s.name or "").lower() for s in servers if s.role == FRONT_END)

    def without_messages(self) -> Heading:
        """Its plan does not name them any more."""
        return replace(self, plan=self.plan._replace(messages=()))


def heading_of(files: Files) -> Heading:
    """Raises `NoPlanError`, `OSError`."""
    damage: list[Damage] = []
    plan = _plan(files, damage)
    host = _optional(files, "host.json", host_of, damage) or NO_HOST
    manifest = _optional(files, "manifest.json", manifest_of, damage) or NO_MANIFEST
    origin_ms = epoch_ms_of(manifest.origin or plan.clock.origin or "")
    if origin_ms is None:
        damage.append(damaged(PLAN, None, NO_DATE))
    return Heading(
        plan=plan,
        host=host,
        manifest=manifest,
        files=frozenset(files.names()),
        origin_ms=origin_ms or 0,
        clock=lab_clock(plan, host, manifest),
        damage=tuple(damage),
        is_made=bool(plan.messages),
    )


def lab_clock(plan: Plan, host: Host, manifest: Manifest) -> LabClock:
    """A simulator has no wall clock: its monotonic one is lab time, whatever speed the plan
    names.
    """
    speed = 1.0 if manifest.host == SIMULATOR else plan.clock.speed or 1.0
    resolution_ms = host.clock_resolution_ms or 0.0
    return LabClock(host.monotonic_zero_ns, speed, -int(-min(resolution_ms, 1e15) // 1))


def _plan(files: Files, damage: list[Damage]) -> Plan:
    try:
        return plan_of(_whole(files, PLAN))
    except FileNotFoundError as error:
        raise NoPlanError(f"no {PLAN}, so nothing says what should have happened") from error
    except Malformed:
        damage.append(damaged(PLAN, None, NO_SHAPE))
        return plan_of({})


def _optional(files: Files, name: str, read: Callable[[Any], Any], damage: list[Damage]) -> Any:
    try:
        return read(_whole(files, name))
    except FileNotFoundError:
        return None
    except Malformed:
        damage.append(damaged(name, None, NO_SHAPE))
        return None


def _whole(files: Files, name: str) -> Any:
    with files.open(name) as file:
        return strict_json(file.read())
