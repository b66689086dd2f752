"""What the shadow messages of some of a run's mail show of the servers that held them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from spark_eval.expected.shadow.in_queues import queue
from spark_eval.expected.shadow.promotions import came_ms, contact_before, is_asked
from spark_eval.expected.shadow.shadow_copies import Copy, copies_of, exchange_ms, expired_ms
from spark_eval.histories.mail_of_pairs import HeldOfPair, MailOfPairs
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval, touches


def mail_of_pairs(messages: Iterable[Message], run: Run) -> MailOfPairs:
    """All but `oldest`, which needs to know which came first of all."""
    found = MailOfPairs()
    for copy in _copies(messages, run):
        name = (copy.server.name, copy.primary_name)
        time_ms = came_ms(copy, run)
        if is_asked(copy, run) and time_ms is not None:
            found.first[name] = min(found.first.get(name, time_ms), time_ms)
        held = found.held.setdefault(name, HeldOfPair())
        _hold(held, copy, run)
        queue(held, copy, run)
        held.spans += _spans(copy, run)
        held.left += expired_ms(copy.shadow, run)
    return found


def oldest_of_pairs(messages: Iterable[Message], run: Run) -> MailOfPairs:
    """`run` knows already which came first."""
    found = MailOfPairs()
    for copy in _copies(messages, run):
        if copy.discard is None and copy.held_ms is not None and is_asked(copy, run):
            contact_ms = contact_before(copy, run).hi_ms
            if contact_ms is not None:
                name = (copy.server.name, copy.primary_name, contact_ms)
                found.oldest[name] = min(found.oldest.get(name, copy.held_ms), copy.held_ms)
    return found


def _copies(messages: Iterable[Message], run: Run) -> Iterator[Copy]:
    for message in messages:
        for each in message.with_dsns:
            yield from copies_of(each, run)


def _hold(held: HeldOfPair, copy: Copy, run: Run) -> None:
    took_ms = exchange_ms(run)
    held.prompt_ms = max(held.prompt_ms, took_ms + copy.slowed_ms)
    held.longest_ms = max(held.longest_ms, copy.server.config.timeout_ms + copy.slowed_ms)
    moments = copy.pair.moments
    if (proven := _proven(copy, run)) is not None:
        held.proven.append(proven)
    if copy.held_ms is not None:
        held.had[bisect_left(moments, copy.held_ms)] += 1
        from_ms, until_ms = copy.held_ms + took_ms, _gone_ms(copy) - took_ms
        # with its end between the commit and the row nobody can say
        if copy.held is not None and from_ms < until_ms:
            held.holding[bisect_left(moments, from_ms)] += 1
            held.holding[bisect_left(moments, until_ms)] -= 1
    if copy.discard_ms is not None:
        # one whose answer is under way may be named once more, and so may whatever a server with a
        # new queue database has forgotten that it confirmed
        if copy.own_lost_ms is None:
            late_ms = copy.discard_ms + took_ms + copy.slowed_ms
            held.gone[bisect_left(moments, late_ms)] += 1
        if not touches(copy.server.holes, copy.discard_ms, copy.discard_ms):
            assert copy.discard is not None
            row = (copy.discard_ms, copy.discard.ref)
            held.let_go += 1
            held.first_let_go = min(held.first_let_go or row, row)


def _proven(copy: Copy, run: Run) -> Interval | None:
    """Of what its server took, until the last moment that shows that it held it still."""
    if copy.held is None:
        return None
    took_ms, name, known = exchange_ms(run), copy.primary_name, copy.shadow.key.primary
    ends = [each - took_ms for each in (copy.discard_ms, copy.promoted_ms) if each is not None]
    loads = (
        row.at_ms
        for row in copy.message.of_event("LOAD")
        if (row.server, row.context, row.primary_server) == (copy.server.name, "shadow", name)
        and row.primary_internal_id == known.internal_id
    )
    is_listed = any(
        (row.server, row.queue, row.internal_id)
        == (copy.server.name, "shadow", copy.held.internal_id)
        for row in copy.message.queued
    )
    listed = [run.end_ms] if is_listed and run.end_ms is not None else []
    from_ms, until_ms = copy.held.at_ms + took_ms, max([*ends, *loads, *listed], default=0)
    return Interval(from_ms, until_ms) if from_ms < until_ms else None


def _spans(copy: Copy, run: Run) -> Iterator[tuple[int, int]]:
    """Its server logged it when it had it."""
    if copy.held is not None:
        at_ms, span_ms = copy.held.at_ms, run.config.span_ms
        near_ms = copy.server.askew_ms + copy.server.slack_ms
        earliest_ms = at_ms - exchange_ms(run) + span_ms - near_ms
        contacts_ms = copy.pair.contacts_ms
        place = bisect_right(contacts_ms, at_ms)
        if place == len(contacts_ms) or contacts_ms[place] >= earliest_ms:
            yield earliest_ms, at_ms + span_ms


def _gone_ms(copy: Copy) -> int:
    """With its message expired, a copy is held no more, and no row says so (SM-12); nor does one
    where a kill came between the commit of its promotion and the row: the next LOAD shows it.
    """
    ends = (copy.discard_ms, copy.promoted_ms, copy.own_lost_ms)
    by_row_ms = next((each for each in ends if each is not None), FOREVER_MS)
    loaded_ms = FOREVER_MS if copy.kept.loaded_ms is None else copy.kept.loaded_ms
    config = copy.server.config
    expires_ms = (copy.held_ms or 0) + config.expiration_ms - copy.server.askew_ms
    return min(by_row_ms, loaded_ms, expires_ms)
