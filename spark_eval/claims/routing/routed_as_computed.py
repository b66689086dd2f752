"""routed_as_computed: mail takes the way that sites, link costs and connectors give it (TP-2, RT-1
to RT-3), as one copy for as long as its recipients have it in common (RT-4), and where that is
closed, it goes as near to its destination as it can (RT-5).

Asks every SEND of a message, and every DEFER for which no server was reached, by the way that the
plan gives each recipient. A SEND names a next hop and a server of it. One that stands farther back
on the way takes it only while something may have been in the way to each that stands before it; and
mail is put off only while something may have been in the way to all of them. To a hub site it goes
for all at once who have it on their way and are not done. What is larger than a
link or connector of its way permits is given up with 550 5.3.4, and nothing else is. Of a mailbox
that moves the way counts that leads to where it was just then.

A hop that its row says was redirected is right where an administrator had the messages of the
server redirected to that one, and while that was under way (SR-12).

Not asked: in which turn servers of one site are tried; a DEFER after a server answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spark_eval.cases.case import Case, fits, of_row
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import answered_for
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.mail.redirections import is_redirected, redirection_of
from spark_eval.expected.moves.ways import way_of
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.routing import TOO_LARGE, Way
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import CONNECTIVITY, EXACT_TRACKING
from spark_eval.read.rows import TrackingRow

GIVEN_UP = "550 5.3.4"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for row in each.of_event("SEND", "DEFER", "FAIL"):
            server = run.servers.get(row.server)
            if server is not None and is_redirected(row):
                yield from _redirected(row, run)
            elif server is not None and server.is_mailbox:
                yield from _of_row(each, row, server, run)


def _redirected(row: TrackingRow, run: Run) -> Iterator[Case]:
    wrong = f"{row.server} sent it by {row.fork}, and nobody had its messages redirected so then"
    status, detail = fits("" if redirection_of(row, run) else wrong)
    yield from of_row(status, row, ("SR-12",), detail)


def _of_row(message: Message, row: TrackingRow, server: Server, run: Run) -> Iterator[Case]:
    for way in _ways(row, server, run):
        wrong = _wrong(row, way, server, run)
        if wrong == "" and row.event == "SEND" and way.is_to_a_hub:
            wrong = _left_behind(message, row, way, server, run)
        if wrong is not None:
            status, detail = fits(wrong and f"{row.server} {wrong}")
            yield from of_row(status, row, tuple(_requirements(row, way)), detail)


def _ways(row: TrackingRow, server: Server, run: Run) -> Iterable[Way]:
    """Of its recipients, each once."""
    found = (way_of(each, row, server, run) for each in row.recipients or ())
    return dict.fromkeys(way for way in found if way is not None)


def _wrong(row: TrackingRow, way: Way, server: Server, run: Run) -> str | None:
    """What does not fit, or the empty text; None where nothing is asked."""
    if row.event == "FAIL":
        is_so = (row.recipient_status or "").startswith(GIVEN_UP)
        if is_so and way.hop != TOO_LARGE:
            return f"gave it up as too large for its way, which is {way.hop}"
        return "" if is_so else None
    if way.hop == TOO_LARGE:
        return f"did not give it up, and {row.size_bytes} bytes pass no way to its recipient"
    if not way.is_relay and row.event == "DEFER":
        return None
    if row.event == "DEFER":
        return _put_off(row, way, server, run)
    return _sent(row, way, server, run)


def _sent(row: TrackingRow, way: Way, server: Server, run: Run) -> str:
    if row.fork is not None and row.fork != way.hop:
        return f"sent it by {row.fork}, and its way is {way.hop}, over {' '.join(way.sites)}"
    if row.peer not in way.servers:
        return f"sent it to {row.peer}, which is on no way to {way.hop}"
    nearer = [each for tier in way.tiers[: _place(row, way)] for each in tier]
    if open_one := _open(nearer, row, server, run):
        return f"sent it to {row.peer}, and nothing was in the way to {open_one}, which is nearer"
    return ""


def _left_behind(message: Message, row: TrackingRow, way: Way, server: Server, run: Run) -> str:
    """Whom this row and those before it say nothing of, though the hub is on his way, too."""
    key = key_of(row)
    own = [each for each in message.tracking if key_of(each) == key and each.at_ms <= row.at_ms]
    done = [each for each in own if is_done(each) or each.at_ms == row.at_ms]
    named = {recipient for each in (row, *done) for recipient in each.recipients or ()}
    for each in answered_for(message, run).get(key, ()) if key else ():
        if each not in named and way_of(each, row, server, run) == way:
            return f"sent it to {row.peer} without {each}, whose way leads there as well"
    return ""


def _put_off(row: TrackingRow, way: Way, server: Server, run: Run) -> str | None:
    queues = run.queues.get(row.server)
    if queues is None or queues.opened_ms(row) is None:
        return None
    if open_one := _open(way.servers, row, server, run):
        return f"put it off at {stamp(row.at_ms)}, and nothing was in the way to {open_one}"
    return ""


def _open(names: Iterable[str], row: TrackingRow, server: Server, run: Run) -> str | None:
    """The first of those to whom the way was surely open all the time that the attempt may have
    taken: each that was tried before may have kept silent for a time-out.
    """
    names = list(names)
    since_ms = row.at_ms - (1 + len(names)) * server.config.timeout_ms - server.slack_ms
    until_ms = row.at_ms + server.slack_ms
    return next(
        (
            name
            for name in names
            if not any(
                each.at.touches(since_ms, until_ms) for each in run.ways.troubles(server.name, name)
            )
        ),
        None,
    )


def _requirements(row: TrackingRow, way: Way) -> Iterator[str]:
    """TP-2 and RT-1 where there is more than one link to go by."""
    if len(way.sites) > 2 or way.hop == TOO_LARGE:
        yield from ("TP-2", "RT-1")
    if len(way.sites) > 2:
        yield "RT-2"
    if way.is_relay:
        yield "RT-3"
    if way.is_to_a_hub:
        yield "RT-4"
    if row.event == "DEFER" or _place(row, way) > 0:
        yield "RT-5"


def _place(row: TrackingRow, way: Way) -> int:
    """How many tiers stand before the server that it was sent to."""
    return next((at for at, tier in enumerate(way.tiers) if row.peer in tier), 0)


CLAIM = Claim(
    "routed_as_computed",
    ("SR-12", "TP-2", "RT-1", "RT-2", "RT-3", "RT-4", "RT-5"),
    needs=frozenset({EXACT_TRACKING, CONNECTIVITY}),
    of_message=_cases,
)
