"""held_long_enough: each copy is kept as long as promised and no longer (SN-1, SN-2, SN-13,
SM-11, SM-12).

Compares what stores owe at the end (`expected.retention`) with what their queue listings show. A
listing that was not collected, or is damaged, answers nothing. Where servers went by clocks that
were apart, times that lie that close to the end are not asked; neither is a copy whose time is up
within a heartbeat after it: servers go on until they are stopped, and are listed then.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import agreement, bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.ages import aged
from spark_eval.expected.shadow.notifications_asked import last_asked_ms
from spark_eval.expected.shadow.retention import PRIMARY_NET, Stay, stays
from spark_eval.expected.shadow.shadow_copies import exchange_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import QUEUES, TRACKING
from spark_eval.read.rows import QueueRow

EXPIRED = "QUEUE.Expired"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for stay in stays(each, run):
            yield from _stay(each, stay, run)
        for entry in each.queued:
            yield from _overstay(entry, run)
        yield from _expiries(each, run)
        yield from _outstayed(each, run)


def _unnamed(run: Run, totals: Totals) -> Iterator[Case]:
    """Discard notifications may outlive what their server knew of the message."""
    for entry in run.stores.unnamed:
        yield from _overstay(entry, run)


def _stay(message: Message, stay: Stay, run: Run) -> Iterator[Case]:
    end_ms, askew_ms = run.end_ms or 0, run.servers[stay.server].askew_ms
    heartbeat_ms, is_listed = run.config.heartbeat_ms, run.is_listed(stay.server)
    still_due = stay.keep_until_ms - askew_ms > end_ms + heartbeat_ms
    is_over = stay.gone_after_ms + heartbeat_ms + run.finest_ms + askew_ms < end_ms
    if not still_due and not is_over:
        return
    found = _listed(message, stay)
    store = f"the {stay.what} of {stay.server}"
    detail = f"{store} should have dropped it at {stamp(stay.gone_after_ms)}"
    if still_due:
        until = stamp(stay.keep_until_ms)
        detail = f"{store} owed it until {until}; the listing does not have it"
    yield from asked(
        agreement(found is not None if is_listed else None, still_due), message.message_id,
        _requirements(stay, run, still_due=still_due),
        detail if is_listed else f"no sound queue listing of {stay.server}", end_ms, stay, found,
        server=stay.server,
    )  # fmt: skip


def _requirements(stay: Stay, run: Run, *, still_due: bool) -> tuple[str, ...]:
    """What is still there no size has ended (SN-13), nor what the dumpster of 2010 went by."""
    kept = ("SN-1" if stay.what == PRIMARY_NET else "SN-2",)
    if not still_due:
        return kept
    return (*kept, "SN-13", *(("SN-18",) if run.config.has_dumpster else ()))


def _listed(message: Message, stay: Stay) -> QueueRow | None:
    """What is resubmitted keeps its network message id, and is a copy of its own."""
    found = (
        entry
        for entry in message.queued
        if (entry.server, entry.network_message_id) == (stay.server, stay.name)
        and entry.queue in stay.queues
        and (entry.internal_id is None or entry.internal_id == stay.internal_id)
    )
    return next(found, None)


def _overstay(entry: QueueRow, run: Run) -> Iterator[Case]:
    """Entries of delivery queues and discard notifications that are older than they may get: the
    latter from when they were last asked for.
    """
    server, since_ms = run.servers.get(entry.server), entry.entered_ms
    is_discard = entry.queue == "discard"
    if is_discard and entry.delivered_ms is not None:
        since_ms = entry.delivered_ms
    is_asked = entry.queue in ("delivery", "discard") and run.end_ms is not None
    if not is_asked or server is None or since_ms is None:
        return
    if is_discard:
        since_ms = last_asked_ms(entry, since_ms, run)
    most_ms = run.config.auto_discard_ms if is_discard else server.config.expiration_ms
    age_ms, vague_ms = (run.end_ms or 0) - since_ms, run.finest_ms + server.askew_ms
    where = f"in the {entry.queue} queue of {server.name} for {stamp(age_ms)}"
    yield from asked(
        bound(age_ms, None, most_ms + run.config.heartbeat_ms + vague_ms),
        entry.message_id or server.name, ("SM-11" if is_discard else "SM-12",),
        f"{where}, at most {stamp(most_ms)}", run.end_ms, entry, weight=age_ms - most_ms,
        server=server.name,
    )  # fmt: skip


def _outstayed(message: Message, run: Run) -> Iterator[Case]:
    """What went to its next hop later than it should have expired, but for the session that was
    open then, and a server that was away: it expires what it finds when it is back. What came back
    or was promoted waits in no queue before it is made redundant anew (SM-13).
    """
    for row, server, since in aged(message, "SEND", run):
        config, queued_ms = server.config, since.queued_ms
        if queued_ms is None or row.at_ms - queued_ms <= config.expiration_ms:
            continue
        age_ms, due_ms = row.at_ms - queued_ms, queued_ms + config.expiration_ms
        grace_ms = config.timeout_ms + run.config.heartbeat_ms + run.finest_ms + server.askew_ms
        is_excused = touches(server.away(), due_ms, row.at_ms)
        most = stamp(config.expiration_ms)
        yield from asked(
            bound(row.at_ms, None, due_ms + grace_ms, is_excused=is_excused), message.message_id,
            ("SM-12",), f"{server.name} sent it on after {stamp(age_ms)}; it expires after {most}",
            row.at_ms, row, since, weight=age_ms, server=server.name,
        )  # fmt: skip


def _expiries(message: Message, run: Run) -> Iterator[Case]:
    """What expired too early. After a restart a message is as old as the disk has it, which is
    written down before it is durable, and its row after that.
    """
    for row, server, since in aged(message, "FAIL", run):
        is_expiry = row.source == "QUEUE" and EXPIRED in (row.recipient_status or "")
        if is_expiry and since.born_ms is not None:
            age_ms, least_ms = row.at_ms - since.born_ms, server.config.expiration_ms
            written_ms = exchange_ms(run) if since.is_loaded else 0
            vague_ms = run.finest_ms + server.askew_ms + written_ms
            after = f"after {stamp(age_ms)}, not before {stamp(least_ms)}"
            yield from asked(
                bound(age_ms, least_ms - vague_ms, None), message.message_id, ("SM-12",),
                f"{server.name} expired it {after}", row.at_ms, row, since,
                weight=least_ms - age_ms, server=server.name,
            )  # fmt: skip


CLAIM = Claim(
    "held_long_enough",
    ("SN-1", "SN-2", "SN-13", "SN-18", "SM-11", "SM-12"),
    needs=frozenset({QUEUES, TRACKING}),
    of_message=_cases,
    of_run=_unnamed,
)
