"""volume_watched: a server whose volume is full of mail takes no more of it from outside, and one
whose mail has left is not under pressure for it (TL-8, F§6).

What it took from outside it surely has from its 250 until the stay in Safety Net of a message that
is delivered at once is over. Asks each server with a volume of a known size, by the ledger of
senders alone, for the most that it surely had when it took one more message: that is below the
threshold of the medium level. And asks one that says at the end of the run that its volume is short
whether it may be: whether all mail of the run that may be somewhere yet could fill it.

Not asked: a server whose disk or queue database a fault or an operation was for; the last, where
mail was put off, which then stays nobody knows how long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.organisation.pressure import DISK, EVENT, LEVELS, NORMAL
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.traffic import UnderWay
from spark_eval.read.plan import LIFECYCLE, MINUTE_MS

REQUIRED = ("TL-8",)


def _cases(run: Run, _totals: Totals) -> Iterator[Case]:
    for server in run.servers.values():
        if server.limits.volume_bytes and not _is_concerned(server, run):
            yield from _most_held(server, run)
            yield from _at_the_end(server, run)


def _is_concerned(server: Server, run: Run) -> bool:
    """By a fault or by an operation."""
    faults = any(fault.server == server.name for fault in run.faults)
    return faults or bool(run.planned_operations) or bool(server.downs) or len(server.eras) > 1


def _most_held(server: Server, run: Run) -> Iterator[Case]:
    """What it surely had whenever it took one more, by how full its volume was then."""
    taken = sorted(
        (each for each in run.traffic.under_way.get(server.name, ()) if each.counts),
        key=lambda each: each.at.lo,
    )
    late_ms = server.limits.interval_ms + 2 * server.slack_ms
    most, at_ms = 0, None
    for at, held in _held(taken, min(run.config.hold_ms, server.config.expiration_ms), late_ms):
        if held >= most:
            most, at_ms = held, at
    if at_ms is not None:
        volume, medium = server.limits.volume_bytes, server.limits.thresholds[DISK].low_to_medium
        yield from asked(
            bound(most, None, (volume * medium - 1) // 100), server.name, REQUIRED,
            f"{server.name} took mail at {stamp(at_ms)} and had {most} bytes of it for "
            f"{late_ms} ms, of a volume of {volume}",
            at_ms, server=server.name,
        )  # fmt: skip


def _held(taken: Sequence[UnderWay], stay_ms: int, late_ms: int) -> Iterator[tuple[int, int]]:
    """For each message that is taken: when, and what it surely had all through `late_ms` before."""
    came = sorted((each.at.hi, each.size_bytes) for each in taken)
    went = [(each.at.lo + stay_ms, each.size_bytes) for each in taken]
    has_come = has_gone = held = 0
    for each in taken:
        at_ms = each.at.lo
        while has_come < len(came) and came[has_come][0] <= at_ms - late_ms:
            held += came[has_come][1]
            has_come += 1
        while has_gone < len(went) and went[has_gone][0] <= at_ms:
            held -= went[has_gone][1]
            has_gone += 1
        yield at_ms, held


def _at_the_end(server: Server, run: Run) -> Iterator[Case]:
    """Whether its last word is that its volume is short, though no mail may be left to fill it."""
    rows = [row for row in run.said(EVENT) if row.server == server.name and row.resource == DISK]
    if not rows or run.end_ms is None or run.traffic.tried.total():
        return
    last, late_ms = rows[-1], server.limits.interval_ms + 2 * server.slack_ms
    gone_ms = run.end_ms - late_ms - run.config.hold_ms - MINUTE_MS
    mail = (each for to in run.traffic.under_way.values() for each in to)
    left = sum(each.size_bytes for each in mail if each.at.hi > gone_ms)
    if not server.limits.may_be_short(left):
        is_relieved = last.to == LEVELS[NORMAL]
        yield from asked(
            bound(int(not is_relieved), None, 0), f"{server.name}, at the end", REQUIRED,
            f"{server.name} is at the level {last.to} at the end, and no mail is left that could "
            "fill its volume", last.at_ms, last, server=server.name,
        )  # fmt: skip


CLAIM = Claim("volume_watched", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
