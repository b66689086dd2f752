"""What held during a message's life: faults, operations, and copies that were activated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from spark_eval.fault_kinds import AWAY_KINDS
from spark_eval.read.json_values import Malformed
from spark_eval.read.plan import operation_of
from spark_eval.story.lines import Line
from spark_eval.story.row import StoryLine, objects, said, text, whole
from spark_eval.story.run_record import RunRecord
from spark_eval.story.words import only

FAULTS = r"^faults\.jsonl$"
OPERATIONS = r"^operations\.jsonl$"
COPY_EVENTS = ("failover-decided", "database-mounted", "database-dismounted", "active-copy")
Rows = list[tuple[Line, Mapping[str, Any]]]


def meanwhile(record: RunRecord, message_id: str, from_ms: int, to_ms: int) -> Iterator[StoryLine]:
    """Lines of what held between the first and the last line about the message."""
    yield from _faults(record, message_id, from_ms, to_ms)
    within = [*_operations(record, message_id), *_activated(record, message_id)]
    yield from (row for row in within if row.at_ms is not None and from_ms <= row.at_ms <= to_ms)


def _faults(record: RunRecord, message_id: str, from_ms: int, to_ms: int) -> Iterator[StoryLine]:
    planned = record.planned("faults")
    for fault, phases in _by_fault(record).items():
        known = planned.get(fault)
        if known is None or not _held(known, phases, from_ms, to_ms):
            continue
        for line, row in phases:
            if row.get("phase") in ("applied", "healed"):
                what = f"{_in_words(known)}: {row['phase']}"
                yield _row(message_id, fault, what, line, row)


def _by_fault(record: RunRecord) -> dict[str, Rows]:
    phases: dict[str, Rows] = defaultdict(list)
    for line in record.lines.journal(FAULTS):
        row = line.json_object()
        phases[str(row.get("fault"))].append((line, row))
    return phases


def _held(planned: Mapping[str, Any], phases: Rows, from_ms: int, to_ms: int) -> bool:
    """In its possible extent, as `transforms.fault_windows` has it: from the intent to the banner
    of a server, or the heal of anything else.
    """
    rows = [row for _, row in phases]
    begun = _times(rows, "intended") or _times(rows, "applied")
    if planned.get("kind") in AWAY_KINDS:
        banners = [at for row in rows if (at := whole(row, "banner_ms")) is not None]
        over = max(banners, default=None)
    else:
        over = min(_times(rows, "healed"), default=None)
    return bool(begun) and min(begun) <= to_ms and (over is None or over >= from_ms)


def _times(rows: list[Mapping[str, Any]], phase: str) -> list[int]:
    times = (whole(row, "at_ms") for row in rows if row.get("phase") == phase)
    return [at_ms for at_ms in times if at_ms is not None]


def _in_words(planned: Mapping[str, Any]) -> str:
    """`kill par-mbx1`, `cut refuse a → b and 3 more links`."""
    server, links = text(planned, "server"), objects(planned, "links")
    parts = [text(planned, "kind"), text(planned, "cut_kind"), only(text(planned, "direction"))]
    if server is not None:
        parts.append(server.lower())
    elif links:
        parts += [text(links[0], "from"), "→", text(links[0], "to")]
        parts.append(f"and {len(links) - 1} more links" if len(links) > 1 else None)
    return " ".join(part for part in parts if part)


def _operations(record: RunRecord, message_id: str) -> Iterator[StoryLine]:
    """What an administrator asked for."""
    planned = record.planned("operations")
    for line in record.lines.journal(OPERATIONS):
        row = line.json_object()
        known = planned.get(str(row.get("operation")))
        if known is not None and row.get("phase") == "applied":
            what = f"{_asked_for(known)} asked for"
            yield _row(message_id, str(row["operation"]), what, line, row)


def _asked_for(known: Mapping[str, Any]) -> str:
    try:
        return operation_of(known).words
    except Malformed:  # a story is told of what can be read
        return said(known, "kind")


def _activated(record: RunRecord, message_id: str) -> Iterator[StoryLine]:
    """Which copies were activated and known."""
    for line, row in record.lifecycle:
        epoch = whole(row, "epoch") or 0
        if epoch > 0 and row.get("event") in COPY_EVENTS:
            what = f"{row['event']} {said(row, 'database')}, epoch {epoch}"
            at_ms, mono_ns = whole(row, "at_ms"), whole(row, "mono_ns")
            placed = {"at_ms": record.clock.placed(at_ms, mono_ns), "mono_ns": mono_ns}
            yield _row(message_id, line.server, what, line, placed)


def _row(message_id: str, place: str, what: str, line: Line, row: Mapping[str, Any]) -> StoryLine:
    at_ms, mono_ns = whole(row, "at_ms"), whole(row, "mono_ns")
    return StoryLine(message_id, at_ms, mono_ns, place, what, line.file, line.number)
