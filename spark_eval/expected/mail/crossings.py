"""Hops from server to server, and which of them hand a message on: to another transport high
availability boundary, on its way out of this one, or where an administrator had it go.

The boundary is the plan's: the DAG, or the site for a server in no DAG (TP-3). What a node calls
its next hop counts for nothing here; the SEND row names the server that took the message, and its
reply the internal id that the message has there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.redirections import redirection_of
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import EXTERNAL, Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import internal_id_in
from spark_eval.intervals.interval import FOREVER_MS
from spark_eval.read.rows import TrackingRow

_STORED = ("DELIVER", "DUPLICATEDELIVER")


class Hop(NamedTuple):
    """`row` is the SEND; `crossed`: a server of the organisation took it that answers for it from
    then on, since it is of another boundary, or the recipients' mailboxes are in none of its own,
    or it was redirected there; `left`: so, or a server outside took it.
    """

    row: TrackingRow
    peer: str
    peer_internal_id: str | None
    crossed: bool
    left: bool
    redirected: bool


@lru_cache(maxsize=4)
def hops(message: Message, run: Run) -> list[Hop]:
    """Of each SEND to another server of the plan."""
    found = []
    for row in message.tracking:
        sender, peer = run.servers.get(row.server), run.servers.get(row.peer or "")
        is_hop = row.event == "SEND" and row.internal_id is not None and row.peer != row.server
        if is_hop and sender is not None and peer is not None and sender.is_mailbox:
            redirected = redirection_of(row, run) is not None
            is_on = redirected or _is_handed_on(row, sender, peer, run)
            crossed = peer.is_mailbox and is_on
            left = crossed or peer.role == EXTERNAL
            if peer.is_mailbox or peer.role == EXTERNAL:
                peer_id = internal_id_in(row.context)
                found.append(Hop(row, peer.name, peer_id, crossed, left, redirected))
    return found


def crossings(message: Message, run: Run) -> list[Hop]:
    """Hops that hand the message on within the organisation."""
    return [hop for hop in hops(message, run) if hop.crossed]


def _is_handed_on(row: TrackingRow, sender: Server, peer: Server, run: Run) -> bool:
    ways = (run.routing.way(sender, each, None) for each in row.recipients or ())
    way = next((each for each in ways if each is not None), None)
    return peer.boundary != sender.boundary or (way is not None and not way.is_into_a_database)


def takings(message: Message, hop: Hop, run: Run) -> list[TrackingRow]:
    """Rows by which the peer took what a hop brought: to send it on, or into mailboxes. A new queue
    database counts its messages anew: what an earlier one took is another one's.
    """
    if hop.peer_internal_id is None:
        return []
    rows = (row for row in message.tracking if row.server == hop.peer)
    lost_ms = run.servers[hop.peer].lost_ms
    return [
        row
        for row in rows
        if row.internal_id == hop.peer_internal_id
        and (row.event == "RECEIVE" or (row.event in _STORED and row.source == "STOREDRIVER"))
        and (lost_ms(row.database_id or "") or FOREVER_MS) > hop.row.at_ms
    ]
