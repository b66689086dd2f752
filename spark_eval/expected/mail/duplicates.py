"""Which copies of a message in one mailbox duplicate detection does not hide (DD-4): the entry of
the one before was over, or stayed behind with the database that the mailbox was in then (DD-3), or
it has another submit time.
"""

from __future__ import annotations

from collections.abc import Iterable

from spark_eval.histories.run import Run
from spark_eval.read.rows import VisibleRow


def shown_by_promise(copies: Iterable[VisibleRow], run: Run) -> int:
    """How many beyond the first; `copies` of one message for one recipient."""
    times = (each for each in copies if each.kind == "mailbox" and each.copied_ms is not None)
    count, last_ms = 0, dict[tuple[int | None, str], int]()
    for each in sorted(times, key=lambda each: (each.copied_ms or 0, each.ref)):
        took = run.directory.took(each)
        at_ms, before_ms = each.copied_ms or 0, last_ms.get((each.dated_ms, took))
        database = run.databases.get(took)
        window_ms = database.window_ms if database else None
        if before_ms is None:
            count += bool(last_ms)
        elif window_ms is not None and at_ms - before_ms > window_ms:
            count += 1
        last_ms[each.dated_ms, took] = at_ms
    return count
