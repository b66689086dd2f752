"""How old a message was when its queue gave it up, or sent it on (SM-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow


class Since(NamedTuple):
    """`born_ms`, when it came to its server, or that made it, a DSN; None where only LOAD after a
    restart speaks of it (`is_loaded`). `queued_ms`, since when it waits in a queue.
    """

    born_ms: int | None
    queued_ms: int | None
    ref: Ref | None
    is_loaded: bool


class Aged(NamedTuple):
    """A message of `server`, by the row of its end."""

    row: TrackingRow
    server: Server
    since: Since


def aged(message: Message, event: str, run: Run) -> Iterator[Aged]:
    """Of each row of that event."""
    since = _since(message)
    for row in message.of_event(event):
        server, known = run.servers.get(row.server), since.get(key_of(row))
        if server is not None and known is not None:
            yield Aged(row, server, known)


def _since(message: Message) -> dict[Key | None, Since]:
    found: dict[Key | None, Since] = {}
    for key, primary in message.primaries.items():
        born, first = primary.born, primary.born or primary.loaded
        rows = [row.at_ms for row in (first, primary.redirect, primary.failure) if row is not None]
        found[key] = Since(
            born.at_ms if born else None, max(rows, default=None), born.ref if born else None,
            primary.loaded is not None,
        )  # fmt: skip
    for row in message.made_here:
        made = key_of(row)
        known = found.get(made)
        if made is not None and (known is None or known.born_ms is None):
            is_loaded = known is not None and known.is_loaded
            found[made] = Since(row.at_ms, row.at_ms, row.ref, is_loaded)
    return found
