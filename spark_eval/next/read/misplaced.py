"""Logs that are not where the plan has servers: missing ones, and those of servers it lacks."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.next.read.damage import NO_SUCH_SERVER, NO_TRACKING, Damage
from spark_eval.next.read.names import server_of
from spark_eval.next.read.record import Record

MAILBOX = "mailbox"


def misplaced(record: Record) -> Iterator[Damage]:
    """Mailbox servers of the plan whose tracking log is not in the folder; in a run that the lab
    made, logs of servers that its plan does not have.
    """
    logs = sorted(name for name in record.files if server_of(name))
    tracked = {server_of(name) for name in logs if "/MSGTRK" in name}
    planned = [each for each in record.plan.topology.servers or () if each.name is not None]
    servers = {(each.name or "").lower(): each.role for each in planned}
    for name, role in servers.items():
        if role == MAILBOX and name not in tracked:
            yield Damage(name, f"logs/{name}/", None, NO_TRACKING)
    first = {server_of(name): name for name in reversed(logs) if server_of(name) not in servers}
    if record.is_made:
        yield from (Damage("", name, None, NO_SUCH_SERVER) for name in first.values())
