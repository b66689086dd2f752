"""one_active_copy: no two copies of a mailbox database take mail at the same time, but for what
their servers cannot know yet (TP-4).

Asks every delivery into a database of several copies: by its server's own word the copy was mounted
then, and no other copy had been mounted for longer than the server may not know of it
(`expected.reigns`). The claim asks every copy that another one followed whether it gave way by
then, and every switchover whether the copy before was dismounted first: both could be notified. A
copy whose server is dead, cut off or paused may go on meanwhile, and what it takes is
`resubmission_complete`'s to ask for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.operations import answered_epochs
from spark_eval.expected.safety_net.reigns import MOUNTED, Reign, reigns, words
from spark_eval.expected.totals import Totals
from spark_eval.histories.deliveries import Delivered
from spark_eval.histories.organisation.active_copies import Change, placed
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

REQUIRED = ("TP-4",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for (database, server), taken in run.delivered.items():
        said = words(run).get((database, server), [])
        followed = _first_followers(database, server, run)
        for delivered in taken:
            word = _last_word(said, delivered.placed)
            if word is not None and delivered.epoch is not None:
                after = followed.get(delivered.epoch)
                yield _delivery(database, server, delivered, word, after, run)
    for reign in reigns(run):
        yield from _gave_way(reign, run)
    for active in run.active_copies.values():
        for change in active.changes:
            yield from _switchover(change, run)


def _last_word(said: Sequence[LifecycleRow], by: int) -> LifecycleRow | None:
    place = bisect_right([placed(row) or 0 for row in said], by)
    return said[place - 1] if place else None


def _is_harmed(server: str, run: Run) -> bool:
    """Whether anything of the record of a server is damaged."""
    return any(each.server == server for each in run.damage)


def _a_hole(database: str, server: str) -> str:
    return (
        f"the record of {server} is damaged where it says whether its copy of {database} is mounted"
    )


# deliveries


def _first_followers(database: str, server: str, run: Run) -> dict[int, Reign]:
    """By epoch of a copy, the later mount of which its server knew first."""
    found: dict[int, Reign] = {}
    for reign in reigns(run):
        if (reign.database, reign.server) == (database, server):
            known = found.get(reign.epoch)
            if known is None or reign.known_by_ms < known.known_by_ms:
                found[reign.epoch] = reign
    return found


def _delivery(
    database: str, server: str, delivered: Delivered, word: LifecycleRow, after: Reign | None,
    run: Run,
) -> Case:  # fmt: skip
    status, detail = _judged(database, server, delivered, word, after, run)
    mounted = after.later.change.mounted if after else None
    since_ms = mounted.at_ms if mounted else word.at_ms
    return Case(
        status, delivered.message_id, REQUIRED, detail, delivered.at_ms,
        refs(delivered.ref, word.ref, mounted.ref if mounted else None),
        delivered.at_ms - (since_ms or 0),
    )  # fmt: skip


def _judged(
    database: str, server: str, delivered: Delivered, word: LifecycleRow, after: Reign | None,
    run: Run,
) -> tuple[Status, str]:  # fmt: skip
    is_late = after is not None and delivered.at_ms > after.known_by_ms
    if word.event == MOUNTED and not is_late:
        return HOLDS, ""
    if _is_harmed(server, run):
        return UNKNOWN, _a_hole(database, server)
    if word.event != MOUNTED:
        said = f"{word.event} at {stamp(word.at_ms)}"
        return VIOLATED, (
            f"taken into the copy of {database} on {server}, which was not mounted: {said}"
        )
    assert after is not None
    change = after.later.change
    return VIOLATED, (
        f"taken into the copy of {database} on {server}, active under {delivered.epoch}; that on "
        f"{change.after.server} was mounted at {stamp(change.mounted.at_ms)}, and this server knew "
        f"by {stamp(after.known_by_ms)}"
    )


# copies that others follow


def _gave_way(reign: Reign, run: Run) -> Iterator[Case]:
    by_ms, learnt = reign.known_by_ms, reign.later.learnt
    said = [
        row
        for row in words(run).get((reign.database, reign.server), [])
        if row.at_ms is not None and row.at_ms <= by_ms
    ]
    if not said or run.end_ms is None or by_ms > run.end_ms:
        return
    word, change = said[-1], reign.later.change
    knew = learnt is not None and learnt.at_ms is not None and learnt.at_ms <= by_ms
    status: Status = HOLDS
    detail = ""
    if word.event == MOUNTED and (word.epoch or 0) <= reign.epoch and not knew:
        status = UNKNOWN if _is_harmed(reign.server, run) else VIOLATED
        detail = (
            f"the copy on {reign.server} is still active under {reign.epoch} at {stamp(by_ms)}; "
            f"that on {change.after.server} was mounted at {stamp(change.mounted.at_ms)}"
        )
        if status == UNKNOWN:
            detail = _a_hole(reign.database, reign.server)
    yield Case(
        status, f"{reign.database}:{reign.epoch} on {reign.server}", REQUIRED, detail,
        change.mounted.at_ms, refs(word.ref, change.mounted.ref), 1e12,
    )  # fmt: skip


# switchovers


def _switchover(change: Change, run: Run) -> Iterator[Case]:
    """By Active Manager's word, or because an administrator asked for one and it said yes."""
    asked = answered_epochs(run, "switchover")
    if change.kind != "switchover" and (change.database, change.after.epoch) not in asked:
        return
    server = change.before.server
    word = _last_word(words(run).get((change.database, server), []), placed(change.mounted) or 0)
    if word is None:
        return
    status: Status = HOLDS
    detail = ""
    if word.event == MOUNTED:
        harmed = _is_harmed(server, run)
        status = UNKNOWN if harmed else VIOLATED
        said = f"{word.event} at {stamp(word.at_ms)}"
        detail = (
            f"switched over to {change.after.server} at {stamp(change.mounted.at_ms)}, and the "
            f"copy on {server} was not dismounted before: {said}"
        )
        if harmed:
            detail = _a_hole(change.database, server)
    yield Case(
        status, f"{change.database}:{change.after.epoch}", REQUIRED, detail, change.mounted.at_ms,
        refs(change.mounted.ref, word.ref), 1e12,
    )  # fmt: skip


CLAIM = Claim("one_active_copy", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
