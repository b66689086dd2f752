"""Runs with a server under back pressure, and with resubmit requests."""

from __future__ import annotations

from typing import Any

from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Message, Row, Run, empty

SERVER, OTHER = "par-mbx1", "lyo-mbx1"
BEGAN, OVER = 10 * MINUTE, 20 * MINUTE
DISK, QUEUE = "DatabaseUsedSpace", "SubmissionQueue"
VOLUME = 128 * 1024 * 1024


def level(run: Run, at_ms: int, before: str, after: str, figure: int, resource: str = DISK) -> None:
    more = {"resource": resource, "from": before, "to": after, "figure": figure}
    run.life(SERVER, "back-pressure", at_ms, **more)


def with_volume(run: Run) -> Run:
    run.plan["settings"]["servers"][SERVER]["TransportService"]["QueueDatabaseVolumeSize"] = VOLUME
    return run


def used(percent: int = 97, *, says: bool = True, recovers: bool = True) -> Run:
    """The volume of a server is used up for ten minutes."""
    run = with_volume(empty())
    run.away("disk_use", SERVER, BEGAN, OVER)
    run.plan["faults"][-1]["percent"] = percent
    to = "high" if percent >= 99 else "medium"
    if says:
        level(run, BEGAN + 300, "normal", to, percent)
        if recovers:
            level(run, OVER + SECOND, to, "normal", 3)
    return run


def operation(run: Run, name: str, kind: str, at_ms: int, reason: str, **keys: Any) -> None:
    """One that was asked for and answered."""
    run.plan.setdefault("operations", []).append({"id": name, "kind": kind, "at_ms": at_ms, **keys})
    done = {"took_effect": True, "reason": reason}
    for phase, later_ms, more in (("intended", 0, {}), ("applied", 0, {}), ("evidence", 500, done)):
        row: Row = {"operation": name, "phase": phase, "at_ms": at_ms + later_ms, **more}
        run.operations.append(row)


def give_back(run: Run, message: Message, at_ms: int, *, done_ms: int | None = None) -> None:
    """By the Primary Safety Net of its primary server, for `o1`."""
    number = run.next_id()
    custom = {"SafetyNet": "primary", "CopyInternalId": message.internal_id, "Destination": "DB1"}
    run.log(message.primary, "RESUBMIT", "SAFETYNET", at_ms, message, internal_id=number,
            source_context="o1", custom=custom)  # fmt: skip
    if done_ms is not None:
        run.log(message.primary, "SEND", "SMTP", done_ms, message, internal_id=number,
                custom={"Fork": "database:DB1"})  # fmt: skip
