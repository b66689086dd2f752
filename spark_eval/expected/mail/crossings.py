"""Hops from server to server, and which of them leave the transport high availability boundary.

The boundary is the plan's: the DAG, or the site for a server in no DAG (TP-3). What a node calls
its next hop counts for nothing here; the SEND row names the server that took the message, and its
reply the internal id that the message has there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import EXTERNAL
from spark_eval.histories.run import Run
from spark_eval.histories.sending import internal_id_in
from spark_eval.read.rows import TrackingRow


class Hop(NamedTuple):
    """`row` is the SEND; `crossed`: to another boundary of the organisation; `left`: so, or to a
    server outside.
    """

    row: TrackingRow
    peer: str
    peer_internal_id: str | None
    crossed: bool
    left: bool


@lru_cache(maxsize=4)
def hops(message: Message, run: Run) -> list[Hop]:
    """Of each SEND to another server of the plan."""
    found = []
    for row in message.tracking:
        sender, peer = run.servers.get(row.server), run.servers.get(row.peer or "")
        is_hop = row.event == "SEND" and row.internal_id is not None and row.peer != row.server
        if is_hop and sender is not None and peer is not None and sender.is_mailbox:
            crossed = peer.is_mailbox and peer.boundary != sender.boundary
            left = crossed or peer.role == EXTERNAL
            if peer.is_mailbox or peer.role == EXTERNAL:
                found.append(Hop(row, peer.name, internal_id_in(row.context), crossed, left))
    return found


def crossings(message: Message, run: Run) -> list[Hop]:
    """Hops to another boundary of the organisation."""
    return [hop for hop in hops(message, run) if hop.crossed]
