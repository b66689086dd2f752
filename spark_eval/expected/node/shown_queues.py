"""What a server showed of its queues while it ran, and what its tracking log says that they held
then (TL-9).

A look takes a moment, and rows are written when something is done: what certainly was there at that
moment, and what possibly was, differ by what happened close to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.node.queues_there import perhaps_there, surely_there
from spark_eval.expected.safety_net.operations import operations
from spark_eval.expected.shadow.in_queues import queued
from spark_eval.expected.shadow.shadow_copies import copies_of, expired_ms
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.csv_rows import integer
from spark_eval.read.operation_kinds import Looked
from spark_eval.read.rows import grouped

MESSAGES, SHADOW, SAFETY_NET = "messages", "shadow", "primary-safety-net"
SHADOWED_BY, DELIVERY = "shadowed-by", "delivery"
# a copy whose stay is over is swept within this
SWEPT_MS = 120_000
COUNTED = ("HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE", "HADISCARD", "RESUBMIT")
_NONE, _END = "-", "|"


class Look(NamedTuple):
    """One answer: `lengths` by kind and name of a queue, `figures` by name; None where a line of it
    could not be read. `asked`: by shadow server, how many ms ago it had asked. `at`: when all this
    was asked for; `slack_ms`, how far from that a row may be.
    """

    operation: str
    server: Server
    at: Interval
    slack_ms: int
    lengths: Mapping[tuple[str, str], int] | None
    figures: Mapping[str, str]
    asked: Mapping[str, int]

    def holds(self, from_ms: int, to_ms: int) -> tuple[bool, bool]:
        """Whether what was there from then to then was there at the moment: surely, and perhaps."""
        is_sure = from_ms <= self.at.lo - self.slack_ms and to_ms > self.at.hi + self.slack_ms
        return (
            is_sure,
            from_ms <= self.at.hi + self.slack_ms and to_ms >= self.at.lo - self.slack_ms,
        )


@lru_cache(maxsize=1)
def looks(run: Run) -> tuple[Look, ...]:
    """Of every `show_queues` that was answered."""
    return tuple(_looks(run)) if run.planned_operations else ()


def _looks(run: Run) -> Iterator[Look]:
    for each in operations(run):
        keys = each.planned.keys
        server = run.servers.get(getattr(keys, "server", None) or "")
        is_answered = (each.reason or "").startswith("250")
        if isinstance(keys, Looked) and server is not None and each.asked and is_answered:
            lengths, figures, ago = _read(each.reason or "")
            slack_ms = server.slack_ms + run.finest_ms
            yield Look(each.id, server, each.asked, slack_ms, lengths, figures, ago)


def _read(
    said: str,
) -> tuple[dict[tuple[str, str], int] | None, dict[str, str], dict[str, int]]:
    lengths: dict[tuple[str, str], int] = {}
    figures: dict[str, str] = {}
    ago: dict[str, int] = {}
    for part in " ".join(said.split()).split(_END)[:-1]:
        words = part.strip().removeprefix("250").removeprefix("-").split()
        length = integer(words[3]) if len(words) >= 5 and words[0] == "queue" else None
        if length is not None:
            lengths[words[1], "" if words[2] == _NONE else words[2]] = length
            asked_ms = integer(words[5]) if words[1] == SHADOWED_BY and len(words) > 5 else None
            ago |= {} if asked_ms is None else {words[2]: asked_ms}
        elif len(words) == 3 and words[0] == "figure":
            figures[words[1]] = words[2]
        else:
            return None, {}, {}
    return lengths, figures, ago


class Held(NamedTuple):
    """One message of a queue, or one step of a counter, at the moment of a look."""

    operation: str
    kind: str
    name: str
    is_sure: bool


def held(message: Message, run: Run) -> Iterator[Held]:
    """What a message, or a DSN about it, adds to what was looked at."""
    for look in looks(run):
        for each in message.with_dsns:
            yield from _primaries(each, look, run)
            yield from _shadowed(each, look, run)
            yield from _shadows(each, look, run)
            yield from _queues(each, look, run)
            yield from _counted(each, look)


def held_of_probes(run: Run) -> Iterator[Held]:
    """What the lab's probes of the links add, which are mail to their servers."""
    by_id = grouped(run.probes, lambda row: row.message_id or "")
    for name, rows in by_id.items():
        yield from held(Message(name, tracking=list(rows)), run)


