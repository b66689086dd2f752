"""What became of shadow messages: held, promoted, let go; and how long a promotion took."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.claims.shadow.discard_after_delivery import in_order, in_time
from spark_eval.expected.shadow.discards import discards_of, is_asked
from spark_eval.expected.shadow.earliness import earliness
from spark_eval.expected.shadow.promotions import promotions_of
from spark_eval.expected.shadow.shadow_copies import copies_of
from spark_eval.expected.shadow.timeliness import timeliness
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.results.row import Row, of_rows

_NOT_ASKED = None, ""


def shadow_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of every copy that a server of the plan held, or was said to hold."""
    for copy in copies_of(message, run):
        primary, claimed = copy.shadow.key.primary, copy.shadow.claimed
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "network_message_id": copy.network_message_id,
            "shadow_server": copy.server.name,
            "primary_server": primary.server,
            "primary_database_id": primary.database_id,
            "primary_internal_id": primary.internal_id,
            "attempts": claimed.attempts if claimed else None,
            "held_ms": copy.held_ms,
            "discarded_ms": copy.discard_ms,
            "promoted_ms": copy.promoted_ms,
            "refs": of_rows(claimed, copy.held, copy.discard, copy.promoted),
        }


def promotion_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of each that happened, or should have."""
    for each in promotions_of(message, run):
        copy = each.copy
        if copy.promoted is None and not each.is_expected:
            continue
        on_time, early = timeliness(each, run), earliness(each, run)
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "shadow_server": copy.server.name,
            "primary_server": copy.primary_name,
            "primary_database_id": copy.shadow.key.primary.database_id,
            "cause": each.cause,
            "held_ms": copy.held_ms,
            "not_before_ms": each.not_before_ms,
            "not_after_ms": each.not_after_ms,
            "expected": each.is_expected,
            "promoted_ms": copy.promoted_ms,
            "timeliness": on_time.status,
            "earliness": early.status if early else None,
            "reason": on_time.reason,
            "early_reason": early.reason if early else "",
            "refs": of_rows(copy.promoted, copy.held),
        }


def promotion_delay_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of each that happened: how long after its cause, and how long that may take."""
    for each in promotions_of(message, run):
        copy, due_ms, by_ms = each.copy, each.due_ms, each.not_after_ms
        if copy.promoted_ms is None:
            continue
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "shadow_server": copy.server.name,
            "primary_server": copy.primary_name,
            "cause": each.cause,
            "not_before_ms": each.not_before_ms,
            "not_after_ms": by_ms,
            "promoted_ms": copy.promoted_ms,
            "delay_ms": None if due_ms is None else copy.promoted_ms - due_ms,
            "bound_ms": None if due_ms is None or by_ms is None else by_ms - due_ms,
        }


def discard_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of each shadow message that was let go, or had to be."""
    for each in discards_of(message, run):
        copy, row = each.copy, each.copy.discard
        asked = is_asked(each, run)
        if row is None and not asked:
            continue
        order = in_order(each, row, run) if row else _NOT_ASKED
        deadline = in_time(each, run) if asked else _NOT_ASKED
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "shadow_server": copy.server.name,
            "primary_server": copy.primary_name,
            "held_ms": copy.held_ms,
            "done_ms": each.forks.done_ms if each.forks else None,
            "reachable_ms": each.reachable_ms,
            "not_after_ms": each.not_after_ms,
            "discarded_ms": copy.discard_ms,
            "order_status": order[0],
            "order_reason": order[1],
            "deadline_status": deadline[0],
            "deadline_reason": deadline[1],
            "refs": of_rows(row, copy.held),
        }
