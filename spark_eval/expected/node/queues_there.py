"""Which delivery queues a server had when somebody looked, by its message tracking log (TL-9): each
is there from its first message until it was empty for QueueMaxIdleTime (F§3.2).

A row that says that a message was tried, or went, says that its queue was there. So it surely is
for that time after it, and until the next row where the message was put off. It perhaps is as long
as the message is its server's, and for that time after. Where a message may have gone another way
than its rows say, since it was given up, redirected or moved, it may have been in any queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.mail.redirections import HOP, may_redirect
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of, order_of
from spark_eval.histories.queues import queue_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.rows import TrackingRow

if TYPE_CHECKING:
    from spark_eval.expected.node.shown_queues import Look

ANY = "*"
"""In place of the name of a queue."""
_SHOW = ("DEFER", "SEND", "DELIVER", "DUPLICATEDELIVER")


def surely_there(message: Message, look: Look, run: Run) -> Iterator[tuple[str, Interval]]:
    """By queue: spans in which it was there, since this message was in it."""
    idle_ms, begun_ms = look.server.config.idle_ms, look.server.life_at(look.at.lo) or 0
    if may_redirect(look.server.name, run, begun_ms, look.at.hi):
        return
    for key in _keys(message, look):
        for name, rows in _rows(message, key).items():
            rows = [row for row in rows if row.at_ms >= begun_ms]
            for row in rows:
                yield name, Interval(row.at_ms, row.at_ms + idle_ms)
            for before, after in pairwise(rows):
                if before.event == "DEFER":
                    yield name, Interval(before.at_ms, after.at_ms + idle_ms)


def perhaps_there(message: Message, look: Look, run: Run) -> Iterator[tuple[str, Interval]]:
    """By queue, or of `ANY`: spans in which it may have been there for this message's sake."""
    for key in _keys(message, look):
        names, span = set(_rows(message, key)), _span(message, key, run)
        until_ms = min(FOREVER_MS, span.hi + look.server.config.idle_ms)
        if not names or not _is_clear(message, key, look, run, span):
            names.add(ANY)
        for name in sorted(names):
            yield name, Interval(span.lo, until_ms)


def _keys(message: Message, look: Look) -> set[Key]:
    """Of what its server answered for, or made itself."""
    made = {key for row in message.made_here if (key := key_of(row)) is not None}
    known = made | {key for key, primary in message.primaries.items() if primary.is_there}
    return {key for key in known if key.server == look.server.name}


def _span(message: Message, key: Key, run: Run) -> Interval:
    """From when it came to when its server was done with it."""
    came = [row.at_ms for row in message.made_here if key_of(row) == key]
    primary, forks = message.primaries.get(key), forks_of(message, run).get(key)
    if primary is not None:
        came += [row.at_ms for row in (primary.born, primary.loaded) if row is not None]
    known = [forks.done_ms, forks.known_ms] if forks is not None and forks.complete else []
    times = [each for each in known if each is not None]
    return Interval(min(came, default=0), max(times, default=FOREVER_MS))


def _is_clear(message: Message, key: Key, look: Look, run: Run, span: Interval) -> bool:
    """Whether its rows name all queues that it was in."""
    forks, primary = forks_of(message, run).get(key), message.primaries.get(key)
    if forks is None or primary is None or not forks.complete or forks.expired:
        return False
    is_moved = any(each in run.directory.moves for each in primary.recipients)
    return not is_moved and not may_redirect(look.server.name, run, span.lo, span.hi)


def _rows(message: Message, key: Key) -> dict[str, list[TrackingRow]]:
    """Those that name a queue, in order."""
    found: dict[str, list[TrackingRow]] = {}
    for row in sorted(message.of_event(*_SHOW), key=order_of):
        name = queue_of(row)
        if key_of(row) == key and name is not None and not name.startswith(HOP):
            found.setdefault(name, []).append(row)
    return found
