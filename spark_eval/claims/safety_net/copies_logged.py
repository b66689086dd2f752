"""copies_logged: the lifecycle log of a server has what becomes of its copies of mailbox databases
(TL-4).

Asks every start of a server with a copy of a database of several: in the same life a row says that
the copy was opened, or that it failed. Asks every delivery into such a database: the same life has
a row before it by which its copy was mounted. Asks every transition of which Active Manager says
that the new copy is mounted: so does the server of that copy, under the same epoch; and every copy
that was mounted under a later epoch: Active Manager says that it decided so. Asks whoever learnt of
a later epoch while its own copy was active, or dismounted: a row says what became of it.

Not asked: a life that was over, or a server that was away, before a row must be there; what is near
a kill or a hole of the log, or while a disk was full; a copy that follows already, since logs alone
take it to a later epoch; servers without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.disk import away_or_full, is_lost
from spark_eval.expected.node.lives import LoggedLife, life_at, logged_lives
from spark_eval.expected.safety_net.active_manager import managers
from spark_eval.expected.safety_net.log_shipping import late_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.deliveries import Delivered
from spark_eval.histories.organisation.active_copies import Change, placed
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

WORDS = (
    "copy-opened", "copy-passive", "copy-seeded-here", "copy-failed", "database-mounted",
    "database-dismounted",
)  # fmt: skip
MOUNTED = "database-mounted"
ITS_LOG = "its lifecycle log does not say"


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for active in run.active_copies.values():
        for name in run.databases[active.database].copies:
            server = run.servers.get(name)
            if server is not None and server.lives:
                yield from _of_copy(active.database, server, run)
        yield from _activations(active.database, run)
        for change in active.changes:
            yield from _decision(change, run)


def _of_copy(database: str, server: Server, run: Run) -> Iterator[Case]:
    lives = logged_lives(run).get(server.name, ())
    for life in lives:
        if life.started is not None:
            yield from _start(database, server, life, life.started, run)
    for stored in run.delivered.get((database, server.name), ()):
        if (life_of := life_at(lives, stored.placed)) is not None:
            yield from _delivery(database, server, stored, life_of)
    for row in run.lifecycle:
        is_own = (row.server, row.database) == (server.name, database)
        life_of = life_at(lives, placed(row) or 0) if is_own else None
        if row.event == "active-copy" and row.epoch and life_of is not None:
            yield from _follower(database, server, row, life_of, run)


def _words(life: LoggedLife, database: str) -> list[LifecycleRow]:
    return [row for row in life.rows if row.database == database and row.event in WORDS]


def _case(
    status: Status, subject: str, detail: str, at_ms: int | None, *shown: Ref | None,
    weight: float = 0,
) -> Case:  # fmt: skip
    return Case(status, subject, ("TL-4",), detail, at_ms, refs(*shown), weight)


def _start(
    database: str, server: Server, life: LoggedLife, started: LifecycleRow, run: Run
) -> Iterator[Case]:
    subject, at_ms = f"{database} on {server.name}", started.at_ms or 0
    if any(row.event in ("copy-opened", "copy-failed") for row in _words(life, database)):
        yield _case(HOLDS, subject, "", at_ms, started.ref)
        return
    due_ms = at_ms + late_ms(server, run)
    is_over = due_ms > life.over_ms(run.end_ms or 0)
    if is_over or touches(away_or_full(server), life.at_ms, due_ms):
        return
    if not is_lost(server, life.at_ms, due_ms):
        detail = (
            f"{server.name} started at {stamp(at_ms)}; {ITS_LOG} in that life that its copy of "
            f"{database} was opened"
        )
        yield _case(VIOLATED, subject, detail, at_ms, started.ref)


def _delivery(database: str, server: Server, stored: Delivered, life: LoggedLife) -> Iterator[Case]:
    """By the server's own tracking log; of which copy was active nothing is asked here."""
    started = life.started.ref if life.started else None
    weight = stored.at_ms - life.at_ms
    mounts = (row for row in _words(life, database) if row.event == MOUNTED)
    if any((placed(row) or 0) <= stored.placed for row in mounts):
        yield _case(HOLDS, stored.message_id, "", stored.at_ms, stored.ref, started, weight=weight)
    elif not is_lost(server, life.at_ms, stored.at_ms):
        detail = (
            f"{server.name} took it into its copy of {database} at {stamp(stored.at_ms)}; "
            f"{ITS_LOG} between {stamp(life.at_ms)} and then that it was mounted"
        )
        yield _case(
            VIOLATED, stored.message_id, detail, stored.at_ms, stored.ref, started, weight=weight
        )


