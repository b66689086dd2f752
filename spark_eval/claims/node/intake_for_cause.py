"""intake_for_cause: a tracking log says RECEIVE of what somebody handed over, and of nothing else
(TL-2).

Asks every RECEIVE: a 250 names its server and its internal id, that
to the workload, one that a server of another boundary logged with its SEND, or one to the service
that submits from an Outbox (SUBMIT). Where none does, a
hand-over to this server was in doubt, one for each such RECEIVE: the workload lost its session
before an answer, or a front end lost that behind it, or a server of another boundary put the
message off, loaded it again, has it in its queue still, or may have lost the row; or one that had
its messages redirected there did.

And a server that has its messages redirected takes none meanwhile: of what was handed over all of
that time there is no 250 (SR-12). Nor does one whose component HubTransport is Inactive: whatever
came to it while it surely was, a shadow message too, is not there (TL-5). Nor does one hold a
shadow message that authenticates no other server, once each session that began before is over
(TL-6).

Not asked: what stands in a ledger that is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, fits, of_row
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import crossings
from spark_eval.expected.mail.redirections import redirections, surely_redirects
from spark_eval.expected.node.disk import is_lost
from spark_eval.expected.node.front_ends import says_server_lost
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import is_birth, order_of
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import EXACT_TRACKING, LEDGER
from spark_eval.read.rows import TrackingRow

SENT = "ledger.jsonl"
# a server that hangs up says so, and may take the message all the same (SR-7)
HANGS_UP = "421"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if any(each.file == SENT for each in run.damage):
        return
    for each in message.with_dsns:
        yield from _meanwhile(each, run)
        yield from _while_inactive(each, run)
        named, unnamed = _named(each, run), list[TrackingRow]()
        for row in sorted((row for row in each.of_event("RECEIVE") if is_birth(row)), key=order_of):
            if (row.server, row.internal_id) in named:
                yield from of_row(HOLDS, row, ("TL-2",), "")
            else:
                unnamed.append(row)
        for place, row in enumerate(unnamed):
            nth = 1 + sum(other.server == row.server for other in unnamed[:place])
            yield from _case(each, row, nth, run)


def _meanwhile(message: Message, run: Run) -> Iterator[Case]:
    """Attempts of the workload at a server that had its messages redirected all of the time."""
    for each in () if message.is_internal else message.attempts:  # an Outbox takes what it is given
        if each.started_ms is None or each.ended_ms is None:
            continue
        if surely_redirects(each.server, run, each.started_ms, each.ended_ms):
            status, detail = fits(
                f"{each.server} took it while its messages were redirected"
                if each.outcome == "ok"
                else ""
            )
            yield from asked(
                status, f"{message.message_id}, attempt {each.number}", ("SR-12",), detail,
                each.ended_ms, each, server=each.server,
            )  # fmt: skip


def _while_inactive(message: Message, run: Run) -> Iterator[Case]:
    """What began and ended while HubTransport surely was Inactive: a row, or an attempt."""
    for row in message.of_event("RECEIVE", "HARECEIVE"):
        server = run.servers.get(row.server)
        if server is None or (row.event == "RECEIVE" and not is_birth(row)):
            continue
        began_ms = row.at_ms - server.config.timeout_ms - server.slack_ms
        if row.event == "HARECEIVE" and server.name in run.denying:
            wrong = f"{row.server} logged HARECEIVE, and no other server could authenticate there"
            status, detail = fits(wrong if _is_denying(server, run, row.at_ms) else "")
            yield from of_row(status, row, ("TL-6",), detail)
        if _is_inactive(row.server, run, began_ms, row.at_ms):
            detail = f"{row.server} logged {row.event} while its HubTransport was Inactive"
            yield from of_row(VIOLATED, row, ("TL-5",), detail)
    for each in () if message.is_internal else message.attempts:  # an Outbox takes what it is given
        if each.started_ms is None or each.ended_ms is None:
            continue
        if _is_inactive(each.server, run, each.started_ms, each.ended_ms):
            wrong = f"{each.server} took it while its HubTransport was Inactive"
            status, detail = fits(wrong if each.outcome == "ok" else "")
            yield from asked(
                status, f"{message.message_id}, attempt {each.number}", ("TL-5",), detail,
                each.ended_ms, each, server=each.server,
            )  # fmt: skip


def _is_denying(server: Server, run: Run, at_ms: int) -> bool:
    """Whether nobody could authenticate there for as long as a session may last."""
    since_ms = at_ms - server.config.session_ms - server.slack_ms
    spans = (each.certain for each in run.denying.get(server.name, ()))
    return any(each is not None and each.covers(since_ms, at_ms) for each in spans)


def _is_inactive(server: str, run: Run, start_ms: int, end_ms: int) -> bool:
    spans = (each.certain for each in run.inactive.get(server, ()))
    return any(each is not None and each.covers(start_ms, end_ms) for each in spans)


def _named(message: Message, run: Run) -> set[tuple[str, str | None]]:
    """Servers and internal ids that a 250 names; within its own boundary a server sends into
    mailboxes, which is no intake.
    """
    answered = ((each.server, each.reply_internal_id) for each in message.attempts)
    submitted = ((row.server, row.internal_id) for row in message.submissions)
    crossed = ((hop.peer, hop.peer_internal_id) for hop in crossings(message, run))
    return {*answered, *submitted, *crossed}


def _case(message: Message, row: TrackingRow, nth: int, run: Run) -> Iterator[Case]:
    """Of the `nth` one of its server that no 250 names."""
    doubts = sum(
        row.server in run.behind(each.called) and _is_in_doubt(each, row, run)
        for each in message.attempts
    )
    is_unsaid = message.is_internal and _may_lack_its_submission(row, run)
    holds = (
        doubts >= nth
        or is_unsaid
        or any(
            _may_have_sent(message, name, row, run)
            for name in _holders(message)
            if name != row.server
        )
    )
    detail = (
        f"{row.server} logged RECEIVE of {row.internal_id}; no 250 names it, and of hand-overs to "
        f"it {doubts} had no answer"
    )
    yield from of_row(HOLDS if holds else VIOLATED, row, ("TL-2",), detail)


def _may_lack_its_submission(row: TrackingRow, run: Run) -> bool:
    """The service that submits logs the 250 next: a kill may swallow that."""
    server = run.servers.get(row.server)
    if server is None:
        return True
    start_ms, end_ms = row.at_ms - server.slack_ms, row.at_ms + server.slack_ms
    return server.out(start_ms, end_ms) is not Certainty.NO or is_lost(server, start_ms, end_ms)


def _is_in_doubt(attempt: Attempt, row: TrackingRow, run: Run) -> bool:
    slack_ms = run.servers[row.server].slack_ms if row.server in run.servers else 0
    is_begun = attempt.started_ms is None or attempt.started_ms <= row.at_ms + slack_ms
    reply = attempt.reply or HANGS_UP
    is_open = reply.startswith(HANGS_UP) or says_server_lost(reply)
    return attempt.outcome != "ok" and is_begun and is_open


def _holders(message: Message) -> set[str]:
    return {key.server for key in message.primaries}


def _may_have_sent(message: Message, name: str, row: TrackingRow, run: Run) -> bool:
    """Whether another server may have sent the message there, and has no SEND that says so."""
    server = run.servers.get(name)
    is_to = any((each.server.name, each.to) == (name, row.server) for each in redirections(run))
    is_near = server is not None and server.boundary == run.servers[row.server].boundary
    if server is None or (is_near and not is_to and not _hands_on(server, row, run)):
        return False
    from_ms = row.at_ms - server.askew_ms - server.slack_ms
    again = (each for each in message.of_event("DEFER", "LOAD") if each.server == name)
    queued = (each for each in message.queued if each.server == name and each.queue == "delivery")
    return (
        any(each.at_ms >= from_ms for each in again)
        or any(queued)
        or not run.is_listed(name)
        or any(era.lost_ms is not None and era.lost_ms >= from_ms for era in server.eras)
        or is_lost(server, from_ms, row.at_ms + server.config.timeout_ms)
    )


def _hands_on(server: Server, row: TrackingRow, run: Run) -> bool:
    """Whether its mail for any of the recipients goes over the server of the row, also within its
    boundary: to an expansion server, or a source of a connector.
    """
    ways = (run.routing.way(server, each, row.size_bytes) for each in row.recipients or ())
    return any(way is not None and way.is_relay and row.server in way.servers for way in ways)


CLAIM = Claim(
    "intake_for_cause",
    ("SR-12", "TL-2", "TL-5", "TL-6"),
    needs=frozenset({EXACT_TRACKING, LEDGER}),
    of_message=_cases,
)
