"""no_loss: what was acknowledged is once visible to everyone it was promised to, or excused with a
reason.

Excused is what SM-15 names: every custodian lost its queue database, or the only one there was
after an acceptance without a shadow (SR-5); and what a server gave up when its sender sees the DSN
(SM-12), or when the DSN was given up as well and a fault was in its way; and of a group whoever had
left it when the second copy of what was lost was categorised anew (SN-11).
`expect.unprotected_loss` bounds how many messages may be excused, none where it says nothing;
`expect.lost` says how many are lost, each of which is a violation all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, asked
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail import deliveries as expected
from spark_eval.expected.mail.deliveries import Delivery, deliveries
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import LEDGER, MAILBOXES

_STATUS: dict[str, Status] = {expected.LOST: VIOLATED, expected.UNKNOWN: UNKNOWN}


def _cases(message: Message, run: Run) -> Iterator[Case]:
    at_ms = message.ok.ended_ms if message.ok else None
    for delivery in deliveries(message, run):
        if delivery.promised:
            yield from asked(
                _STATUS.get(delivery.outcome, HOLDS),
                f"{message.message_id} to {delivery.recipient}",
                tuple(_requirements(message, run, delivery)), delivery.reason, at_ms,
                *delivery.refs[:2],
            )  # fmt: skip


def _requirements(message: Message, run: Run, delivery: Delivery) -> Iterator[str]:
    if delivery.outcome in (expected.EXCUSED, expected.LOST):
        yield "SM-15"
    server = run.servers.get(message.ok.server) if message.ok else None
    ended_ms = message.ok.ended_ms if message.ok else None
    if server is not None and ended_ms is not None and server.killed_after(ended_ms):
        yield "TL-7"
    if server is not None and ended_ms is not None and server.disks_lost[-1:] > (ended_ms,):
        yield "TP-8"


def _as_expected(run: Run, totals: Totals) -> Iterator[Case]:
    """How many messages were lost, where `expect.lost` says it, and how many were excused. Of one
    whose fate is unknown, either is possible. No mail, no case.
    """
    expect, lost = run.expect, run.expect.lost
    # where a pass is expected, what is lost says by itself that it was to be none
    fails = expect.verdict is not None and expect.verdict != "pass"
    if lost is not None and (lost > 0 or (lost == 0 and totals.lost > 0 and fails)):
        yield _count(run, "lost", (lost, lost), totals.lost, totals.may_be_lost)
    permitted = expect.unprotected_loss
    low, high = permitted[:2] if permitted and len(permitted) > 1 else (0, 0)
    said_none = permitted is not None and totals.promised > 0
    if totals.excused > 0 or low > 0 or said_none:
        bounds, maybe = (low, high), totals.may_be_excused
        yield _count(run, "excused", bounds, totals.excused, maybe)


def _count(run: Run, fate: str, bounds: tuple[int, int], found: int, maybe: int) -> Case:
    low, high = bounds
    status: Status = UNKNOWN if found < low or found + maybe > high else HOLDS
    if found > high or found + maybe < low:
        status = VIOLATED
    key = "lost" if fate == "lost" else "unprotected_loss"
    upto = f" to {high}" if high > low else ""
    return Case(
        status, f"expect.{key}", ("SM-15",) if fate == "excused" and found else (),
        f"{found} messages are {fate}, not {low}{upto}", run.end_ms, expected=True,
    )  # fmt: skip


CLAIM = Claim(
    "no_loss",
    ("SM-15", "TL-7", "TP-8"),
    needs=frozenset({LEDGER, MAILBOXES}),
    of_message=_cases,
    of_run=_as_expected,
)
