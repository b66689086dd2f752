"""What a shadow server logs of its contact with a primary: every answer to XQDISCARD, and every
attempt that got none (SM-18); each with the moment of the question, or of the attempt's begin.
"""

from __future__ import annotations

from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogConnectivity, LogLifecycle
from nodes.core.shadow.discard_questions import Heard

HEARTBEAT_FAILED_EVENT = 22004


def log_answer(work: Work, primary: str, heard: Heard) -> None:
    """`contact`, or `outdated`, which is none."""
    answer = heard.answer
    text = (
        f"XQDISCARD {'outdated' if heard.is_outdated else 'contact'};Peer={primary}"
        f";DatabaseId={answer.database_id};Notifications={len(answer.notifications)}"
    )
    session, asked_ms = heard.lease.session.name, heard.question.asked_ms
    work.emit(LogConnectivity(session, primary, ">", text, asked_ms))


def log_no_contact(work: Work, primary: str, begun_ms: int, reason: str) -> None:
    fields = (("event_id", HEARTBEAT_FAILED_EVENT), ("primary", primary), ("reason", reason))
    work.emit(LogLifecycle("shadow-heartbeat-failed", fields))
    text = f"XQDISCARD failed;Peer={primary};Reason={reason.replace(';', ',')}"
    work.emit(LogConnectivity("", primary, "-", text, begun_ms))
