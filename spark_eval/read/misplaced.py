"""Logs that are not where they are read: missing ones, those of servers that the plan lacks, and
files that look like logs and are none that anybody reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.read.damage import NO_SUCH_SERVER, NO_TRACKING, NOT_READ, Damage
from spark_eval.read.folder.files import is_evidence
from spark_eval.read.heading import MAILBOX, Heading
from spark_eval.read.names import server_of

_LIKE_A_LOG = re.compile(r"MSGTRK|CONNECTLOG", re.IGNORECASE)


def misplaced(heading: Heading) -> Iterator[Damage]:
    """Mailbox servers of the plan whose tracking log is to be in the folder and is not; in a run
    that the lab made, logs of servers that its plan does not have; in any other, files below logs/
    that are not read, where they look like logs or one is missing.
    """
    logs = sorted(name for name in heading.files if server_of(name) and is_evidence(name))
    tracked = {server_of(name) for name in logs if "/MSGTRK" in name}
    planned = [each for each in heading.plan.topology.servers or () if each.name is not None]
    servers = {(each.name or "").lower(): each.role for each in planned}
    expected = [name for name, role in servers.items() if role == MAILBOX]
    missing = [name for name in expected if name not in tracked | heading.untracked]
    yield from (Damage(name, f"logs/{name}/", None, NO_TRACKING) for name in missing)
    if not heading.is_of_lab:
        yield from _not_read(heading, any_file=bool(missing))
        return
    first = {server_of(name): name for name in reversed(logs) if server_of(name) not in servers}
    if heading.is_made:
        yield from (Damage("", name, None, NO_SUCH_SERVER) for name in first.values())


def _not_read(heading: Heading, *, any_file: bool) -> Iterator[Damage]:
    """By whatever name they came, and however packed."""
    for name in sorted(heading.files):
        is_one = name.startswith("logs/") if any_file else _LIKE_A_LOG.search(name) is not None
        if is_one and not is_evidence(name):
            yield Damage("", name, None, NOT_READ)