def _primaries(message: Message, look: Look, run: Run) -> Iterator[Held]:
    """In its delivery queues until all of it is done, then in its Primary Safety Net."""
    for key, forks in forks_of(message, run).items():
        primary = message.primaries[key]
        first = primary.born or primary.loaded
        if key.server != look.server.name or first is None:
            continue
        lost_ms = look.server.lost_ms(key.database_id) or FOREVER_MS
        known = [each for each in (forks.done_ms, forks.known_ms) if each is not None]
        done_ms = max(known) if forks.complete and known else FOREVER_MS
        yield from _held(look, MESSAGES, "", first.at_ms, min(done_ms, lost_ms))
        if forks.served_ms is not None:
            until_ms = forks.served_ms + run.config.hold_ms
            yield from _held(look, SAFETY_NET, "", done_ms, min(until_ms, lost_ms))
        elif forks.first_done_ms is not None:
            until_ms = done_ms + run.config.hold_ms
            yield from _perhaps(look, SAFETY_NET, "", done_ms, min(until_ms, lost_ms))
        if forks.served_ms is not None and done_ms < FOREVER_MS:
            yield from _perhaps(look, SAFETY_NET, "", until_ms, min(until_ms + SWEPT_MS, lost_ms))


def _shadowed(message: Message, look: Look, run: Run) -> Iterator[Held]:
    """In its queues, while another server holds the shadow message of it."""
    for copy in copies_of(message, run):
        key = copy.shadow.key
        spans = queued(copy, run) if key.primary.server == look.server.name else None
        if spans is not None:
            (is_sure, _), (_, is_possible) = (look.holds(each.lo, each.hi) for each in spans)
            if is_possible:
                yield Held(look.operation, SHADOWED_BY, key.server, is_sure)


def _shadows(message: Message, look: Look, run: Run) -> Iterator[Held]:
    for key, shadow in message.shadows.items():
        if key.server != look.server.name or (shadow.held or shadow.claimed) is None:
            continue
        first = shadow.held or shadow.claimed
        assert first is not None
        ends = [row.at_ms for row in (shadow.discard, shadow.promoted) if row is not None]
        ends += expired_ms(shadow, run)
        stored = shadow.held.database_id if shadow.held else None
        lost_ms = look.server.lost_ms(stored or "") or FOREVER_MS
        kept = (first.at_ms, min((*ends, lost_ms)))
        make = _held if shadow.held is not None else _perhaps
        yield from make(look, SHADOW, key.primary.server, *kept)


def _queues(message: Message, look: Look, run: Run) -> Iterator[Held]:
    """For its sake a delivery queue is there."""
    for name, span in surely_there(message, look, run):
        yield from _held(look, DELIVERY, name, span.lo, span.hi)
    for name, span in perhaps_there(message, look, run):
        yield from _perhaps(look, DELIVERY, name, span.lo, span.hi)


def _counted(message: Message, look: Look) -> Iterator[Held]:
    """Rows of the life in which it was looked at."""
    begun_ms = look.server.life_at(look.at.lo) or 0
    for row in message.of_event(*COUNTED):
        if row.server == look.server.name and row.at_ms >= begun_ms - look.slack_ms:
            is_near_start = row.at_ms < begun_ms + look.slack_ms and begun_ms > 0
            make = _perhaps if is_near_start else _held
            yield from make(look, "figure", row.event, row.at_ms, FOREVER_MS)


def _held(look: Look, kind: str, name: str, from_ms: int, to_ms: int) -> Iterator[Held]:
    is_sure, is_possible = look.holds(from_ms, to_ms)
    if is_possible:
        yield Held(look.operation, kind, name, is_sure)


def _perhaps(look: Look, kind: str, name: str, from_ms: int, to_ms: int) -> Iterator[Held]:
    for each in _held(look, kind, name, from_ms, to_ms):
        yield each._replace(is_sure=False)
