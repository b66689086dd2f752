"""Which primary message stands behind an acknowledgement: the ledger meets the tracking log.

By the internal id in the 250 where there is one, else the newest primary message of that Message-Id
on that server. Never one that was promoted: nobody had a 250 for it, and a server that got a new
queue database may give it an id that it gave before.
"""

from __future__ import annotations

from spark_eval.histories.message import Message
from spark_eval.histories.primary import Primary


def primary_behind(message: Message, server: str, internal_id: str | None) -> Primary | None:
    """`internal_id` is None where the answer did not say."""
    found = [
        each
        for key, each in message.primaries.items()
        if key.server == server
        and (internal_id is None or key.internal_id == internal_id)
        and (_is_accepted(each) or each.loaded is not None)
    ]
    return max(found, key=_newest, default=None)


def _is_accepted(primary: Primary) -> bool:
    return primary.born is not None and primary.born.event != "RESUBMIT"


def _newest(primary: Primary) -> tuple[int, str, str]:
    mono_ns = primary.born.mono_ns if primary.born else None
    return mono_ns or 0, primary.key.database_id, primary.key.internal_id


def acknowledged_primary(message: Message) -> Primary | None:
    """Behind the 250 that the workload had; of internal mail, behind the first one that the service
    had that submitted it.
    """
    if message.ok is None:
        return None
    if message.is_internal:
        first = next(iter(message.submissions), None)
        return None if first is None else primary_behind(message, first.server, first.internal_id)
    return primary_behind(message, message.ok.server, message.ok.reply_internal_id)
