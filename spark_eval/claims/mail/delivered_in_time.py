"""delivered_in_time: outside of what faults excuse a delivery takes no longer than a bound, and
inside no longer than they explain (RT-5).

Asks every primary message of every server, recipient by recipient, that the recipient sees in the
end, or that another boundary took. Undisturbed it arrives within

    QueueGlitchRetryInterval (one failure that nobody knows the reason of)
    + two exchanges of a wall second each, in lab time
    + five times the clock's resolution (host.json)
    + five times what a sender waits for its 250 in the median, at most a wall second (ledger)

of the moment at which that server accepted, promoted or resubmitted it. A fault in its way puts
that off, to the fault's end, ConnectionInactivityTimeOut, the next step of the retry ladder
(QueueGlitchRetryCount and so on) and what queued up meanwhile; `expected.due` says how. On
containers, a wall second and more in which a sender waits for its 250 and no server writes a line
does not count. The order of messages is no promise. What never arrives is `no_loss`'s, and what a
server gave up (FAIL) before it arrived by another one is `dsn_sent`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.arrivals import Arrival
from spark_eval.expected.mail.due import Leg, due, legs
from spark_eval.histories.message import Message
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for leg in legs(message, run):
        if leg.arrived is not None:
            yield from _case(leg, leg.arrived, message, run)


def _case(leg: Leg, arrived: Arrival, message: Message, run: Run) -> Iterator[Case]:
    by, at_ms = due(leg, message, run), arrived.at_ms
    ends = (by.queue_lost_ms, _given_up_ms(leg, message))
    if any(end_ms is not None and at_ms > end_ms for end_ms in ends):
        return
    is_coarse = run.resolution_ms is None
    detail = (
        f"{leg.server.name} had it for {leg.recipient} from {stamp(leg.since_ms)} on; it arrived "
        f"at {stamp(at_ms)}, due by {stamp(by.due_ms)}"
    )
    yield from asked(
        bound(at_ms, None, by.due_ms, is_coarse=is_coarse), message.message_id, ("RT-5",),
        "the record does not say how finely its clock resolves" if is_coarse else detail, at_ms,
        leg.since_ref, arrived, weight=at_ms - by.due_ms, server=leg.server.name,
    )  # fmt: skip


def _given_up_ms(leg: Leg, message: Message) -> int | None:
    times = (
        row.at_ms
        for row in message.of_event("FAIL")
        if key_of(row) == leg.primary.key and leg.recipient in (row.recipients or ())
    )
    return min(times, default=None)


CLAIM = Claim("delivered_in_time", ("RT-5",), needs=frozenset({TRACKING}), of_message=_cases)
