"""Who can be notified of what became of a message, and who was: DSNs as servers log them and as
their readers see them.

A DSN is a message of its own, and names the one that it is about. The null sender reads nothing
(RFC 5321 section 6.1), nor does a sender whose domain is nobody's here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from spark_eval.cases.case import UNKNOWN
from spark_eval.expected.safety_net.resubmissions import expected
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.histories.ways import Trouble
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

FAILED, DELAYED = "failed", "delayed"  # what a DSN says of a recipient (RFC 3464 section 2.3.3)


class MadeByServer(Protocol):
    """A DSN or a journal report as its server logged it; `message` is its own history."""

    @property
    def message(self) -> Message: ...

    @property
    def row(self) -> TrackingRow: ...

    @property
    def key(self) -> Key | None: ...


class Dsn(NamedTuple):
    """As its server logged it; `message` is its own history, `is_of_delay`: it says that something
    is late, and not that it failed.
    """

    message: Message
    row: TrackingRow
    is_of_delay: bool

    @property
    def key(self) -> Key | None:
        return key_of(self.row)


class Notified(NamedTuple):
    """What a sender sees: `seen`, where; `reports`, how many DSNs; `named`, of whom they say so,
    None where the record does not have what they say.
    """

    seen: Ref | None
    reports: int
    named: frozenset[str] | None


def dsns_about(message: Message, *, of_delay: bool) -> list[Dsn]:
    found = (
        Dsn(each, row, row.context == DELAYED)
        for each in message.dsns
        for row in each.of_event("DSN")
    )
    return [dsn for dsn in found if dsn.is_of_delay is of_delay]


def notified(dsns: Iterable[Dsn], reader: str, action: str) -> Notified:
    """What `reader` sees of those DSNs that say `action`."""
    seen = [
        (dsn.message.message_id, row)
        for dsn in dsns
        for row in dsn.message.visible
        if row.recipient == reader
    ]
    told = [row.reports for _, row in seen if row.reports is not None]
    named = frozenset(
        report.recipient.lower()
        for reports in told
        for report in reports
        if report.action == action and report.recipient is not None
    )
    return Notified(
        min((row.ref for _, row in seen), default=None),
        len({report for report, _ in seen}),
        named if told else None,
    )


def dsn_given_up(dsns: Iterable[MadeByServer], reader: str, run: Run) -> Ref | None:
    """Where a server gave up a DSN to `reader`, and a fault was in its way all the time: a DSN has
    no sender whom another one could be sent to (RFC 5321 section 4.5.5), so nobody hears of it. It
    was in trouble with it, and after that no longer than an attempt hangs and a queue or a message
    waits (RT-5). Or it was delivered, and lost with a copy of a mailbox database whose Safety Net
    could not be asked in time, or was lost too.
    """
    made = list(dsns)
    given_up = min(_given_up(made, reader, run), default=None)
    return given_up or min(_lost_with_a_copy(made, reader, run), default=None)


def _given_up(dsns: Iterable[MadeByServer], reader: str, run: Run) -> Iterator[Ref]:
    place = run.directory.place_of(reader)
    for dsn in dsns:
        for row in _failures(dsn, reader):
            server = run.servers.get(row.server)
            if server is not None and place is not None:
                troubles = run.routes.troubles(server.name, place)
                if _was_in_trouble(dsn, row, server, troubles, run):
                    yield row.ref


def _lost_with_a_copy(dsns: Iterable[MadeByServer], reader: str, run: Run) -> Iterator[Ref]:
    for dsn in dsns:
        for each in expected(dsn.message, run):
            is_lost = each.lost and not each.is_seen and each.status == UNKNOWN
            if is_lost and reader in each.fork.recipients:
                yield each.fork.first.row.ref


def _failures(dsn: MadeByServer, reader: str) -> Iterator[TrackingRow]:
    for row in dsn.message.of_event("FAIL"):
        is_own = row.source == "QUEUE" and key_of(row) == dsn.key
        if is_own and reader in (row.recipients or ()):
            yield row


def _was_in_trouble(
    dsn: MadeByServer, failed: TrackingRow, server: Server, troubles: Iterable[Trouble], run: Run
) -> bool:
    config = server.config
    waits_ms = (config.glitch_ms, config.transient_ms, config.outage_ms, config.put_off_ms)
    wait_ms = max(waits_ms) + int(1000 * run.speed)
    until_ms = dsn.row.at_ms
    for trouble in troubles:
        if trouble.at.lo <= until_ms:
            until_ms = max(until_ms, trouble.prolonged(config.timeout_ms).hi + wait_ms)
    return until_ms >= failed.at_ms
