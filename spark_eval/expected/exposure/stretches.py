"""While a message that was promised had fewer than two custodians, and why.

It is watched from its acknowledgement on, for whom its server answered for then: for a recipient
outside until a server outside has it, for a mailbox until its delivery has been in a Safety Net for
`SafetyNetHoldTime`, for anybody until a server gave it up. A message is exposed while it is for any
of them. What is shorter than a row may be late is none: nobody can tell it from one. Nothing is
said of what servers without tracking logs answer for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from spark_eval.expected.exposure.custody import Custody, custodies
from spark_eval.expected.mail.acknowledged import acknowledged_primary
from spark_eval.expected.mail.addressees import answered_for, handed_on
from spark_eval.expected.mail.arrivals import arrivals
from spark_eval.expected.mail.crossings import hops
from spark_eval.expected.shadow.shadow_copies import near_ms
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import EXTERNAL
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run

ENOUGH = 2
UNPROTECTED = "accepted without a shadow message"
SWITCHED_OFF = "ShadowRedundancyEnabled is false"
UNSAID = "acknowledged with one custodian, and nothing says why"
_FAILED = "FAIL"


class Watch(NamedTuple):
    """Of one recipient, lab ms; `delivered_ms`, when he had it first, where he did."""

    lo: int
    hi: int
    delivered_ms: int | None


class Stretch(NamedTuple):
    """From `lo` to `hi`, lab ms; `in_transit_ms` of it before the last of the recipients who were
    exposed had the message; `servers`, who had it at its start: one, or none; `cause`, why no more.
    """

    lo: int
    hi: int
    in_transit_ms: int
    servers: tuple[str, ...]
    cause: str

    @property
    def length_ms(self) -> int:
        return self.hi - self.lo


def is_watched(message: Message) -> bool:
    """Whether it was promised, and its server says what it did with it."""
    return message.is_acknowledged and acknowledged_primary(message) is not None


@lru_cache(maxsize=4)
def stretches(message: Message, run: Run) -> tuple[Stretch, ...]:
    """In order of time; none touches the next."""
    primary = acknowledged_primary(message)
    if not message.is_acknowledged or primary is None or message.ok is None:
        return ()
    held = custodies(message, run)
    found = [
        stretch
        for recipient in _watched(message, primary, run)
        for stretch in _of_recipient(
            held.get(recipient, []), _watch(message, recipient, run), primary, run
        )
    ]
    return tuple(_together(found))


def _watched(message: Message, primary: Primary, run: Run) -> list[str]:
    """For whom its server answers, or a group that it hands on stands for."""
    groups = handed_on(message, run)
    whom = answered_for(message, run)[primary.key]
    return sorted({who for each in whom for who in groups.get(each, (each,))})


def _watch(message: Message, recipient: str, run: Run) -> Watch:
    ok, end_ms = message.ok, run.end_ms or 0
    from_ms = (ok.ended_ms if ok else None) or 0
    if message.is_internal and message.submissions:
        # before that it is in an Outbox, which is as redundant as its mailbox database
        from_ms = message.submissions[0].at_ms
    failed = [
        row.at_ms
        for row in message.of_event(_FAILED)
        if row.source == "QUEUE" and recipient in (row.recipients or ())
    ]
    if run.directory.is_inside(recipient):
        arrived = [each.at_ms for each in arrivals(message, run).get(recipient, ())]
        delivered_ms = min(arrived, default=None)
        over = [] if delivered_ms is None else [delivered_ms + run.config.hold_ms]
    else:
        over = [
            hop.row.at_ms
            for hop in hops(message, run)
            if run.servers[hop.peer].role == EXTERNAL and recipient in (hop.row.recipients or ())
        ]
        delivered_ms = min(over, default=None)
    return Watch(from_ms, max(from_ms, min([end_ms, *over, *failed])), delivered_ms)


def _of_recipient(
    held: list[Custody], watch: Watch, primary: Primary, run: Run
) -> Iterator[Stretch]:
    moments = {watch.lo, watch.hi, *(each.lo for each in held), *(each.hi for each in held)}
    exposed: list[tuple[int, int]] = []
    between = sorted(each for each in moments if watch.lo <= each <= watch.hi)
    for lo, hi in pairwise(between):
        if len(_servers(held, lo, hi)) < ENOUGH:
            if exposed and exposed[-1][1] == lo:
                exposed[-1] = exposed[-1][0], hi
            else:
                exposed.append((lo, hi))
    for lo, hi in exposed:
        if hi - lo > vague_ms(run):
            yield _stretch(lo, hi, held, watch, primary, run)


def vague_ms(run: Run) -> int:
    """What is shorter may be the lateness of a row."""
    late_ms = max((each.slack_ms for each in run.servers.values()), default=0)
    return late_ms + near_ms(run)


def _servers(held: Iterable[Custody], lo: int, hi: int) -> set[str]:
    return {each.server for each in held if each.lo <= lo and each.hi >= hi}


def _stretch(
    lo: int, hi: int, held: list[Custody], watch: Watch, primary: Primary, run: Run
) -> Stretch:
    delivered_ms = hi if watch.delivered_ms is None else watch.delivered_ms
    in_transit_ms = max(0, min(delivered_ms, hi) - lo)
    servers = tuple(sorted(_servers(held, lo, min(hi, lo + 1))))
    return Stretch(lo, hi, in_transit_ms, servers, _cause(lo, held, primary, run))


def _cause(at_ms: int, held: list[Custody], primary: Primary, run: Run) -> str:
    """What began shortly before, or ended; from the acknowledgement on, what its server said."""
    from_ms = at_ms - vague_ms(run)
    if any(each.unprotected and from_ms <= each.lo <= at_ms for each in held):
        return UNPROTECTED
    ended = [each for each in held if from_ms <= each.hi <= at_ms and each.ended]
    if ended:
        return max(ended, key=lambda each: (each.hi, each.ended)).ended
    if primary.failure is not None:
        return UNPROTECTED
    return UNSAID if run.config.enabled else SWITCHED_OFF


def _together(found: list[Stretch]) -> Iterator[Stretch]:
    """Of several recipients: those that share a moment are one, by the cause of the first."""
    whole: Stretch | None = None
    for each in sorted(found):
        if whole is None or each.lo > whole.hi:
            if whole is not None:
                yield whole
            whole = each
            continue
        transit_until = max(one.lo + one.in_transit_ms for one in (whole, each))
        hi = max(whole.hi, each.hi)
        whole = whole._replace(hi=hi, in_transit_ms=min(hi, transit_until) - whole.lo)
    if whole is not None:
        yield whole
