"""The life of each message that the workload sent, its attempts, and its deliveries.

How long a delivery took counts from the first submission; it came before, during or after the
faults by when it was submitted. In a run without faults all came before.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.expected.mail.acknowledged import acknowledged_primary
from spark_eval.expected.mail.deliveries import Delivery, deliveries
from spark_eval.expected.shadow.shadow_copies import copies_of
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.results.row import Row, ref_value, ref_values


def message_rows(message: Message, run: Run) -> Iterator[Row]:
    sent, ok = message.sent, message.ok
    if sent is None:
        return
    primary, made = acknowledged_primary(message), deliveries(message, run)
    copies = copies_of(message, run)
    firsts = [each.first_ms for each in made if each.first_ms is not None]
    bare = primary is not None and primary.failure is not None and primary.redirect is None
    yield {
        "run": run.name,
        "message_id": message.message_id,
        "mail": sent.mail,
        "sender": sent.sender,
        "recipients": list(sent.recipients),
        "submitted_ms": sent.submitted_ms,
        "attempts": len(message.attempts),
        "outcome": message.fate,
        "acknowledged_server": ok.server if ok else None,
        "acknowledged_ms": ok.ended_ms if ok else None,
        "internal_id": primary.key.internal_id if primary else None,
        "database_id": primary.key.database_id if primary else None,
        "network_message_id": primary.network_message_id if primary else None,
        "unprotected": bare if ok else None,
        "shadow_servers": sorted({each.server.name for each in copies}) or None,
        "promotions": sum(each.promoted is not None for each in copies),
        "discards": sum(each.discard is not None for each in copies),
        "deliveries": sum(len(each.copies) for each in made),
        "first_delivery_ms": min(firsts, default=None),
        "last_delivery_ms": max(firsts, default=None),
    }


def attempt_rows(message: Message, run: Run) -> Iterator[Row]:
    for each in message.attempts:
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "attempt": each.number,
            "server": each.server or None,
            "started_ms": each.started_ms,
            "started_mono_ns": each.started_mono_ns,
            "outcome": each.outcome,
            "reply": each.reply,
            "reason": each.reason,
            "ended_ms": each.ended_ms,
            "ended_mono_ns": each.ended_mono_ns,
            "reply_internal_id": each.reply_internal_id,
            "ref": ref_value(each.ref),
        }


def delivery_rows(message: Message, run: Run) -> Iterator[Row]:
    for each in deliveries(message, run):
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "recipient": each.recipient,
            "kind": "mailbox" if run.directory.is_inside(each.recipient) else "external",
            "promised": each.promised,
            "outcome": each.outcome,
            "reason": each.reason,
            "copies": len(each.copies),
            "submitted_ms": message.sent.submitted_ms if message.sent else None,
            "acknowledged_ms": message.ok.ended_ms if message.ok else None,
            "first_ms": each.first_ms,
            "refs": ref_values(*each.refs),
        }


def delay_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of each delivery that was promised and made."""
    if message.sent is None:
        return
    submitted_ms = message.sent.submitted_ms
    for each in filter(_is_made, deliveries(message, run)):
        assert each.first_ms is not None
        yield {
            "run": run.name,
            "message_id": message.message_id,
            "recipient": each.recipient,
            "phase": _phase(submitted_ms, run),
            "submitted_ms": submitted_ms,
            "acknowledged_ms": message.ok.ended_ms if message.ok else None,
            "delivered_ms": each.first_ms,
            "delay_ms": each.first_ms - submitted_ms,
        }


def _is_made(delivery: Delivery) -> bool:
    return delivery.promised and delivery.first_ms is not None


def _phase(submitted_ms: int, run: Run) -> str:
    applied = [
        (each.phases.applied_ms, each.over_ms)
        for each in run.faults
        if each.phases.applied_ms is not None
    ]
    if not applied or submitted_ms < min(applied_ms for applied_ms, _ in applied):
        return "before"
    return "during" if submitted_ms <= max(over_ms for _, over_ms in applied) else "after"
