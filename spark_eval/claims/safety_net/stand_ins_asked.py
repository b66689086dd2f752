"""stand_ins_asked: a primary is waited for, and then all others are asked in its place (SN-7).

Asks each request that a server took on to stand in for a silent one after a failover: it came no
sooner than the time that Active Manager waits for an answer (`settings.software` of the plan, 12 h)
after the new copy was mounted. Asks each failover once for each server that was away from the mount
on for longer than that, and each other server of the boundary: within the time that a server surely
needs to be asked (`safety_net_requests.need_ms`) after the wait, it took such a request on.

Not asked whether it came: where that other server, Active Manager or the way between them was in
trouble then, where Active Manager has lost its database, or a hole of the log may hide it; after a
switchover that lost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound, response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.active_manager import managers
from spark_eval.expected.safety_net.safety_net_requests import (
    Asking,
    Request,
    askings,
    need_ms,
    requests,
)
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE

REQUIRED = ("SN-7",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    taken = {(each.request_id, each.server): each for each in requests(run)}
    every = {(each.name, each.server.name): each for each in askings(run)}
    for request in taken.values():
        name, _, silent = request.request_id.partition("/")
        asking = every.get((name, silent))
        if asking is not None:
            yield from _waited(request, asking, run)
    for asking in every.values():
        if not asking.is_lossless and _is_away(asking, run):
            for other in every.values():
                if other.change is asking.change and other.server is not asking.server:
                    yield from _asked(asking, other, taken, run)


def _waited(request: Request, asking: Asking, run: Run) -> tuple[Case, ...]:
    mounted_ms, vague_ms = asking.change.mounted.at_ms or 0, asking.server.askew_ms + run.finest_ms
    least_ms = mounted_ms + run.software.primary_silence_ms - vague_ms
    detail = (
        f"{request.server} was asked to stand in for {asking.server.name} at "
        f"{stamp(request.at_ms)}; the copy was mounted at {stamp(mounted_ms)}, and a primary is "
        f"waited for until {stamp(least_ms)}"
    )
    return asked(
        bound(request.at_ms, least_ms, None), f"{request.request_id} at {request.server}", REQUIRED,
        detail, request.at_ms, request, asking.change.mounted, weight=least_ms - request.at_ms,
    )  # fmt: skip


def _is_away(asking: Asking, run: Run) -> bool:
    """Surely, from before it could be asked until after everybody has waited."""
    from_ms = asking.change.mounted.at_ms or 0
    to_ms = from_ms + run.software.primary_silence_ms + need_ms(asking.server, run)
    downs = (each.outage.certain for each in asking.server.downs)
    return any(each is not None and each.lo <= from_ms and to_ms <= each.hi for each in downs)


def _asked(
    silent: Asking, other: Asking, taken: dict[tuple[str, str], Request], run: Run
) -> tuple[Case, ...]:
    name, mounted = silent.server.name, silent.change.mounted
    request = taken.get((f"{silent.name}/{name}", other.server.name))
    from_ms = (mounted.at_ms or 0) + run.software.primary_silence_ms
    due_ms = from_ms + need_ms(other.server, run)
    keepers = managers(silent.server.dag, run)
    is_excused = (
        touches(other.outages, from_ms, due_ms)
        or any(len(each.eras) > 1 for each in keepers)
        or not other.server.shows(from_ms, due_ms)
    )
    detail = (
        f"{name} was away from before {stamp(mounted.at_ms)}, when {silent.name} was mounted; "
        f"{other.server.name} was not asked to stand in for it by {stamp(due_ms)}"
    )
    return asked(
        response(request.at_ms if request else None, due_ms, run.end_ms, is_excused=is_excused),
        f"{silent.name}/{name} at {other.server.name}", REQUIRED, detail, due_ms, mounted, request,
    )  # fmt: skip


CLAIM = Claim("stand_ins_asked", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