def _activations(database: str, run: Run) -> Iterator[Case]:
    """What Active Manager says."""
    for row in run.lifecycle:
        server = run.servers.get((row.to or "").lower())
        is_said = row.event == "failover-mounted" and row.database == database
        if not is_said or server is None or not server.lives or row.at_ms is None:
            continue
        subject = f"{database}:{row.epoch} on {server.name}"
        if _mounted(database, server.name, row.epoch, run):
            yield _case(HOLDS, subject, "", row.at_ms, row.ref)
            continue
        from_ms = _decided_ms(database, row.epoch, run, "failover-decided") or 0
        if not is_lost(server, from_ms - server.slack_ms, row.at_ms + server.slack_ms):
            detail = (
                f"Active Manager says at {stamp(row.at_ms)} that {database}:{row.epoch} is mounted "
                f"on {server.name}; there {ITS_LOG} so"
            )
            yield _case(VIOLATED, subject, detail, row.at_ms, row.ref)


def _mounted(database: str, server: str, epoch: int | None, run: Run) -> bool:
    return any(
        (row.event, row.database, row.server, row.epoch) == (MOUNTED, database, server, epoch)
        for row in run.lifecycle
    )


def _decided_ms(database: str, epoch: int | None, run: Run, *events: str) -> int | None:
    times = (
        row.at_ms
        for row in run.lifecycle
        if row.event in events
        and (row.database, row.epoch) == (database, epoch)
        and row.at_ms is not None
    )
    return min(times, default=None)


def _decision(change: Change, run: Run) -> Iterator[Case]:
    server, mounted_ms = run.servers.get(change.after.server), change.mounted.at_ms
    if server is None or mounted_ms is None:
        return
    events = ("failover-decided", "failover-taken-up")
    decided_ms = _decided_ms(change.database, change.after.epoch, run, *events)
    name = f"{change.database}:{change.after.epoch}"
    subject = f"{name} on {change.after.server}"
    for manager in managers(run):
        if manager.dag != server.dag or not manager.lives:
            continue
        if decided_ms is not None:
            yield _case(HOLDS, subject, "", mounted_ms, change.mounted.ref)
            continue
        # what was decided is mounted by then, or given up
        since_ms = mounted_ms - run.software.requested_mount_ms
        if not is_lost(manager, since_ms, mounted_ms + manager.slack_ms):
            detail = (
                f"{change.after.server} mounted {name} at {stamp(mounted_ms)}; the lifecycle log "
                f"of {manager.name} does not say that it decided so"
            )
            yield _case(VIOLATED, subject, detail, mounted_ms, change.mounted.ref)


def _follower(
    database: str, server: Server, row: LifecycleRow, life: LoggedLife, run: Run
) -> Iterator[Case]:
    at_ms, epoch = row.at_ms or 0, row.epoch or 0
    due_ms = at_ms + late_ms(server, run)
    said = [word for each in logged_lives(run)[server.name] for word in _words(each, database)]
    before = [word for word in _words(life, database) if (placed(word) or 0) <= (placed(row) or 0)]
    word = before[-1] if before else None
    subject = f"{database}:{epoch} at {server.name}"
    if any((each.epoch or 0) >= epoch and (each.at_ms or 0) <= due_ms for each in said):
        yield _case(HOLDS, subject, "", at_ms, word.ref if word else None, row.ref)
        return
    if word is None or word.event not in (MOUNTED, "database-dismounted"):
        return
    if any(each.event == "copy-failed" for each in _words(life, database)):
        return
    is_over = due_ms > life.over_ms(run.end_ms or 0)
    is_away = touches(away_or_full(server), word.at_ms or 0, due_ms)
    if not is_over and not is_away and not is_lost(server, at_ms, due_ms):
        detail = (
            f"{server.name} learnt of {database}:{epoch} at {stamp(at_ms)}; of its own copy its "
            f"lifecycle log says {word.event} under {word.epoch} at {stamp(word.at_ms)}, and not "
            "that it follows"
        )
        yield _case(VIOLATED, subject, detail, at_ms, word.ref, row.ref)


CLAIM = Claim("copies_logged", ("TL-4",), needs=frozenset({LIFECYCLE}), of_run=_cases)
