"""What Safety Nets should have given back after a failover, and what they did (SN-4, SN-6 to SN-8).

The interval begins a margin before the last log that the new copy replayed: that log lies between
the last delivery which survived and the first that was lost. It ends, for each primary, when that
server learnt of the new copy. What surely lies inside, and what was lost, has to come back from the
Safety Net that has it; in between nothing is asked. That is for those whose mailbox is in the
database by then, whichever it was delivered into (SN-8). A server that Active Manager had no chance
to ask, or that has the copy no more, leaves it unknown, with the reason; but is excused, with the
same reason, where it has the copy no more and every recipient sees the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Status
from spark_eval.cases.words import stamp
from spark_eval.expected.mail.arrivals import Brought, brought_into
from spark_eval.expected.moves.where_now import surely_in
from spark_eval.expected.safety_net.failover_limits import Landed, landed
from spark_eval.expected.safety_net.pauses import may_wait
from spark_eval.expected.safety_net.safety_net_requests import Asking, askings, of_request
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import Change
from spark_eval.histories.primary import SAFETY_NET, Key, key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.rows import TrackingRow, collected, grouped

PRIMARY, SHADOW = "primary", "shadow"


class Given(NamedTuple):
    """A RESUBMIT row of a Safety Net: what it gave back for which failover."""

    row: TrackingRow
    database: str | None
    epoch: int | None

    @property
    def is_for_its_database(self) -> bool:
        return self.row.destination is not None and self.row.destination == self.database


def given_back(message: Message) -> list[Given]:
    """In order."""
    rows = [row for row in message.of_event("RESUBMIT") if row.source == SAFETY_NET]
    return [Given(row, *of_request(row.context)) for row in sorted(rows, key=_by_time)]


def _by_time(row: TrackingRow) -> tuple[int, tuple[str, int]]:
    return row.at_ms, row.ref


class Fork(NamedTuple):
    """What the server of a primary message brought into a database, first: `copy` and `epoch`.
    `epochs`: of each recipient, since a fork may be brought in parts, and to different copies.
    """

    key: Key
    database: str
    recipients: tuple[str, ...]
    first: Brought
    epochs: Mapping[str, int]

    def of_before(self, change: Change) -> tuple[str, ...]:
        """Those who had it first under an older epoch than that of the change."""
        if change.database != self.database:
            return self.recipients
        return tuple(r for r in self.recipients if self.epochs[r] < change.after.epoch)


def forks_brought(message: Message, run: Run) -> list[Fork]:
    """Of messages that a server answered for, which it does for a DSN that it made, too."""
    owned = {key for key, each in message.primaries.items() if each.is_there}
    owned |= {key for row in message.made_here if (key := key_of(row)) is not None}
    rows = collected(
        ((key, each.database), each)
        for each in brought_into(message, run)
        if (key := key_of(each.row)) is not None and key in owned
    )
    return [_fork(key, database, brought) for (key, database), brought in rows.items()]


def _fork(key: Key, database: str, brought: list[Brought]) -> Fork:
    in_order = sorted(brought, key=lambda each: (_placed(each.row), each.row.ref))
    epochs = {who: each.epoch for each in reversed(in_order) for who in each.row.recipients or ()}
    return Fork(key, database, tuple(sorted(epochs)), in_order[0], epochs)


def _placed(row: TrackingRow) -> int:
    return row.at_ms if row.mono_ns is None else row.mono_ns


class Expected(NamedTuple):
    """A fork that is to come back for a change, judged: `lost` with the copy before, or inside of
    the interval; `is_seen` by all its recipients; `given` back by its own Safety Net, or by a
    Shadow Safety Net that `stood_in`; `expired`: the Safety Net may have it no more.
    """

    fork: Fork
    asking: Asking
    lost: bool
    is_inside: bool
    is_seen: bool
    given: TrackingRow | None
    stood_in: TrackingRow | None
    status: Status
    reason: str
    expired: bool


@lru_cache(maxsize=4)
def expected(message: Message, run: Run) -> tuple[Expected, ...]:
    """One for each change and fork that is inside or was lost."""
    return tuple(_all_expected(message, run)) if askings(run) else ()


def _all_expected(message: Message, run: Run) -> Iterator[Expected]:
    forks = forks_brought(message, run)
    if not forks:
        return
    known, back = landed(message, run), given_back(message)
    again = {
        database: [
            each.epoch
            for each in brought_into(message, run)
            if each.database == database and each.row.event == "DUPLICATEDELIVER"
        ]
        for database in {fork.database for fork in forks}
    }
    by_server = grouped(askings(run), lambda each: (each.change.database, each.server.name))
    for fork in forks:
        theirs = by_server.get((fork.database, fork.key.server), [])
        for asking in theirs:
            there, owed = _whose(fork, asking, back, run)
            if there.recipients:
                found = _expected(
                    there, owed, asking, theirs, known, back, again[fork.database], run
                )
                if found is not None:
                    yield found
        yield from _of_moved(fork, by_server, known, back, run)


def _whose(fork: Fork, asking: Asking, back: list[Given], run: Run) -> tuple[Fork, tuple[str, ...]]:
    """For those whose mailbox surely was in the database when the change came; and those of them
    who are owed it, who surely were there until it came back, or surely could.
    """
    database, mounted_ms = asking.change.database, asking.change.mounted.at_ms or 0
    there = fork._replace(database=database)
    came = [each.row.at_ms for each in back if _is_own(each, there) and _is_after(each, asking)]
    until_ms = min(came, default=asking.ask_by_ms or run.end_ms or mounted_ms)
    whom = surely_in(
        database, fork.database, fork.of_before(asking.change), (mounted_ms, mounted_ms), run
    )
    span = (mounted_ms, max(mounted_ms, until_ms))
    return there._replace(recipients=whom), surely_in(database, database, whom, span, run)


def _is_after(given: Given, asking: Asking) -> bool:
    return (given.epoch or 0) >= asking.change.after.epoch


def _of_moved(
    fork: Fork,
    by_server: Mapping[tuple[str, str], list[Asking]],
    known: dict[tuple[str, str], Landed],
    back: list[Given],
    run: Run,
) -> Iterator[Expected]:
    """What was brought into the database that a mailbox was in before, and lies inside of the
    interval of one that it is in now.
    """
    others = {run.directory.moves[r].after for r in fork.recipients if r in run.directory.moves}
    for database in sorted(others - {fork.database}):
        for asking in by_server.get((database, fork.key.server), []):
            there, owed = _whose(fork, asking, back, run)
            if not owed or not _is_inside(fork, asking):
                continue
            there = there._replace(recipients=owed)
            came = [each for each in back if _is_own(each, there) and _is_after(each, asking)]
            mine = [known.get((fork.database, recipient)) for recipient in there.recipients]
            is_seen = all(each is not None and each.is_seen for each in mine)
            stood_in = _stood_in(back, there, asking.change.after.epoch)
            status, reason, expired = _judged(
                there, owed, asking, came, run,
                lost=False, is_inside=True, is_seen=is_seen, stood_in=stood_in is not None,
            )  # fmt: skip
            given = came[0].row if came else None
            yield Expected(
                there, asking, False, True, is_seen, given, stood_in, status, reason, expired
            )


def _is_inside(fork: Fork, asking: Asking) -> bool:
    """Surely of the interval, by the time at which it was brought."""
    brought_ms, to_ms = fork.first.row.at_ms, asking.inside_to_ms
    if asking.is_lossless or to_ms is None:
        return False
    return asking.inside_from_ms <= brought_ms < to_ms


def _expected(
    fork: Fork,
    owed: tuple[str, ...],
    asking: Asking,
    all_of_server: list[Asking],
    known: dict[tuple[str, str], Landed],
    back: list[Given],
    again: list[int],
    run: Run,
) -> Expected | None:
    epoch = asking.change.after.epoch
    mine = [known.get((fork.database, recipient)) for recipient in fork.recipients]
    is_seen = all(each is not None and each.is_seen for each in mine)
    left_at = _left_at(fork, mine, all_of_server, run)
    lost = left_at == epoch if left_at is not None else not is_seen and asking.change.is_last
    is_inside = _is_inside(fork, asking)
    own = [each for each in back if _is_own(each, fork)]
    lost = lost and not _came_before(own, fork, epoch, again)
    if not (lost or (is_inside and owed)):
        return None
    came = [each for each in own if _is_after(each, asking)]
    stood_in = _stood_in(back, fork, epoch)
    status, reason, expired = _judged(
        fork, owed, asking, came, run,
        lost=lost, is_inside=is_inside, is_seen=is_seen, stood_in=stood_in is not None,
    )  # fmt: skip
    given = came[0].row if came else None
    return Expected(
        fork, asking, lost, is_inside, is_seen, given, stood_in, status, reason, expired
    )


def _stood_in(back: list[Given], fork: Fork, epoch: int) -> TrackingRow | None:
    return next(
        (
            each.row
            for each in back
            if each.row.safety_net == SHADOW
            and each.is_for_its_database
            and each.database == fork.database
            and (each.epoch or 0) >= epoch
        ),
        None,
    )


def _is_own(given: Given, fork: Fork) -> bool:
    row = given.row
    copy = (row.server, row.database_id or "", row.copy_internal_id)
    is_for = given.is_for_its_database and given.database == fork.database
    return row.safety_net == PRIMARY and is_for and copy == tuple(fork.key)


def _left_at(
    fork: Fork, mine: list[Landed | None], all_of_server: list[Asking], run: Run
) -> int | None:
    """The epoch under which it first had to be taken again; or, of what a copy took after that of
    a later epoch was mounted, that one: it is lost to it, whoever saw it since.
    """
    brought_ms, epoch = fork.first.row.at_ms, fork.first.epoch
    again = [
        taken.epoch
        for each in mine
        if each is not None and not each.is_all_seen
        for taken in each.taken
        if taken.epoch > epoch and each.is_known_again(brought_ms, taken.at_ms)
    ]
    if again:
        return min(again)
    vague_ms = run.finest_ms + (all_of_server[0].server.askew_ms if all_of_server else 0)
    later = [
        each.change.after.epoch
        for each in all_of_server
        if each.change.after.epoch > epoch
        and each.change.mounted.at_ms is not None
        and each.change.mounted.at_ms < brought_ms - vague_ms
    ]
    return min(later, default=None)


def _came_before(own: list[Given], fork: Fork, epoch: int, again: list[int]) -> bool:
    """Whether it came back for a failover before this one, and no copy since then had it."""
    last = max(again, default=None)
    return any(
        fork.first.epoch < (each.epoch or 0) < epoch and (last is None or last < (each.epoch or 0))
        for each in own
    )


def _judged(
    fork: Fork,
    owed: tuple[str, ...],
    asking: Asking,
    came: list[Given],
    run: Run,
    *,
    lost: bool,
    is_inside: bool,
    is_seen: bool,
    stood_in: bool,
) -> tuple[Status, str, bool]:
    server, end_ms = fork.key.server, run.end_ms or 0
    left_out = [
        recipient
        for recipient in owed
        if all(recipient not in (each.row.recipients or ()) for each in came)
    ]
    if came and left_out:
        reason = f"{server} resubmitted it for {asking.name} without {', '.join(left_out)}"
        return VIOLATED, reason, False
    if came:
        return HOLDS, "", False
    queue_lost_ms = asking.server.lost_ms(fork.key.database_id)
    could_not = asking.learnt is None or (asking.ask_by_ms or 0) > end_ms
    if stood_in and (queue_lost_ms is not None or not is_inside or could_not):
        return HOLDS, "", False
    if lost and is_seen and not is_inside:
        return HOLDS, "", False
    if (expired := _is_over(fork, asking, run, queue_lost_ms)) is not None:
        return (HOLDS, expired, False) if is_seen else (UNKNOWN, expired, True)
    if not owed:
        return HOLDS, "", False
    what = _what(fork)
    if queue_lost_ms is not None:
        replaced = f"{what}, and lost its queue database at {stamp(queue_lost_ms)}"
        return (HOLDS if is_seen else UNKNOWN), replaced, False
    return (*_not_given(what, asking, run, lost=lost), False)


def _what(fork: Fork) -> str:
    return (
        f"{fork.key.server} had brought it into {fork.database} on {fork.first.copy} at "
        f"{stamp(fork.first.row.at_ms)}"
    )


def _is_over(fork: Fork, asking: Asking, run: Run, queue_lost_ms: int | None) -> str | None:
    """Why the Safety Net may have had it no more when it could be asked; not where the queue
    database was gone first.
    """
    kept_ms = fork.first.row.at_ms + run.config.hold_ms
    ask_by_ms = asking.ask_by_ms
    if asking.learnt is None or ask_by_ms is None or kept_ms >= ask_by_ms:
        return None
    if queue_lost_ms is not None and kept_ms >= queue_lost_ms:
        return None
    return (
        f"{_what(fork)} and kept it until {stamp(kept_ms)}; it could be asked for {asking.name} "
        f"only from {stamp(ask_by_ms)} on"
    )


def _not_given(what: str, asking: Asking, run: Run, *, lost: bool) -> tuple[Status, str]:
    end_ms, name, learnt = run.end_ms or 0, asking.name, asking.learnt
    if learnt is None and asking.tell_by_ms > end_ms:
        return UNKNOWN, f"{what}; until the end Active Manager had no chance to tell it of {name}"
    if learnt is None:
        return VIOLATED, f"{what}; it could be reached, and was never told of {name}"
    assert learnt.at_ms is not None
    assert asking.ask_by_ms is not None
    if asking.ask_by_ms > end_ms:
        return UNKNOWN, f"{what}; the run ended before it surely could be asked for {name}"
    if touches(asking.server.holes, learnt.at_ms, asking.ask_by_ms):
        return UNKNOWN, f"{what}; its record has a hole where it may have resubmitted it"
    if touches(may_wait(asking.server, run), end_ms, end_ms):
        return UNKNOWN, f"{what}; the resubmission waited until the end (SN-19)"
    if lost:
        return VIOLATED, f"{what}; lost with that copy, and never resubmitted for {name}"
    return VIOLATED, (
        f"{what}; inside the interval of {name}, which goes on to {stamp(learnt.at_ms)}, and "
        "never resubmitted"
    )
