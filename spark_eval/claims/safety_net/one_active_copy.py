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
from typing import NamedTuple

from spark_eval.cases.case import UNKNOWN, Case, Judged, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.operations import answered_epochs
from spark_eval.expected.safety_net.reigns import MOUNTED, Reign, reigns, words
from spark_eval.expected.totals import Totals
from spark_eval.histories.deliveries import Delivered
from spark_eval.histories.organisation.active_copies import Change, placed
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow, grouped

REQUIRED = ("TP-4",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for (database, server), taken in run.delivered.items():
        said = words(run).get((database, server), [])
        followed = _first_followers(database, server, run)
        for delivered in taken:
            word = _last_word(said, delivered.placed)
            if word is not None and delivered.epoch is not None:
                after = followed.get(delivered.epoch)
                yield from _delivery(_Taken(database, server, delivered, word, after), run)
    for reign in reigns(run):
        yield from _gave_way(reign, run)
    for active in run.active_copies.values():
        for change in active.changes:
            yield from _switchover(change, run)


def _last_word(said: Sequence[LifecycleRow], by: int) -> LifecycleRow | None:
    place = bisect_right([placed(row) or 0 for row in said], by)
    return said[place - 1] if place else None


def _unless_harmed(wrong: str, database: str, server: str, run: Run) -> Judged:
    """Where anything of the record of the server is damaged, nobody can say what is wrong."""
    if wrong and any(each.server == server for each in run.damage):
        where = f"where it says whether its copy of {database} is mounted"
        return UNKNOWN, f"the record of {server} is damaged {where}"
    return fits(wrong)


def _first_followers(database: str, server: str, run: Run) -> dict[int, Reign]:
    """By epoch of a copy, the later mount of which its server knew first."""
    own = [each for each in reigns(run) if (each.database, each.server) == (database, server)]
    by_epoch = grouped(own, lambda reign: reign.epoch)
    return {epoch: min(each, key=lambda r: r.known_by_ms) for epoch, each in by_epoch.items()}


class _Taken(NamedTuple):
    """A delivery into a copy, the last word of its server about that, and the later mount of
    another one that it knew of first.
    """

    database: str
    server: str
    delivered: Delivered
    word: LifecycleRow
    after: Reign | None


def _delivery(taken: _Taken, run: Run) -> Iterator[Case]:
    delivered, word, after = taken.delivered, taken.word, taken.after
    status, detail = _unless_harmed(_wrongly_taken(taken), taken.database, taken.server, run)
    mounted = after.later.change.mounted if after else None
    yield from asked(
        status, delivered.message_id, REQUIRED, detail, delivered.at_ms, delivered, word, mounted,
        weight=delivered.at_ms - ((mounted or word).at_ms or 0),
    )  # fmt: skip


def _wrongly_taken(taken: _Taken) -> str:
    delivered, word, after = taken.delivered, taken.word, taken.after
    into = f"taken into the copy of {taken.database} on {taken.server}"
    if word.event != MOUNTED:
        return f"{into}, which was not mounted: {word.event} at {stamp(word.at_ms)}"
    if after is None or delivered.at_ms <= after.known_by_ms:
        return ""
    change, known = after.later.change, stamp(after.known_by_ms)
    other = f"that on {change.after.server} was mounted at {stamp(change.mounted.at_ms)}"
    return f"{into}, active under {delivered.epoch}; {other}, and this server knew by {known}"


def _gave_way(reign: Reign, run: Run) -> Iterator[Case]:
    """A copy that another one followed."""
    by_ms, learnt, change = reign.known_by_ms, reign.later.learnt, reign.later.change
    words_of = words(run).get((reign.database, reign.server), [])
    said = [row for row in words_of if row.at_ms is not None and row.at_ms <= by_ms]
    if not said or run.end_ms is None or by_ms > run.end_ms:
        return
    word, wrong = said[-1], ""
    knew = learnt is not None and learnt.at_ms is not None and learnt.at_ms <= by_ms
    if word.event == MOUNTED and (word.epoch or 0) <= reign.epoch and not knew:
        wrong = (
            f"the copy on {reign.server} is still active under {reign.epoch} at {stamp(by_ms)}; "
            f"that on {change.after.server} was mounted at {stamp(change.mounted.at_ms)}"
        )
    status, detail = _unless_harmed(wrong, reign.database, reign.server, run)
    yield from asked(
        status, f"{reign.database}:{reign.epoch} on {reign.server}", REQUIRED, detail,
        change.mounted.at_ms, word, change.mounted, weight=1e12,
    )  # fmt: skip


def _switchover(change: Change, run: Run) -> Iterator[Case]:
    """By Active Manager's word, or because an administrator asked for one and it said yes."""
    in_answers = (change.database, change.after.epoch) in answered_epochs(run, "switchover")
    server = change.before.server
    word = _last_word(words(run).get((change.database, server), []), placed(change.mounted) or 0)
    if word is None or (change.kind != "switchover" and not in_answers):
        return
    wrong = (
        f"switched over to {change.after.server} at {stamp(change.mounted.at_ms)}, and the copy "
        f"on {server} was not dismounted before: {word.event} at {stamp(word.at_ms)}"
    )
    is_mounted = word.event == MOUNTED
    status, detail = _unless_harmed(wrong if is_mounted else "", change.database, server, run)
    yield from asked(
        status, f"{change.database}:{change.after.epoch}", REQUIRED, detail, change.mounted.at_ms,
        change.mounted, word, weight=1e12,
    )  # fmt: skip


CLAIM = Claim("one_active_copy", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
