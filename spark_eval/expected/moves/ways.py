"""The way that a recipient's mail has when a row is logged: where his mailbox was then, also while
it moves, when a server may go by either place (SN-8).
"""

from __future__ import annotations

from spark_eval.expected.mail.addressees import resolved_in
from spark_eval.expected.mail.arrivals import database_of
from spark_eval.histories.organisation.routing import DATABASE, Way
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow


def way_of(recipient: str, row: TrackingRow, server: Server, run: Run) -> Way | None:
    """Of the places that count, that of the row, where it says one; None where it says none and
    there are several.
    """
    if recipient not in run.directory.moves:
        return run.routing.way(server, recipient, row.size_bytes)
    places = run.directory.places(recipient, *_handed_out(row, server))
    ways = [run.routing.way_to(server, each, row.size_bytes) for each in places]
    if len(ways) == 1:
        return ways[0]
    said = hop_said(row)
    return next((way for way in ways if way is not None and way.hop == said), None) or (
        None if said is None else ways[-1]
    )


def may_be_held(recipient: str, row: TrackingRow, server: Server, run: Run) -> bool:
    """Whether his mailbox may have been on its way when a row's attempt was made: then nobody tried
    for him.
    """
    move = run.directory.moves.get(recipient)
    return move is not None and move.under_way.touches(*_handed_out(row, server))


def hop_said(row: TrackingRow) -> str | None:
    """The next hop that a row names, or the mailbox database that it says took the message."""
    database = database_of(row)
    return row.fork or (None if database is None else DATABASE + database)


def _handed_out(row: TrackingRow, server: Server) -> tuple[int, int]:
    """When it may have been, lab ms: to another server as long before as an answer may take."""
    start_ms, end_ms = resolved_in(server, row.at_ms)
    takes_ms = 0 if row.event in ("DELIVER", "DUPLICATEDELIVER") else server.config.timeout_ms
    return start_ms - takes_ms, end_ms
