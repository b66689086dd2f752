"""What the software of the servers fixes: durations and limits that no parameter of Exchange's
sets.

A plan writes them out like any parameter. Whoever judges a record reads them there, and needs no
source of ours. Each is the constant by which a node goes, and has its name in plan.json.
"""

from dataclasses import dataclass

from nodes.core.copies.log_shipping import RETRY_MS
from nodes.core.engine.work import COMMIT_RETRY_MS
from nodes.core.failover.announcements import REMIND_MS, TELL_AGAIN_MS
from nodes.core.failover.copy_monitor import MISSES, WATCH_MS
from nodes.core.failover.failover import MARGIN_MS, REQUEST_MS
from nodes.core.failover.management_calls import ANSWER_MS
from nodes.core.failover.safety_net_requests import ASK_AGAIN_MS, SILENCE_MS
from nodes.core.interface.replies import MESSAGE_ID_SHOWN
from nodes.core.submission.submission import SUBMIT_AGAIN_MS
from nodes.shell.smtp.mail_in_memory import OUTSIDE_BYTES


@dataclass(frozen=True, slots=True)
class Software:
    """Durations in lab milliseconds, sizes in bytes (TP-4, TP-6, SN-4, TL-5; docs/record.md says
    what each of them is).
    """

    copy_status_interval_ms: int = WATCH_MS
    copy_status_misses: int = MISSES
    management_answer_ms: int = ANSWER_MS
    announcement_retry_ms: int = TELL_AGAIN_MS
    announcement_reminder_ms: int = REMIND_MS
    resubmit_request_retry_ms: int = ASK_AGAIN_MS
    primary_silence_ms: int = SILENCE_MS
    resubmit_margin_ms: int = MARGIN_MS
    requested_mount_ms: int = REQUEST_MS
    log_retry_ms: int = RETRY_MS
    submission_retry_ms: int = SUBMIT_AGAIN_MS
    commit_retry_ms: int = COMMIT_RETRY_MS
    mail_in_memory_bytes: int = OUTSIDE_BYTES
    message_id_shown: int = MESSAGE_ID_SHOWN


NODES = Software()
