"""Sound runs of which one thing is changed afterwards: a line, or what the plan asks for.

Each takes the files of a run and returns a copy that no server with its promises kept could leave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.scenarios.recorded import Files

Spoil = Callable[[Files], Files]
MONO = re.compile(r"(?<=S:Mono=)\d+")


def _changed(files: Files, name: str, lines: list[str]) -> Files:
    return {**files, name: lines}


def _plan(files: Files, change: Callable[[dict[str, Any]], None]) -> Files:
    plan = json.loads("\n".join(files["plan.json"]))
    change(plan)
    return _changed(files, "plan.json", [json.dumps(plan)])


def _rows(files: Files, event: str, change: Callable[[list[str]], list[str]]) -> Files:
    """`change` is given every tracking row of an event, server by server."""
    changed = dict(files)
    for name in (name for name in files if "/MSGTRK" in name):
        mine = [line for line in files[name] if f",{event}," in line]
        others = [line for line in files[name] if f",{event}," not in line]
        changed[name] = others + change(mine)
    return changed


def a_copy_is_missing(files: Files) -> Files:
    return _changed(files, "mailboxes/DB1.jsonl", files["mailboxes/DB1.jsonl"][:-3])


def a_copy_is_there_twice(files: Files) -> Files:
    lines = files["mailboxes/DB2.jsonl"]
    return _changed(files, "mailboxes/DB2.jsonl", [*lines, lines[4], lines[4], lines[9]])


def the_second_copy_comes_after_the_window(files: Files) -> Files:
    """Which DD-4 permits: nothing is violated."""
    row = json.loads(files["mailboxes/DB2.jsonl"][4])
    row["delivered_ms"] += 8 * 24 * 3_600_000
    lines = [*files["mailboxes/DB2.jsonl"], json.dumps(row)]
    return _changed(files, "mailboxes/DB2.jsonl", lines)


def a_copy_is_outside_twice(files: Files) -> Files:
    lines = files["external/ext1.jsonl"]
    return _changed(files, "external/ext1.jsonl", [*lines, lines[0]])


def shadow_rows_are_missing(files: Files) -> Files:
    return _rows(files, "HARECEIVE", lambda rows: rows[:-2])


def shadow_messages_come_an_hour_late(files: Files) -> Files:
    def late(rows: list[str]) -> list[str]:
        hour_ns = 3_600_000_000_000
        return [MONO.sub(lambda mono: str(int(mono[0]) + hour_ns), row) for row in rows]

    return _rows(files, "HARECEIVE", late)


def senders_hear_250_a_minute_early(files: Files) -> Files:
    def early(line: str) -> str:
        row = json.loads(line)
        if row["type"] == "outcome":
            row["mono_ns"] -= 60_000_000_000
        return json.dumps(row)

    return _changed(files, "ledger.jsonl", [early(line) for line in files["ledger.jsonl"]])


def promotions_come_four_minutes_late(files: Files) -> Files:
    def late(rows: list[str]) -> list[str]:
        late_ns = 4 * 60_000_000_000
        return [MONO.sub(lambda mono: str(int(mono[0]) + late_ns), row) for row in rows]

    return _rows(files, "RESUBMIT", late)


def the_plan_asks_for_a_shorter_span(files: Files) -> Files:
    def change(plan: dict[str, Any]) -> None:
        plan["settings"]["TransportConfig"]["ShadowResubmitTimeSpan"] //= 3

    return _plan(files, change)


def the_plan_expects_other_promotions(files: Files) -> Files:
    def change(plan: dict[str, Any]) -> None:
        for entry in plan["expect"]["promotions"]:
            entry["within_ms"] = 1

    return _plan(files, change)


def the_plan_permits_no_loss(files: Files) -> Files:
    def change(plan: dict[str, Any]) -> None:
        plan["expect"]["unprotected_loss"] = [0, 0]

    return _plan(files, change)


def the_plan_says_nothing_of_loss(files: Files) -> Files:
    """Then none is permitted."""

    def change(plan: dict[str, Any]) -> None:
        plan["expect"]["unprotected_loss"] = None

    return _plan(files, change)


def the_plan_rejects_what_has_no_shadow(files: Files) -> Files:
    def change(plan: dict[str, Any]) -> None:
        plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = True

    return _plan(files, change)


def the_plan_accepts_what_has_no_shadow(files: Files) -> Files:
    def change(plan: dict[str, Any]) -> None:
        plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = False

    return _plan(files, change)


def the_plan_switches_redundancy_off(files: Files) -> Files:
    """Then nothing is asked about shadow messages, so nothing is violated."""

    def change(plan: dict[str, Any]) -> None:
        plan["settings"]["TransportConfig"]["ShadowRedundancyEnabled"] = False

    return _plan(files, change)


@dataclass(frozen=True, slots=True)
class SpoiledRun:
    """A scenario and a seed under which the change shows; `claim` is violated then, if any is."""

    spoil: Spoil
    scenario: str
    claim: str | None
    seed: int = 1

    def __str__(self) -> str:
        return f"{self.spoil.__name__} in {self.scenario}"


RUNS = (
    SpoiledRun(a_copy_is_missing, "calm", "no_loss"),
    SpoiledRun(a_copy_is_there_twice, "calm", "no_visible_duplicate"),
    SpoiledRun(the_second_copy_comes_after_the_window, "calm", None),
    SpoiledRun(a_copy_is_outside_twice, "calm", "no_visible_duplicate"),
    SpoiledRun(shadow_rows_are_missing, "site-cut", "redundant_before_ack"),
    SpoiledRun(shadow_messages_come_an_hour_late, "calm", "redundant_before_ack"),
    SpoiledRun(senders_hear_250_a_minute_early, "calm", "redundant_before_ack"),
    SpoiledRun(promotions_come_four_minutes_late, "one-way-heartbeat", "promotion_on_time"),
    SpoiledRun(
        the_plan_asks_for_a_shorter_span, "primary-returns-after-promotion", "promotion_on_time"
    ),
    SpoiledRun(the_plan_expects_other_promotions, "one-way-heartbeat", "promotion_on_time"),
    SpoiledRun(the_plan_permits_no_loss, "anything-goes", "no_loss", 445014),
    SpoiledRun(the_plan_says_nothing_of_loss, "anything-goes", "no_loss", 445014),
    SpoiledRun(
        the_plan_rejects_what_has_no_shadow, "shadow-unreachable-accepted", "redundant_before_ack"
    ),
    SpoiledRun(
        the_plan_accepts_what_has_no_shadow, "shadow-unreachable-rejected", "redundant_before_ack"
    ),
    SpoiledRun(the_plan_switches_redundancy_off, "site-cut", None),
)
