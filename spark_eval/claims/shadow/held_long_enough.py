"""held_long_enough: each copy is kept as long as promised and no longer (SN-1, SN-2, SM-11, SM-12).

Compares what stores owe at the end (`expected.retention`) with what their queue listings show. A
listing that was not collected, or is damaged, answers nothing. Where servers went by clocks that
were apart, times that lie that close to the end are not asked; neither is a copy whose time is up
within a heartbeat after it: servers go on until they are stopped, and are listed then.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.notifications_asked import last_asked_ms
from spark_eval.expected.shadow.retention import PRIMARY_NET, Stay, stays
from spark_eval.expected.shadow.shadow_copies import exchange_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import QUEUES, TRACKING
from spark_eval.read.rows import QueueRow, TrackingRow

EXPIRED = "QUEUE.Expired"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        for stay in stays(each, run):
            yield from _stay(each, stay, run)
        for entry in each.queued:
            yield from overstay(entry, run)
        yield from _expiries(each, run)
        yield from _outstayed(each, run)


def _unnamed(run: Run, totals: Totals) -> Iterator[Case]:
    """Discard notifications may outlive what their server knew of the message."""
    for entry in run.stores.unnamed:
        yield from overstay(entry, run)


def _stay(message: Message, stay: Stay, run: Run) -> Iterator[Case]:
    end_ms, server = run.end_ms or 0, run.servers[stay.server]
    heartbeat_ms, askew_ms = run.config.heartbeat_ms, server.askew_ms
    still_due = stay.keep_until_ms - askew_ms > end_ms + heartbeat_ms
    is_over = stay.gone_after_ms + heartbeat_ms + run.finest_ms + askew_ms < end_ms
    if not still_due and not is_over:
        return
    found = _listed(message, stay)
    asked = ("SN-1" if stay.what == PRIMARY_NET else "SN-2",)
    shown = refs(stay.ref, found.ref if found else None)
    if not run.is_listed(stay.server):
        detail = f"no sound queue listing of {stay.server}"
        yield Case(UNKNOWN, message.message_id, asked, detail, end_ms, shown, server=stay.server)
    elif still_due:
        until = stamp(stay.keep_until_ms)
        detail = (
            f"the {stay.what} of {stay.server} owed it until {until}; the listing does not have it"
        )
        yield Case(
            HOLDS if found else VIOLATED,
            message.message_id,
            asked,
            detail,
            end_ms,
            shown,
            server=stay.server,
        )
    else:
        by = stamp(stay.gone_after_ms)
        detail = f"the {stay.what} of {stay.server} should have dropped it at {by}"
        yield Case(
            VIOLATED if found else HOLDS,
            message.message_id,
            asked,
            detail,
            end_ms,
            shown,
            server=stay.server,
        )


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


def overstay(entry: QueueRow, run: Run) -> Iterator[Case]:
    """Entries of delivery queues and discard notifications that are older than they may get: the
    latter from when they were last asked for.
    """
    server = run.servers.get(entry.server)
    is_discard = entry.queue == "discard"
    if entry.queue not in ("delivery", "discard") or server is None:
        return
    since_ms = entry.entered_ms
    if is_discard and entry.delivered_ms is not None:
        since_ms = entry.delivered_ms
    if since_ms is None or run.end_ms is None:
        return
    if is_discard:
        since_ms = last_asked_ms(entry, since_ms, run)
    most_ms = run.config.auto_discard_ms if is_discard else server.config.expiration_ms
    age_ms = run.end_ms - since_ms
    is_over = age_ms > most_ms + run.config.heartbeat_ms + run.finest_ms + server.askew_ms
    detail = (
        f"in the {entry.queue} queue of {server.name} for {stamp(age_ms)}, at most {stamp(most_ms)}"
    )
    yield Case(
        VIOLATED if is_over else HOLDS,
        entry.message_id or server.name,
        ("SM-11" if is_discard else "SM-12",),
        detail,
        run.end_ms,
        (entry.ref,),
        weight=age_ms - most_ms,
        server=server.name,
    )


# what waited


def _born(message: Message) -> dict[Key, tuple[int | None, int | None, Ref | None, bool]]:
    """When each message came to its server, or it made it, a DSN (None where only LOAD after a
    restart speaks of it), since when it waits in a queue, the row that says so, and whether a
    restart found it.
    """
    found: dict[Key, tuple[int | None, int | None, Ref | None, bool]] = {}
    for key, primary in message.primaries.items():
        born, first = primary.born, primary.born or primary.loaded
        rows = [row.at_ms for row in (first, primary.redirect, primary.failure) if row is not None]
        queued_ms = max(rows, default=None)
        born_ms = born.at_ms if born else None
        is_loaded = primary.loaded is not None
        found[key] = (born_ms, queued_ms, born.ref if born else None, is_loaded)
    for row in message.of_event("DSN"):
        made = key_of(row)
        if made is not None and (found.get(made) or (None,))[0] is None:
            is_loaded = found[made][3] if made in found else False
            found[made] = (row.at_ms, row.at_ms, row.ref, is_loaded)
    return found


def _outstayed(message: Message, run: Run) -> Iterator[Case]:
    """What went to its next hop later than it should have expired, but for the session that was
    open then, and a server that was away: it expires what it finds when it is back. What came back
    or was promoted waits in no queue before it is made redundant anew (SM-13).
    """
    born = _born(message)
    for row in message.of_event("SEND"):
        server, known = run.servers.get(row.server), born.get(key_of(row) or Key("", "", ""))
        if server is None or known is None or known[1] is None:
            continue
        age_ms, config = row.at_ms - known[1], server.config
        if age_ms > config.expiration_ms:
            yield from _late(message, row, known[1], known[2], age_ms, server, run)


def _late(
    message: Message, row: TrackingRow, queued_ms: int, ref: Ref | None, age_ms: int,
    server: Server, run: Run,
) -> Iterator[Case]:  # fmt: skip
    config = server.config
    grace_ms = config.timeout_ms + run.config.heartbeat_ms + run.finest_ms + server.askew_ms
    is_over = age_ms > config.expiration_ms + grace_ms
    downs = (down.outage.possible for down in server.downs)
    if is_over and touches(downs, queued_ms + config.expiration_ms, row.at_ms):
        return
    most = stamp(config.expiration_ms)
    detail = f"{server.name} sent it on after {stamp(age_ms)}; it expires after {most}"
    yield Case(
        VIOLATED if is_over else HOLDS, message.message_id, ("SM-12",), detail, row.at_ms,
        refs(row.ref, ref), age_ms,
        server=server.name,
    )  # fmt: skip


def _expiries(message: Message, run: Run) -> Iterator[Case]:
    """What expired too early. After a restart a message is as old as the disk has it, which is
    written down before it is durable, and its row after that.
    """
    born = _born(message)
    for row in message.of_event("FAIL"):
        server, known = run.servers.get(row.server), born.get(key_of(row) or Key("", "", ""))
        is_expiry = row.source == "QUEUE" and EXPIRED in (row.recipient_status or "")
        if not is_expiry or server is None or known is None or known[0] is None:
            continue
        age_ms, expiration_ms = row.at_ms - known[0], server.config.expiration_ms
        vague_ms = run.finest_ms + server.askew_ms + (exchange_ms(run) if known[3] else 0)
        not_before = stamp(expiration_ms)
        detail = f"{server.name} expired it after {stamp(age_ms)}, not before {not_before}"
        yield Case(
            HOLDS if age_ms >= expiration_ms - vague_ms else VIOLATED, message.message_id,
            ("SM-12",), detail, row.at_ms, refs(row.ref, known[2]), expiration_ms - age_ms,
            server=server.name,
        )  # fmt: skip


CLAIM = Claim(
    "held_long_enough",
    ("SN-1", "SN-2", "SM-11", "SM-12"),
    needs=frozenset({QUEUES, TRACKING}),
    of_message=_cases,
    of_run=_unnamed,
)
