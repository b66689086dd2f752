"""How many logs a mailbox database had, by when (TP-4).

Each delivery into an active copy is a log, of a probe too, and so is each mount, and each logical
corruption of it. A copy that is mounted goes on after the last log that it has, so what the copy
before made after that one is of another branch.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.node.probes import probes_by_copy
from spark_eval.expected.safety_net.corruptions import CORRUPTED
from spark_eval.histories.organisation.active_copies import MOUNTED, ActiveCopy
from spark_eval.histories.run import Run


class LogsMade(NamedTuple):
    """Of one active copy: the log of its mount, when that was, and when each other log was made, in
    order. None where the record does not say.
    """

    first_log: int | None
    since_ms: int | None
    made: tuple[int, ...]

    def by(self, at_ms: int) -> int | None:
        """The last log that it had by then."""
        return None if self.first_log is None else self.first_log + bisect_right(self.made, at_ms)


@lru_cache(maxsize=8)
def logs_made(database: str, copy: ActiveCopy, run: Run) -> LogsMade:
    where = (database, copy.epoch, copy.server)
    mounts = [row for row in run.said(MOUNTED) if (row.database, row.epoch, row.server) == where]
    logs = (row.last_log for row in mounts if row.last_log is not None)
    times = (row.at_ms for row in mounts if row.at_ms is not None)
    key = (database, copy.server)
    rows = (*run.delivered.get(key, ()), *probes_by_copy(run).get(key, ()))
    made = [row.at_ms for row in rows if row.is_new and row.epoch == copy.epoch]
    made += [
        row.at_ms
        for row in run.said(CORRUPTED)
        if (row.database, row.epoch, row.server) == where and row.at_ms is not None
    ]
    return LogsMade(min(logs, default=None), min(times, default=None), tuple(sorted(made)))


def last_log_by(database: str, until_epoch: int, at_ms: int, run: Run) -> int | None:
    """The last log of the branch that is active under `until_epoch` of those made by then."""
    copies = [each for each in run.active_copies[database].copies if each.epoch <= until_epoch]
    most: int | None = None
    for copy in reversed(copies):
        made = logs_made(database, copy, run)
        if made.first_log is None or made.since_ms is None:
            return None
        if at_ms >= made.since_ms or copy is copies[0]:
            had = made.by(at_ms) or 0
            return had if most is None else min(had, most)
        most = made.first_log - 1 if most is None else min(most, made.first_log - 1)
    return None
