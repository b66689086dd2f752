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

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import agreement, precedence, response
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
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

WORDS = (
    "copy-opened", "copy-passive", "copy-seeded-here", "copy-failed", "database-mounted",
    "database-dismounted",
)  # fmt: skip
REQUIRED = ("TL-4",)
MOUNTED = "database-mounted"
OPENED = ("copy-opened", "copy-failed")
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
    for row in run.said("active-copy"):
        is_own = (row.server, row.database) == (server.name, database)
        life_of = life_at(lives, placed(row) or 0) if is_own else None
        if row.epoch and life_of is not None:
            yield from _follower(database, server, row, life_of, run)


def _words(life: LoggedLife, database: str) -> list[LifecycleRow]:
    return [row for row in life.rows if row.database == database and row.event in WORDS]


def _start(
    database: str, server: Server, life: LoggedLife, started: LifecycleRow, run: Run
) -> Iterator[Case]:
    at_ms = started.at_ms or 0
    due_ms = at_ms + late_ms(server, run)
    is_said = any(row.event in OPENED for row in _words(life, database))
    away = touches(away_or_full(server), life.at_ms, due_ms)
    status = response(
        at_ms if is_said else None, due_ms, life.over_ms(run.end_ms or 0),
        is_excused=away or is_lost(server, life.at_ms, due_ms),
    )  # fmt: skip
    detail = (
        f"{server.name} started at {stamp(at_ms)}; {ITS_LOG} in that life that its copy of "
        f"{database} was opened"
    )
    subject = f"{database} on {server.name}"
    yield from asked(status, subject, REQUIRED, detail, at_ms, started)


def _delivery(database: str, server: Server, stored: Delivered, life: LoggedLife) -> Iterator[Case]:
    """By the server's own tracking log; of which copy was active nothing is asked here."""
    mounts = (row for row in _words(life, database) if row.event == MOUNTED)
    mounted = min((placed(row) or 0 for row in mounts), default=None)
    is_excused = is_lost(server, life.at_ms, stored.at_ms)
    detail = (
        f"{server.name} took it into its copy of {database} at {stamp(stored.at_ms)}; {ITS_LOG} "
        f"between {stamp(life.at_ms)} and then that it was mounted"
    )
    yield from asked(
        precedence(mounted, stored.placed, is_excused=is_excused), stored.message_id, REQUIRED,
        detail, stored.at_ms, stored, life.started, weight=stored.at_ms - life.at_ms,
    )  # fmt: skip


def _activations(database: str, run: Run) -> Iterator[Case]:
    """What Active Manager says."""
    for row in run.said("failover-mounted"):
        server = run.servers.get((row.to or "").lower())
        is_of_it = row.database == database and row.at_ms is not None
        if not is_of_it or server is None or not server.lives:
            continue
        name, at_ms = f"{database}:{row.epoch}", row.at_ms or 0
        like = {"database": database, "epoch": row.epoch}
        mounted = run.said_ms(MOUNTED, server=server.name, **like)
        from_ms = min(run.said_ms("failover-decided", **like), default=0)
        is_excused = is_lost(server, from_ms - server.slack_ms, at_ms + server.slack_ms)
        detail = (
            f"Active Manager says at {stamp(at_ms)} that {name} is mounted on {server.name}; there "
            f"{ITS_LOG} so"
        )
        status = agreement(bool(mounted), True, is_excused=is_excused)
        subject = f"{name} on {server.name}"
        yield from asked(status, subject, REQUIRED, detail, at_ms, row)


def _decision(change: Change, run: Run) -> Iterator[Case]:
    server, mounted_ms = run.servers.get(change.after.server), change.mounted.at_ms
    if server is None or mounted_ms is None:
        return
    like = {"database": change.database, "epoch": change.after.epoch}
    name = f"{change.database}:{change.after.epoch}"
    # what was decided is mounted by then, or given up
    since_ms = mounted_ms - run.software.requested_mount_ms
    for manager in managers(server.dag, run):
        if manager.lives:
            said = (
                run.said_ms(event, server=manager.name, **like)
                for event in ("failover-decided", "failover-taken-up")
            )
            is_excused = is_lost(manager, since_ms, mounted_ms + manager.slack_ms)
            status = agreement(any(said), True, is_excused=is_excused)
            detail = (
                f"{server.name} mounted {name} at {stamp(mounted_ms)}; the lifecycle log of "
                f"{manager.name} does not say that it decided so"
            )
            subject = f"{name} on {server.name}"
            yield from asked(status, subject, REQUIRED, detail, mounted_ms, change.mounted)


def _follower(
    database: str, server: Server, row: LifecycleRow, life: LoggedLife, run: Run
) -> Iterator[Case]:
    at_ms, epoch = row.at_ms or 0, row.epoch or 0
    due_ms, in_life = at_ms + late_ms(server, run), _words(life, database)
    said = [word for each in logged_lives(run)[server.name] for word in _words(each, database)]
    came = (each.at_ms or 0 for each in said if (each.epoch or 0) >= epoch)
    before = [word for word in in_life if (placed(word) or 0) <= (placed(row) or 0)]
    word = before[-1] if before else None
    is_excused = (
        word is None
        or word.event not in (MOUNTED, "database-dismounted")
        or any(each.event == "copy-failed" for each in in_life)
        or touches(away_or_full(server), word.at_ms or 0, due_ms)
        or is_lost(server, at_ms, due_ms)
    )
    status = response(
        min(came, default=None), due_ms, life.over_ms(run.end_ms or 0), is_excused=is_excused
    )
    detail = f"{server.name} learnt of {database}:{epoch} at {stamp(at_ms)}"
    if word is not None:
        own = f"{word.event} under {word.epoch} at {stamp(word.at_ms)}"
        detail = f"{detail}; of its own copy its lifecycle log says {own}, and not that it follows"
    subject = f"{database}:{epoch} at {server.name}"
    yield from asked(status, subject, REQUIRED, detail, at_ms, word, row)


CLAIM = Claim("copies_logged", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
