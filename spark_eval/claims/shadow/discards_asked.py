"""discards_asked: a server that holds shadow messages asks in every session to their primary, is
notified of its own alone, and logs what it hears and what fails (SM-2, SM-3, SM-18, TL-4).

Four questions to each pair of servers, by the shadow server's own logs and by its clock alone. Each
session that it opens to a primary server, for messages, logs or what a Safety Net has, while it
surely holds shadow messages of it, begins with a question, at once (SM-2), but for those that it
has just begun to promote, or to let go. An answer names no more messages than that server can still
have to be notified of (SM-3). An attempt that failed is event 22004 (SM-18). And an answer is
logged for each message that it lets go (TL-4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Contact, Pair, Used, last_by
from spark_eval.histories.run import Run
from spark_eval.histories.ways import REPLICATION
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import CONNECTIVITY

HEARTBEAT_FAILED = 22004


@dataclass(frozen=True, slots=True)
class _Moment:
    """When something was asked or heard: how many shadow messages were surely held, were ever had,
    and were gone by then.
    """

    holding: int
    had: int
    gone: int


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    names = {*run.pairs.names(), *run.mail_of_pairs.held}
    for name in sorted(names):
        server = run.servers.get(name[0])
        if server is not None and name in run.mail_of_pairs.held:
            yield from _of_pair(name, server, run.pairs.between(*name), run)


def _of_pair(name: tuple[str, str], server: Server, pair: Pair, run: Run) -> Iterator[Case]:
    held = run.mail_of_pairs.held[name]
    moments = _moments(name, server, pair, held, run)
    others = [each.at for each in run.ways.troubles(*name, REPLICATION)]
    yield from _asks(name, pair, held, moments, _begun_ms(name, pair, run), others)
    yield from _tells(name, pair, held, moments)
    yield from _logs_answers(name, server, pair, held, run)
    yield from _logs_failures(name, pair, run)


def _case(
    name: tuple[str, str], requirement: str, detail: str, times: int, at: tuple[int, Ref] | None
) -> Case:
    """A violation where something happened at all."""
    return Case(
        VIOLATED if times else HOLDS,
        f"{name[0]} and {name[1]}",
        (requirement,),
        detail,
        at[0] if at else None,
        refs(at[1] if at else None),
        weight=times,
        server=name[0],
    )


# asking


def _asks(
    name: tuple[str, str], pair: Pair, held: HeldOfPair, moments: dict[int, _Moment],
    begun_ms: list[int], others: Sequence[Interval],
) -> Iterator[Case]:  # fmt: skip
    """`others`: while the way of logs may have been in trouble."""
    found = [
        (used, asks)
        for used in pair.used
        if moments[used.at_ms].holding > 0
        and (asks := _is_asked(used, pair, held, others, last_by(begun_ms, used.at_ms))) is not None
    ]
    unasked = [used for used, asks in found if not asks]
    if found:
        first = min(((used.at_ms, used.ref) for used in unasked), default=None)
        detail = (
            f"{name[0]} used {len(unasked)} sessions to {name[1]} without a question, while it "
            "held shadow messages of it"
        )
        yield _case(name, "SM-2", detail, len(unasked), first)


def _is_asked(
    used: Used, pair: Pair, held: HeldOfPair, others: Sequence[Interval], begun_ms: int | None
) -> bool | None:
    """None where nobody can say."""
    if used.asked and used.waited_ms <= held.prompt_ms:
        return True
    is_clear = _is_clear(used.at_ms, used.waited_ms, pair, held)
    if used.service == REPLICATION:
        is_clear = is_clear and not touches(others, used.at_ms, used.at_ms + used.waited_ms)
    if not is_clear and begun_ms is not None and used.at_ms <= begun_ms + held.prompt_ms:
        return None
    return False if not used.asked or is_clear else None


def _is_clear(at_ms: int, waited_ms: int, pair: Pair, held: HeldOfPair) -> bool:
    return not touches(pair.any_possible, at_ms - held.longest_ms, at_ms + waited_ms)


def _begun_ms(name: tuple[str, str], pair: Pair, run: Run) -> list[int]:
    """When something was begun with shadow messages: their promotion, or with an answer that names
    them their end. On a full disk either ends where it began, and is begun anew.
    """
    promoting = [
        row.at_ms
        for row in run.lifecycle
        if row.event == "promotion-begun"
        and (row.server, (row.primary or "").lower()) == name
        and row.at_ms is not None
    ]
    return sorted([*promoting, *(each.at_ms for each in pair.answers if each.notifications)])


# being notified


def _tells(
    name: tuple[str, str], pair: Pair, held: HeldOfPair, moments: dict[int, _Moment]
) -> Iterator[Case]:
    told = [
        (answer, moments[answer.at_ms])
        for answer in pair.answers
        if answer.notifications and _is_clear(answer.at_ms, 0, pair, held)
    ]
    if not told:
        return
    over = [
        (_over(answer, moment), answer, moment)
        for answer, moment in told
        if _over(answer, moment) > 0
    ]
    most = max(over, key=lambda each: (each[0], each[1].notifications, each[1].at_ms), default=None)
    detail = ""
    if most is not None:
        open_ = most[2].had - most[2].gone
        detail = (
            f"{name[1]} told {name[0]} of {most[1].notifications} messages at once, and {open_} at "
            f"most were its own; {len(over)} times in all"
        )
    yield _case(name, "SM-3", detail, len(over), (most[1].at_ms, most[1].ref) if most else None)


def _over(answer: Contact, moment: _Moment) -> int:
    return (answer.notifications or 0) - moment.had + moment.gone


def _moments(
    name: tuple[str, str], server: Server, pair: Pair, held: HeldOfPair, run: Run
) -> dict[int, _Moment]:
    """By time. An answer just before a kill may have let messages go with no row that says so;
    probes are in no question, and an answer names them beside all others.
    """
    times = pair.moments
    holding, had, gone = held.holding.copy(), held.had.copy(), held.gone.copy()
    for answer in pair.answers:
        if answer.notifications and touches(server.holes, answer.at_ms, answer.at_ms):
            holding[_place(times, answer.at_ms)] -= answer.notifications
    is_first_store = all(era.lost_ms is None for era in server.eras)
    for row in run.probes:
        if (row.server, row.primary_server) == name:
            if row.event == "HARECEIVE":
                had[_place(times, row.at_ms)] += 1
            elif row.event == "HADISCARD" and is_first_store:
                gone[_place(times, row.at_ms + held.prompt_ms)] += 1
    sums = (_running(each, len(times)) for each in (holding, had, gone))
    return {at_ms: _Moment(*counts) for at_ms, *counts in zip(times, *sums, strict=True)}


def _running(changes: Counter[int], length: int) -> list[int]:
    return list(accumulate(changes[place] for place in range(length)))


def _place(times: list[int], at_ms: int) -> int:
    return next((place for place, time_ms in enumerate(times) if time_ms >= at_ms), len(times))


# logging


def _logs_answers(
    name: tuple[str, str], server: Server, pair: Pair, held: HeldOfPair, run: Run
) -> Iterator[Case]:
    if not held.let_go:
        return
    named = sum(answer.notifications or 0 for answer in pair.answers)
    detail = (
        f"{name[0]} let {held.let_go} shadow messages of {name[1]} go, and by its connectivity log "
        f"{named} discard notifications came"
    )
    yield _case(name, "TL-4", detail, max(held.let_go - named, 0), held.first_let_go)


def _logs_failures(name: tuple[str, str], pair: Pair, run: Run) -> Iterator[Case]:
    """Sessions for a question that were lost are among the questions without an answer."""
    failed = max(pair.lost, len(pair.questions.failed))
    if not failed:
        return
    logged = sum(
        row.event_id == HEARTBEAT_FAILED and (row.server, (row.primary or "").lower()) == name
        for row in run.lifecycle
    )
    detail = (
        f"{failed} heartbeats of {name[0]} to {name[1]} failed, and {logged} times event 22004 "
        "says so"
    )
    unlogged = max(failed - len(pair.own_possible) - logged, 0)
    yield _case(name, "SM-18", detail, unlogged, None)


CLAIM = Claim(
    "discards_asked",
    ("SM-2", "SM-3", "SM-18", "TL-4"),
    needs=frozenset({CONNECTIVITY}),
    of_run=_cases,
)
