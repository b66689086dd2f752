"""Rows of a page by hand: what `spark_eval.report.build` would find, small or as large as it lets
it be.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from spark_eval.report.build import MOST_POINTS, MOST_STORY_LINES, SLICES
from spark_eval.report.rows import MOST_MESSAGES, MOST_UNDELIVERED, ReportRows
from spark_eval.results.timeline import MOMENTS

Row = dict[str, Any]
END_MS = 59 * 60_000
MINUTE = 60_000
SERVERS = [f"par-mbx{number}" for number in range(1, 7)]


def rows(**given: list[Row]) -> ReportRows:
    """Nothing but what is given."""
    empty: dict[str, list[Row]] = {each.name: [] for each in fields(ReportRows)}
    return ReportRows(**(empty | given))


def lost(at_ms: int, number: int = 1, outcome: str = "lost") -> Row:
    return {
        "message_id": f"<m{number:06d}.storm.7@partner.example>", "recipient": "a@b.example",
        "outcome": outcome, "reason": "held by nobody", "submitted_ms": at_ms,
        "acknowledged_ms": at_ms + 100, "refs": [{"file": "ledger.jsonl", "line": number}],
    }  # fmt: skip


def counted(undelivered: list[Row]) -> list[Row]:
    """The same by slice."""
    width = END_MS // SLICES
    slices: dict[tuple[int, str], Row] = {}
    for row in undelivered:
        key = (row["submitted_ms"] // width, row["outcome"])
        known = slices.setdefault(
            key, {"slice": key[0], "outcome": key[1], "at_ms": row["submitted_ms"], "deliveries": 0}
        )
        known["deliveries"] += 1
    return list(slices.values())


def delay(at_ms: int, delay_ms: int, *, late: bool = False) -> Row:
    return {
        "at_ms": at_ms, "slice": at_ms * SLICES // END_MS, "late": late, "deliveries": 1,
        "min_ms": delay_ms, "median_ms": delay_ms, "max_ms": delay_ms,
    }  # fmt: skip


def fault(name: str, kind: str = "kill", **more: Any) -> Row:
    row: Row = {
        "fault": name, "kind": kind, "cut_kind": None, "server": None, "returns_with": None,
        "links": None, "by_ms": None, "intended_ms": 8 * MINUTE, "applied_ms": 8 * MINUTE,
        "over_ms": 16 * MINUTE, "took_effect": True,
    }  # fmt: skip
    return row | more


def cut(name: str, near: str, far: str) -> Row:
    link = {"from": near, "to": far, "service": "smtp"}
    return fault(name, "cut", cut_kind="stall", links=[link])


def promotion(what: str, at_ms: int, promotions: int = 1) -> Row:
    return {
        "shadow_server": "par-mbx2", "primary_server": "par-mbx1", "cause": "database-id-changed",
        "what": what, "at_s": at_ms // 1000, "promotions": promotions,
    }  # fmt: skip


def moment(kind: str, at_ms: int, lane: str = "par-mbx1") -> Row:
    return {"lane": lane, "kind": kind, "at_ms": at_ms, "count": 1, "detail": ""}


def message(number: int, outcome: str = "delivered") -> Row:
    at_ms = number * 150
    fate = {
        "recipient": f"db{number % 2}-user{number % 40:02d}@shadowlab.example",
        "outcome": outcome,
        "at_ms": at_ms + 122 if outcome == "delivered" else None,
    }
    return {
        "message_id": f"<m{number:06d}.a-scenario-with-a-rather-long-name.31064@partner.example>",
        "submitted_ms": at_ms, "recipients": [fate, fate | {"recipient": "b@partner.example"}],
    }  # fmt: skip


def story_line(number: int) -> Row:
    what = ", ".join(f"db1-user{at:02d}@shadowlab.example" for at in range(8))
    ref = {"file": "logs/par-mbx1/MSGTRK2026010508-1.LOG", "line": number}
    return {"message_id": lost(0)["message_id"], "at_ms": number, "mono_ns": number,
            "place": "par-mbx1", "what": f"SMTP RECEIVE, for {what}, …", "ref": ref}  # fmt: skip


def storm() -> ReportRows:
    """As much as the evaluation lets through to a page of six servers."""
    at = [number * END_MS // MOMENTS for number in range(MOMENTS)]
    kinds = ("accepted", "shadow let go", "deferred", "heartbeat failed", "unprotected", "restart")
    undelivered = [lost(number * 7000 % END_MS, number) for number in range(MOST_UNDELIVERED)]
    slices = counted(undelivered)
    for row in slices:
        row["deliveries"] += 100
    return rows(
        moments=[moment(kind, ms, lane) for kind in kinds for lane in SERVERS for ms in at],
        delays=[delay(ms, 100) for ms in at[::2]] + [delay(ms, 70_000, late=True) for ms in at],
        undelivered=undelivered,
        undelivered_slices=slices,
        messages=[message(number) for number in range(MOST_MESSAGES)],
        faults=[cut(f"f{number}", "par-mbx1", "par-mbx2") for number in range(200)],
        stories=[story_line(number) for number in range(MOST_STORY_LINES)],
        promotion_points=[promotion("missing", ms * 1000) for ms in range(MOST_POINTS)],
    )
