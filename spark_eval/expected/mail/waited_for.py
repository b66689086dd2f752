"""For whom a message still waited at its server when a DSN about it was made: as an interval, for
whom surely, and for whom perhaps. The decision comes shortly before the row that says so.
"""

from __future__ import annotations

from typing import NamedTuple

from spark_eval.expected.mail.addressees import answered_for
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.node.disk import FULL, is_lost
from spark_eval.expected.reports.notifications import Dsn
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary, key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches


class WaitedFor(NamedTuple):
    surely: frozenset[str]
    perhaps: frozenset[str]


def waited_for(dsn: Dsn, message: Message, server: Server, run: Run) -> WaitedFor | None:
    """Of all messages of that Message-Id that the server may have made the DSN about; None where
    nobody can say, since rows may be missing, or what they say may not have been durable.
    """
    store = (dsn.row.server, dsn.row.database_id or "")
    about = [
        primary
        for key, primary in message.primaries.items()
        if key[:2] == store and primary.is_there and not primary.is_resubmitted
    ]
    if not about or any(_is_vague(primary, dsn, server) for primary in about):
        return None
    made_ms = dsn.row.at_ms
    found = [
        (
            _left(primary, message, made_ms, run),
            _left(primary, message, made_ms - slack_ms(run), run),
        )
        for primary in about
    ]
    surely = frozenset.intersection(*(after for after, _ in found))
    return WaitedFor(surely, frozenset.union(*(before for _, before in found)))


def _is_vague(primary: Primary, dsn: Dsn, server: Server) -> bool:
    row = primary.born or primary.loaded
    from_ms, made_ms = (row.at_ms if row else 0), dsn.row.at_ms
    is_loaded = primary.last_loaded_ms is not None and primary.last_loaded_ms <= made_ms
    # what a disk or a process that stands still holds up is written later than it was decided
    held_up = touches(server.away(FULL, "pause"), from_ms, made_ms)
    return is_loaded or held_up or is_lost(server, from_ms, made_ms)


def _left(primary: Primary, message: Message, by_ms: int, run: Run) -> frozenset[str]:
    """Those of its recipients with whom it was not done by then."""
    done = {
        recipient
        for row in message.tracking
        if is_done(row) and key_of(row) == primary.key and row.at_ms <= by_ms
        for recipient in row.recipients or ()
    }
    return frozenset(answered_for(message, run)[primary.key]) - done
