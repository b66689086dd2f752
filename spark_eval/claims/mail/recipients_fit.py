"""recipients_fit: a row of a tracking log names the recipients whom its step concerned, and no
others (TL-1, RT-4).

Asks every row by which a primary message was put off (DEFER), sent
on or stored (SEND, DELIVER, DUPLICATEDELIVER), or given up (FAIL). It names nobody whom an earlier
row of that message says to be done. All whom it names have the same next hop, as the plan has it,
and that is the one that the row says (`Fork`), or the mailbox database that it says took the
message, unless an administrator had them redirected to another server; of a mailbox that moved it
is the database where that was just then; and what exceeds a limit of the organisation goes no way
at all. And of those whom the message waits for there, a DEFER
names all: what a next hop takes for some is put off for the others alone.

Not asked: who was done before his server loaded the message anew, since that may not have been
durable; what is near a hole of the log, or on a full disk, between the two rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_eval.cases.case import Case, fits, of_row
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import answered_for
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.mail.redirections import redirection_of
from spark_eval.expected.moves.ways import hop_said, may_be_held, way_of
from spark_eval.expected.node.disk import is_lost
from spark_eval.expected.node.limits import limit_said
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary, key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import TrackingRow, grouped

LOADED = "LOAD"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        steps = [row for row in each.tracking if is_done(row) or row.event in ("DEFER", LOADED)]
        for key, rows in grouped(sorted(steps, key=order_of), key_of).items():
            server = run.servers.get(key.server) if key is not None else None
            if key is not None and server is not None:
                whom = answered_for(each, run).get(key, ())
                yield from _of_primary(rows, each.primaries.get(key), whom, server, run)


def _of_primary(
    rows: Sequence[TrackingRow],
    primary: Primary | None,
    recipients: Sequence[str],
    server: Server,
    run: Run,
) -> Iterator[Case]:
    born = (primary.born or primary.loaded) if primary else None
    done: dict[str, TrackingRow] = {}
    doubtful: set[str] = set()
    for row in rows:
        if row.event == LOADED:
            doubtful |= done.keys()
            done.clear()
            continue
        wrong, other = _wrong(row, done, server, run)
        if not wrong and row.event == "DEFER":
            left = [each for each in recipients if each not in done and each not in doubtful]
            wrong = _missing(row, left, born or rows[0], server, run)
        status, detail = fits(wrong and f"its {row.event} row at {row.server} {wrong}")
        has_moved = not run.directory.moves.keys().isdisjoint(row.recipients or ())
        asked = ("TL-1", "SN-8") if has_moved else ("TL-1",)
        yield from of_row(status, row, asked, detail, other)
        if is_done(row):
            done.update(dict.fromkeys(row.recipients or (), row))


def _wrong(
    row: TrackingRow, done: dict[str, TrackingRow], server: Server, run: Run
) -> tuple[str, TrackingRow | None]:
    """What does not fit, or the empty text; and the earlier row that shows it."""
    named = row.recipients or ()
    for each in named:
        before = done.get(each)
        if before is not None and not is_lost(server, before.at_ms, row.at_ms):
            done_at = f"{before.event} had done at {stamp(before.at_ms)}"
            return f"names {each}, with whom {done_at}", before
    if limit_said(row):
        return "", None
    hops = {hop for each in named if (hop := _hop_of(each, row, server, run)) is not None}
    if len(hops) > 1:
        return f"names recipients of several next hops, {' and '.join(sorted(hops))}", None
    said = hop_said(row)
    is_elsewhere = redirection_of(row, run) is not None
    if said is not None and hops and said not in hops and not is_elsewhere:
        return f"names {named[0]}, who has another next hop than {said}", None
    return "", None


def _missing(
    row: TrackingRow, left: Sequence[str], first: TrackingRow, server: Server, run: Run
) -> str:
    said, named = row.fork, row.recipients or ()
    if named and redirection_of(row, run) is not None:
        said = _hop_of(named[0], row, server, run)
    for each in left:
        is_there = said is not None and _hop_of(each, row, server, run) == said
        is_there = is_there and not may_be_held(each, row, server, run)
        if is_there and each not in named and not is_lost(server, first.at_ms, row.at_ms):
            return f"does not name {each}, for whom the message waits there as well"
    return ""


def _hop_of(recipient: str, row: TrackingRow, server: Server, run: Run) -> str | None:
    """Of the server, for a message of that size."""
    way = way_of(recipient, row, server, run)
    return way.hop if way else None


CLAIM = Claim(
    "recipients_fit", ("TL-1", "SN-8"), needs=frozenset({EXACT_TRACKING}), of_message=_cases
)
