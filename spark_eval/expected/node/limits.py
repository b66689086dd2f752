"""What exceeds a limit of the organisation, and how a server says that it gives it up: for all of
its recipients at once, wherever their mail would have gone (F§3.1).
"""

from __future__ import annotations

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow

TOO_MANY_RECIPIENTS, TOO_LARGE_TO_SEND = "550 5.5.3", "550 5.2.3"


def exceeded(message: Message, run: Run) -> tuple[str, ...]:
    """The replies that say which limits what the workload sent exceeds."""
    sent, config = message.sent, run.config
    if sent is None:
        return ()
    found = [TOO_MANY_RECIPIENTS] if len(set(sent.recipients)) > config.max_envelope else []
    if (sent.content.size or 0) > config.max_sent_bytes and run.directory.is_inside(sent.sender):
        found.append(TOO_LARGE_TO_SEND)
    return tuple(found)


def limit_said(row: TrackingRow) -> str:
    """The reply by which a row says that such a limit is exceeded; empty of any other row."""
    said = (row.recipient_status or "")[: len(TOO_MANY_RECIPIENTS)]
    is_so = row.event == "FAIL" and said in (TOO_MANY_RECIPIENTS, TOO_LARGE_TO_SEND)
    return said if is_so else ""
