"""Attempts at messages that a server had put off, and the ladder that its queues wait by (RT-5).

How far up the ladder a queue is, is known where no attempt reached anybody, as often as the message
was put off since anything went through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.settings import ServerConfig
from spark_eval.histories.primary import Key, is_birth, key_of
from spark_eval.histories.queues import Queue, Queues, order_of, queue_of
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow, grouped


class Try(NamedTuple):
    """At a message, as it ended: `life`, how often the message had come to the server by then;
    `since_ms`, when it was tried before, or came; `opened_ms`, when its session was opened, of one
    that was put off; `rung` of the ladder, 0 where it is not known; `times`, how often it was tried
    in that life.
    """

    row: TrackingRow
    life: int
    since_ms: int | None
    opened_ms: int | None
    rung: int
    times: int


class Tried(NamedTuple):
    """What a server tried to send to one next hop, in order; `name` of the queue."""

    server: Server
    name: str
    queues: Queues
    tries: tuple[Try, ...]

    @property
    def queue(self) -> Queue:
        return self.queues.by_name[self.name]


def tried(message: Message, run: Run) -> Iterator[Tried]:
    """Of what was put off ever, by primary message and queue; of databases with one copy."""
    if not message.of_event("DEFER"):
        return
    rows = sorted(message.of_event("DEFER", "SEND"), key=order_of)
    for (key, name), own in grouped(rows, lambda row: (key_of(row), queue_of(row))).items():
        if key and name and name.removeprefix("database:") not in run.active_copies:
            server, queues = run.servers.get(key.server), run.queues.get(key.server)
            if server is not None and queues is not None:
                came = _came(message, key)
                yield Tried(server, name, queues, tuple(_tries(own, came, name, queues)))


def _came(message: Message, key: Key) -> list[int]:
    """When the message came to a server, or was loaded there."""
    begins = (row for row in message.tracking if is_birth(row) or row.event in ("RESUBMIT", "LOAD"))
    return sorted(row.at_ms for row in begins if key_of(row) == key)


def _tries(rows: list[TrackingRow], came: list[int], name: str, queues: Queues) -> Iterator[Try]:
    before_ms: int | None = None
    in_life: Counter[int] = Counter()
    streak, reached, known = 0, False, (-1, (0, 0))
    for row in rows:
        lives = [at_ms for at_ms in came if at_ms <= row.at_ms]
        served = (len(lives), queues.served(name, order_of(row)))
        opened_ms = queues.opened_ms(row) if row.event == "DEFER" else None
        if served != known:
            streak, reached, known = 0, False, served
        streak, reached = streak + 1, reached or opened_ms is None
        since_ms = max(lives[-1], before_ms or lives[-1]) if lives else None
        in_life[len(lives)] += 1
        rung, times = 0 if reached else streak, in_life[len(lives)]
        yield Try(row, len(lives), since_ms, opened_ms, rung, times)
        before_ms = row.at_ms


def longest_ms(rung: int, config: ServerConfig) -> int:
    """The longest wait up to that rung."""
    waits = [config.glitch_ms] * (config.glitches > 0)
    waits += [config.transient_ms] * (rung > config.glitches and config.transients > 0)
    waits += [config.outage_ms] * (rung > config.glitches + config.transients)
    return max(waits)


def least_ms(rung: int, config: ServerConfig) -> int:
    """The least wait after so many failures in a row."""
    if rung > config.glitches + config.transients:
        return config.outage_ms
    if rung > config.glitches:
        return min(config.transient_ms, config.outage_ms)
    return min(config.glitch_ms, config.transient_ms, config.outage_ms)
