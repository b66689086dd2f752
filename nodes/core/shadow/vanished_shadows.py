"""Shadow copies that are gone with the queue database of their shadow server (SM-17).

Every session that is opened to a server of the organisation begins with the id of its queue
database. Where that is another one than a message's shadow copy was made in, the copy is no more:
the message is reported as single-copy, once in a life of this server, and delivered. It is not
shadowed again. A server that no session is opened to says nothing, so nothing is known of it.
"""

from __future__ import annotations

from nodes.core.delivery.delivery import Delivery
from nodes.core.engine.tracking_rows import primary_row
from nodes.core.engine.work import Work
from nodes.core.model.message import PrimaryMessage
from nodes.core.sessions.outbound import PeerReached

SINGLE_COPY = "single-copy"


class VanishedShadows:
    def __init__(self, work: Work, delivery: Delivery) -> None:
        self._work = work
        self._delivery = delivery
        self._reported: dict[str, set[int]] = {}

    def reached(self, event: PeerReached) -> None:
        session = event.lease.session
        if session.database_id:
            self.named(session.peer, session.database_id, session.number)

    def named(self, server: str, database_id: str, session: int) -> None:
        """A session says something only of messages that were here when it was begun: an id that it
        names and their copy has not is a later one than their copy's, however late it stands.
        """
        held = self._delivery.shadowed_by(server)
        reported = self.reported(server) & {each.message.internal_id for each in held}
        for message, begun in ((each.message, each.begun) for each in held):
            is_gone = message.shadow_database_id not in ("", database_id) and begun < session
            if is_gone and message.internal_id not in reported:
                reported.add(message.internal_id)
                self._report(message)
        self._reported[server] = reported

    def reported(self, server: str) -> set[int]:
        """Internal ids of the messages whose shadow that server has lost."""
        return self._reported.get(server, set())

    def _report(self, message: PrimaryMessage) -> None:
        server = message.shadow_server or ""
        context = f"{server}: the queue database that held the shadow message is gone"
        custom = (("ShadowServer", server), ("Outcome", SINGLE_COPY))
        row = primary_row("HAREDIRECTFAIL", "SMTP", message, source_context=context, custom=custom)
        self._work.emit(row)
