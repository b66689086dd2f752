"""When a shadow message may be let go, and by when it must be (SM-1 to SM-5, SM-10, SM-16); and
when its primary message was delivered (SN-2).

Not before every fork of its primary message is done: an order, judged on the monotonic clock. Then
within one heartbeat once both servers can be reached: a deadline that starts at the first moment
after delivery which a whole heartbeat, and one exchange, without an outage follow. An exchange that
takes its time is allowed for; an answer without the notification is not. The time that the
notification carries, from which a Shadow Safety Net counts, is that of the last fork.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from spark_eval.expected.mail.addressees import addressees
from spark_eval.expected.mail.forks import Forks, forks_of
from spark_eval.expected.node.disk import full
from spark_eval.expected.shadow.shadow_copies import Copy, copies_of
from spark_eval.histories.message import Message
from spark_eval.histories.pairs import last_by, turns_between
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, first_clear, touches
from spark_eval.read.rows import TrackingRow


@dataclass(frozen=True, slots=True)
class Discard:
    """`all_visible_ms`, when the last recipient saw the message, if all did; `forgotten_ms`, from
    when on its primary server knew of no shadow there. Bounds: `reachable_ms`, from when on both
    could be reached; `not_after_ms`, by when it is let go. `untold_ms`: an answer that had room for
    the notification and did not bring it.
    """

    copy: Copy
    forks: Forks | None
    all_visible_ms: int | None
    forgotten_ms: int | None
    due_from_ms: int | None
    reachable_ms: int | None
    not_after_ms: int | None
    untold_ms: int | None

    @property
    def is_complete(self) -> bool:
        return self.forks is not None and self.forks.complete

    def ended_ms(self, run: Run) -> int:
        """When it was let go, or the run was over."""
        discard_ms = self.copy.discard_ms
        return (run.end_ms or 0) if discard_ms is None else discard_ms


@lru_cache(maxsize=4)
def discards_of(message: Message, run: Run) -> tuple[Discard, ...]:
    """Of each shadow message."""
    copies = copies_of(message, run)
    if not copies:
        return ()
    forks, visible_ms = forks_of(message, run), _all_visible_ms(message, run)
    return tuple(
        _discard(copy, forks.get(copy.shadow.key.primary), visible_ms, run) for copy in copies
    )


def _all_visible_ms(message: Message, run: Run) -> int | None:
    if message.sent is None:
        return None
    firsts = [
        min(
            (
                seen.copied_ms
                for seen in message.seen_by.get(recipient, ())
                if seen.copied_ms is not None
            ),
            default=None,
        )
        for recipient, addressee in addressees(message, run).items()
        if addressee.is_sure
    ]
    known = [each for each in firsts if each is not None]
    return max(known) if known and len(known) == len(firsts) else None


def _discard(copy: Copy, forks: Forks | None, visible_ms: int | None, run: Run) -> Discard:
    known_ms = _written_ms(forks.known_ms, copy, run) if forks else None
    starts = [each for each in (known_ms, copy.held_ms) if each is not None]
    due_ms = max(starts, default=None)
    # a question asked in the last moment of the heartbeat still needs its answer
    whole_ms = run.config.heartbeat_ms + copy.slack_ms + run.finest_ms
    reach_ms = None if due_ms is None else first_clear(due_ms, copy.pair.any_possible, whole_ms)
    return Discard(
        copy=copy,
        forks=forks,
        all_visible_ms=visible_ms,
        forgotten_ms=_forgotten_ms(copy, run),
        due_from_ms=due_ms,
        reachable_ms=reach_ms,
        not_after_ms=None if reach_ms is None else reach_ms + whole_ms,
        untold_ms=None if reach_ms is None else _untold_ms(copy, reach_ms, run),
    )


def _written_ms(known_ms: int | None, copy: Copy, run: Run) -> int | None:
    """When the primary server had it written down that a message was done: what its full disk does
    not take is tried again later.
    """
    if known_ms is None or copy.primary is None:
        return known_ms
    late_ms = run.software.commit_retry_ms
    freed = [each.hi + late_ms for each in full(copy.primary) if each.lo <= known_ms <= each.hi]
    return max([known_ms, *freed])


def _untold_ms(copy: Copy, reach_ms: int, run: Run) -> int | None:
    """The first answer, asked for well after delivery and well before the discard, that had room
    for it and did not bring it; the last one before the discard brought it, however long letting go
    took.
    """
    heartbeat_ms, ends_ms = run.config.heartbeat_ms, run.end_ms or 0
    if copy.discard_ms is not None:
        brought_ms = last_by(copy.pair.contacts_ms, copy.discard_ms)
        if brought_ms is None:
            return None
        ends_ms = min(copy.discard_ms - heartbeat_ms // 2, brought_ms - 1)
    until_ms = run.end_ms or 0 if copy.discard_ms is None else copy.discard_ms
    if touches(copy.pair.any_possible, reach_ms, until_ms):
        return None
    start_ms = -(-(4 * reach_ms + heartbeat_ms) // 4)
    untold = (
        each.at_ms
        for each in turns_between(copy.pair.told_all, start_ms, ends_ms)
        if each.asked_ms is not None and each.asked_ms >= start_ms
    )
    return next(untold, None)


def _forgotten_ms(copy: Copy, run: Run) -> int | None:
    """From when on the primary server knew of no shadow there: it had made it and forgot that by a
    restart, so it is an orphan (SR-5). It had not kept that, and made another one at another
    server; or its disk was full, and may not have taken it.
    """
    primary = copy.message.primaries.get(copy.shadow.key.primary)
    if primary is None or primary.loaded is None or primary.redirect is None:
        return None
    made, loaded = primary.redirect, primary.loaded
    if made.shadow_server != copy.server.name or not _is_later(loaded, made):
        return None
    is_again = _made_again(primary, copy.message.of_event("HAREDIRECT"))
    primary_full = full(copy.primary) if copy.primary else ()
    disk_was_full = touches(primary_full, made.at_ms, made.at_ms)
    return loaded.at_ms if is_again or disk_was_full else None


def _is_later(row: TrackingRow, than: TrackingRow) -> bool:
    return None not in (row.mono_ns, than.mono_ns) and (row.mono_ns or 0) > (than.mono_ns or 0)


def _made_again(primary: Primary, redirects: list[TrackingRow]) -> bool:
    mine = [
        row
        for row in redirects
        if (row.server, row.database_id or "", row.internal_id) == tuple(primary.key)
    ]
    last = max(mine, key=lambda row: row.mono_ns or 0, default=None)
    return (
        len(mine) > 1
        and last is not None
        and primary.redirect is not None
        and primary.loaded is not None
        and last.shadow_server != primary.redirect.shadow_server
        and _is_later(last, primary.loaded)
    )


def is_asked(discard: Discard, run: Run) -> bool:
    """Whether it had to be let go at all, and the run was long enough to see it."""
    copy, forks = discard.copy, discard.forks
    if not run.config.enabled or copy.shadow.claimed is None or not discard.is_complete:
        return False
    assert forks is not None
    done_late = (
        discard.forgotten_ms is not None
        and forks.done_ms is not None
        and forks.done_ms > discard.forgotten_ms
    )
    if done_late or not (copy.held is not None or copy.kept.as_shadow):
        return False
    if discard.not_after_ms is None or discard.due_from_ms is None:
        return False
    # a notification that nobody asked for is dropped (SM-11), maybe before it has to be asked for
    if discard.not_after_ms - discard.due_from_ms >= run.config.auto_discard_ms:
        return False
    if copy.discard is not None:
        return True
    is_in_time = discard.not_after_ms <= (run.end_ms or 0) or discard.untold_ms is not None
    return is_in_time and _is_still_there(discard) and not _is_released_otherwise(discard)


def _is_still_there(discard: Discard) -> bool:
    """A shadow message that nobody let go goes of itself (SN-2)."""
    times = [each for each in (discard.not_after_ms, discard.untold_ms) if each is not None]
    stays_ms = discard.copy.stays_until_ms
    until_ms = FOREVER_MS if stays_ms is None else stays_ms
    return min(times) <= until_ms - discard.copy.server.askew_ms


def _is_released_otherwise(discard: Discard) -> bool:
    copy, not_after_ms = discard.copy, discard.not_after_ms or 0
    losses = (copy.own_lost_ms, copy.primary_lost_ms)
    is_lost = any(each is not None and each <= not_after_ms for each in losses)
    return copy.promoted is not None or copy.kept.as_primary or is_lost
