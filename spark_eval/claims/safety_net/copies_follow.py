"""copies_follow: the logs of what an active copy took are soon on their way to each passive copy
(TP-4).

Asks every delivery into a database of several copies once for each other copy: by the time that an
exchange, a refusal or two before it, timers and rows take (`expected.log_shipping`), the server of
the active copy had replication sessions to the other server that carried, all together, as many
messages as there were deliveries. Both are counted from the last time at which counting can begin:
a mount, a seed, a start, and when the copy of that server became passive, since what it took beside
another one is thrown away. A session that stands by then counts with all that it carries until its
end. The logs of one server are compared, and what the other one took in is not asked: a message of
a session may be a log that was refused.

Not asked, besides: what one of those comes close after; while the way or one of its ends was in
trouble, and for as long again and ConnectionInactivityTimeOut after it, since what waited goes
first; a copy that failed; what a hole of the log lies between; what follows a session whose end is
not in the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.carried import Counts, carried
from spark_eval.expected.safety_net.log_shipping import LogWay
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import CONNECTIVITY, TRACKING


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for way, database, delivered, counts in carried(run):
        due_ms = delivered.at_ms + way.late_ms
        if not _is_asked(way, delivered.at_ms, due_ms, counts, run.end_ms):
            continue
        detail = (
            f"{way.server.name} took it into {database} at {stamp(delivered.at_ms)}, delivery "
            f"{counts.taken} since {stamp(counts.since_ms)}; replication sessions to {way.peer} "
            f"that stood by {stamp(due_ms)} carried {counts.carried}"
        )
        yield from asked(
            bound(counts.carried, counts.taken, None), f"{delivered.message_id} for {way.peer}",
            ("TP-4",), detail, delivered.at_ms, delivered, counts.session,
            weight=counts.taken - counts.carried, server=way.server.name,
        )  # fmt: skip


def _is_asked(way: LogWay, at_ms: int, due_ms: int, counts: Counts, end_ms: int | None) -> bool:
    since_ms = counts.since_ms
    if not way.server.lives or end_ms is None or due_ms > end_ms or not counts.is_known:
        return False
    if any(at_ms < begin.at_ms <= due_ms for begin in way.begins):
        return False
    if any(since_ms <= failed_ms <= due_ms for failed_ms in way.failed_ms):
        return False
    is_whole = way.server.shows(since_ms, due_ms)
    return is_whole and not touches(way.catching_up, at_ms, due_ms)


CLAIM = Claim("copies_follow", ("TP-4",), needs=frozenset({CONNECTIVITY, TRACKING}), of_run=_cases)
