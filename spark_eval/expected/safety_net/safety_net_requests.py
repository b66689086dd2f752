"""Who is to be asked after a failover, for which interval, and by when that surely could be done
(SN-4, SN-6, SN-7).

Bounds, since no record says which log was the last that the new copy replayed. Where Active Manager
was down, or had no link to a server, it had no chance; it tries again every minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.cases.case import FITS, NOT_ASKED, UNKNOWN, VIOLATED, Judged
from spark_eval.cases.words import stamp
from spark_eval.expected.safety_net.active_manager import managers
from spark_eval.fault_kinds import Does
from spark_eval.histories.faults import Fault
from spark_eval.histories.organisation.active_copies import Change, placed
from spark_eval.histories.organisation.server import UNLOGGED_WALL_MS, Server
from spark_eval.histories.run import NO_LIMITS, TAKEN_ON, Limits, Run
from spark_eval.intervals.interval import Interval, first_clear, merged, touches
from spark_eval.read.names import Ref
from spark_eval.read.rows import LifecycleRow, collected

_REQUEST_ID = re.compile(r"(.+):(\d+)(?:[/.].*)?\Z")


class Request(NamedTuple):
    """A resubmit request that a server said it had taken on; once, however often it was asked, and
    by what it said later if a kill swallowed the first. `database` and `epoch` out of its id, None
    where it is another.
    """

    server: str
    request_id: str
    database: str | None
    epoch: int | None
    safety_net: str | None
    at_ms: int
    ref: Ref


class Asking(NamedTuple):
    """A change of the active copy, and a mailbox server of the boundary of its database. Surely
    inside of the interval: from `inside_from_ms` to `inside_to_ms`; surely outside: before
    `outside_before_ms`, after `outside_after_ms` (None: unknown). By `tell_by_ms` it was surely
    notified, by `ask_by_ms` asked.
    """

    change: Change
    limits: Limits
    server: Server
    learnt: LifecycleRow | None
    outages: tuple[Interval, ...]
    inside_from_ms: int
    inside_to_ms: int | None
    outside_before_ms: int | None
    outside_after_ms: int | None
    tell_by_ms: int
    ask_by_ms: int | None
    request: Request | None

    @property
    def name(self) -> str:
        return f"{self.change.database}:{self.change.after.epoch}"

    @property
    def is_lossless(self) -> bool:
        return self.change.is_orderly and self.limits.lost_ms is None


def of_request(request_id: str | None) -> tuple[str | None, int | None]:
    """The database and the epoch of the failover that a request belongs to."""
    found = _REQUEST_ID.match(request_id or "")
    return (found[1], int(found[2])) if found else (None, None)


def requests(run: Run) -> list[Request]:
    """Of all servers."""
    rows = collected(
        ((row.server, row.request_id), row)
        for row in run.lifecycle
        if row.event in TAKEN_ON and row.request_id is not None and row.at_ms is not None
    )
    return [
        Request(
            server, request_id, *of_request(request_id),
            min((row.safety_net for row in told if row.safety_net is not None), default=None),
            min(row.at_ms for row in told if row.at_ms is not None),
            min(row.ref for row in told),
        )
        for (server, request_id), told in sorted(rows.items())
    ]  # fmt: skip


def home_servers(database: str, run: Run) -> list[Server]:
    """Each mailbox server of the boundaries in which the database has its copies."""
    known = run.databases.get(database)
    copies = known.copies if known else ()
    inside = {run.servers[name].boundary for name in copies if name in run.servers} - {None}
    return [server for server in run.servers.values() if server.boundary in inside]


@lru_cache(maxsize=1)
def askings(run: Run) -> tuple[Asking, ...]:
    """One for each change and server that is to be asked."""
    taken_on = [each for each in requests(run) if each.safety_net == "primary"]
    found = []
    for active in run.active_copies.values():
        for change in active.changes:
            limits = run.limits.get((active.database, change.after.epoch), NO_LIMITS)
            for server in home_servers(active.database, run):
                found.append(_asking(change, limits, server, run, taken_on))
    return tuple(found)


def _asking(
    change: Change, limits: Limits, server: Server, run: Run, taken_on: Iterable[Request]
) -> Asking:
    outages, needs_ms = merged(_away(server, run)), need_ms(server, run)
    vague_ms = run.finest_ms + server.askew_ms
    unlogged_ms = int(UNLOGGED_WALL_MS * run.speed)
    mounted_ms, margin_ms = change.mounted.at_ms or 0, run.software.resubmit_margin_ms
    learnt, last = _learnt(change, server, run)
    learnt_ms = learnt.at_ms if learnt else None
    first_ms = mounted_ms if limits.lost_ms is None else min(limits.lost_ms, mounted_ms)
    lowest_ms = min(limits.survived_ms or 0, first_ms)
    is_next = change.after.epoch == change.before.epoch + 1
    return Asking(
        change=change,
        limits=limits,
        server=server,
        learnt=learnt,
        outages=outages,
        # a row follows the log, and the fork's end, that it reports
        inside_from_ms=first_ms - margin_ms + vague_ms + unlogged_ms,
        inside_to_ms=None if learnt_ms is None else learnt_ms - unlogged_ms - vague_ms,
        outside_before_ms=lowest_ms - margin_ms - vague_ms - unlogged_ms if is_next else None,
        outside_after_ms=last.at_ms + vague_ms if last and last.at_ms is not None else None,
        tell_by_ms=first_clear(mounted_ms, outages, needs_ms) + needs_ms,
        ask_by_ms=None
        if learnt_ms is None
        else first_clear(learnt_ms, outages, needs_ms) + needs_ms,
        request=min(
            (
                each
                for each in taken_on
                if each.server == server.name
                and each.database == change.database
                and each.epoch is not None
                and each.epoch >= change.after.epoch
            ),
            key=lambda each: (each.epoch, each.request_id, each.at_ms, each.ref),
            default=None,
        ),
    )


def need_ms(server: Server, run: Run) -> int:
    """How long Active Manager must be able to reach a server, to have surely notified it."""
    late_ms = max(_late(server, run), default=0)
    return run.software.asked_ms + _usual_ms(run) + late_ms + run.finest_ms


def _usual_ms(run: Run) -> int:
    return int(max(run.config.heartbeat_ms / 2, 1000 * run.speed))


def _learnt(
    change: Change, server: Server, run: Run
) -> tuple[LifecycleRow | None, LifecycleRow | None]:
    """The first and the last row in which a server says that it knew of that change, or of a later
    one.
    """
    rows = sorted(
        (
            row
            for row in run.said("active-copy")
            if row.server == server.name
            and row.database == change.database
            and (row.epoch or 0) >= change.after.epoch
        ),
        key=lambda row: (placed(row) or 0, row.ref),
    )
    return (rows[0], rows[-1]) if rows else (None, None)


def _away(server: Server, run: Run) -> Iterator[Interval]:
    for each in (server, *managers(server.dag, run)):
        yield from each.away()
    for fault in _of_links(server, run):
        if fault.does in (Does.AWAY, Does.IN_DOUBT) and fault.outage is not None:
            yield fault.outage.possible


def _late(server: Server, run: Run) -> Iterator[int]:
    for fault in _of_links(server, run):
        if fault.late_ms is not None:
            yield fault.late_ms


def _of_links(server: Server, run: Run) -> Iterator[Fault]:
    """Faults of links from Active Manager to a server, whatever the service."""
    names = {each.name for each in managers(server.dag, run)}
    for fault in run.faults:
        for link in fault.links:
            ends = (link.from_ or "").lower(), (link.to or "").lower()
            if ends[0] in names and ends[1] == server.name and fault.outage is not None:
                yield fault


def judged(asking: Asking, run: Run) -> Judged:
    """Whether the server was asked as it must be."""
    server = asking.server.name
    if asking.request is not None:
        return FITS
    if asking.is_lossless:
        return NOT_ASKED
    end_ms = run.end_ms or 0
    if asking.learnt is None:
        return _never_notified(asking, end_ms)
    told = f"{server} was told of {asking.name} at {stamp(asking.learnt.at_ms)}"
    assert asking.ask_by_ms is not None
    assert asking.learnt.at_ms is not None
    if asking.ask_by_ms > end_ms:
        return UNKNOWN, f"{told}; the run ended before it surely could be asked"
    if touches(asking.server.holes, asking.learnt.at_ms, asking.ask_by_ms):
        return UNKNOWN, f"the record of {server} has a hole where it may have been asked"
    by = stamp(asking.ask_by_ms)
    return VIOLATED, f"{told}, could be reached, and was not asked by {by}"


def _never_notified(asking: Asking, end_ms: int) -> Judged:
    server, change = asking.server.name, asking.change
    where = f"that {change.database} is active on {change.after.server}"
    if asking.tell_by_ms <= end_ms:
        by = stamp(asking.tell_by_ms)
        return VIOLATED, f"{server} could be reached by {by} and was never told {where}"
    if asking.server.is_gone:  # what others are asked for in its place, `stand_ins_asked` asks
        return NOT_ASKED
    return UNKNOWN, (
        f"{server} was never told {where}: until the end Active Manager had no chance to"
    )
