"""Which copies of a mailbox database have a message for a recipient, and while they do.

The active copy has it from its delivery on. A passive one surely has its log once logs could reach
it for as long as one takes (`expected.safety_net.log_shipping`), and a copy that is mounted has
what survived. What was lost at a change of the active copy is gone from all of them when the new
one is mounted, though the disk of the old one may be intact: nobody takes it from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.expected.safety_net.failover_limits import Landed, Taken, landed, lost_at
from spark_eval.expected.safety_net.log_shipping import log_ways
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import ActiveCopies, Change
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, first_clear


class Stay(NamedTuple):
    """From `lo` to `hi`, lab ms; `ended`, why no longer."""

    lo: int
    hi: int
    ended: str


def in_mailbox_databases(message: Message, run: Run) -> Iterator[tuple[str, str, Stay]]:
    """Recipient and server of each."""
    known = landed(message, run)
    for (database, recipient), each in known.items():
        active = run.active_copies[database]
        for taken in each.taken:
            for server, stay in _of_delivery(taken, each, active, run):
                for there in _on_disks(stay, server, active, run):
                    yield recipient, server, there
    for seen in message.visible:
        place = run.directory.took(seen)
        is_new = place in run.databases and (place, seen.recipient) not in known
        if is_new and seen.kind == "mailbox" and seen.copied_ms is not None:
            server = _server_at(seen.copied_ms, place, run)
            yield seen.recipient, server, Stay(seen.copied_ms, FOREVER_MS, "")


def _on_disks(stay: Stay, server: str, active: ActiveCopies, run: Run) -> Iterator[Stay]:
    """It goes with the disk of its server, and is there again when a new one's copy is seeded."""
    seeds = [row.at_ms for row in active.seeded if row.server == server and row.at_ms is not None]
    for lost_ms in run.servers[server].disks_lost:
        if stay.lo < lost_ms < stay.hi:
            yield Stay(stay.lo, lost_ms, f"{server} lost its disk")
            again_ms = min((each for each in seeds if each >= lost_ms), default=FOREVER_MS)
            if again_ms >= stay.hi:
                return
            stay = Stay(again_ms, stay.hi, stay.ended)
    yield stay


def _server_at(at_ms: int, database: str, run: Run) -> str:
    """Of the copy that was active."""
    changes = run.active_copies[database].changes if database in run.active_copies else ()
    by_then = [each for each in changes if (each.mounted.at_ms or 0) <= at_ms]
    return by_then[-1].after.server if by_then else run.databases[database].copies[0]


def _of_delivery(
    taken: Taken, known: Landed, active: ActiveCopies, run: Run
) -> Iterator[tuple[str, Stay]]:
    changes = [each for each in active.changes if each.after.epoch > taken.epoch]
    lost = next((each for each in changes if lost_at(each, taken, known)), None)
    if lost is not None:
        mounted_ms, to = lost.mounted.at_ms, lost.after.server
        until_ms = taken.at_ms if mounted_ms is None else mounted_ms
        why = f"{active.database} lost it with the copy at {taken.copy}, when {to} mounted its own"
        yield taken.copy, Stay(taken.at_ms, until_ms, why)
        return
    yield taken.copy, Stay(taken.at_ms, FOREVER_MS, "")
    for server in run.databases[active.database].copies:
        if server != taken.copy and (since_ms := _follows_ms(server, taken, changes, run)):
            yield server, Stay(since_ms, FOREVER_MS, "")


def _follows_ms(server: str, taken: Taken, changes: list[Change], run: Run) -> int | None:
    """From when on a copy surely has what another one took, and which was not lost."""
    mounts = (each.mounted.at_ms for each in changes if each.after.server == server)
    mounted_ms = next((each for each in mounts if each is not None), None)
    way = log_ways(run).get((taken.copy, server))
    if way is None or way.failed_ms:
        return mounted_ms
    arrives_ms = first_clear(taken.at_ms, way.catching_up, way.late_ms) + way.late_ms
    return arrives_ms if mounted_ms is None else min(arrives_ms, mounted_ms)
