"""What logs of servers say of each other: copies that were opened and are not listed, rows of a
queue database that was never opened, and servers that took mail and have no tracking log.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.fault_kinds import NEVER
from spark_eval.read.contradictions.made_by_lab import found, found_at, has_ended
from spark_eval.read.damage import Damage
from spark_eval.read.logs import Logs
from spark_eval.read.record import Record

UNLISTED = "no line of a copy that lifecycle.jsonl opens"
UNOPENED = "a queue database that lifecycle.jsonl does not open"
SILENT = "no row of a message tracking log, though this server took mail"


def of_servers(record: Record, logs: Logs) -> Iterator[Damage]:
    if has_ended(record.heading):
        yield from _unlisted_copies(record)
    yield from _unopened_databases(record, logs)
    yield from _silent_servers(logs, record.heading.untracked | record.heading.front_ends)


def _unlisted_copies(record: Record) -> Iterator[Damage]:
    """The lab lists every copy of a database of several when it has stopped the server; of one that
    is gone for good nothing is left.
    """
    gone = {
        (each.server or "").lower()
        for each in record.heading.plan.faults
        if each.keys.get("returns_with") == NEVER
    }
    listed = {(row.server, row.database) for row in record.rows.copies}
    opened = {
        (row.server, row.database)
        for row in record.rows.lifecycle
        if row.event == "copy-opened" and row.database is not None and row.server not in gone
    }
    for server, _ in sorted(opened - listed, key=str):
        yield found(f"logs/{server}/copies.jsonl", None, UNLISTED)


def _unopened_databases(record: Record, logs: Logs) -> Iterator[Damage]:
    """A server names its queue database when it creates or opens one, before it takes mail, and in
    every row of its message tracking log.
    """
    opened = {(row.server, row.database_id) for row in record.rows.lifecycle if row.database_id}
    for key, ref in sorted(logs.seen.items()):
        if key not in opened:
            yield found_at(ref, UNOPENED)


def _silent_servers(logs: Logs, untracked: frozenset[str]) -> Iterator[Damage]:
    """A sender has a 250 of theirs, or a server names them for the shadow message that they
    hold.
    """
    for server in sorted(logs.took - logs.said - untracked):
        yield found(f"logs/{server}/", None, SILENT)
