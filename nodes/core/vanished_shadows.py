"""Shadow copies that are gone with the queue database of their shadow server (SM-17).

Every session that is opened to a server of the organisation begins with the id of its queue
database. Where that is another one than a message's shadow copy was made in, the copy is no more:
the message is reported as single-copy, once in a life of this server, and delivered. It is not
shadowed again. A server that no session is opened to says nothing, so nothing is known of it.
"""

from __future__ import annotations

from nodes.core.delivery import Delivery
from nodes.core.message import PrimaryMessage
from nodes.core.sending import Sessions
from nodes.core.tracking import primary_row
from nodes.core.work import Work

SINGLE_COPY = "single-copy"


class VanishedShadows:
    def __init__(self, work: Work, sessions: Sessions, delivery: Delivery) -> None:
        self._work = work
        self._delivery = delivery
        self._known: dict[str, tuple[int, str]] = {}
        sessions.on_database_named = self._named

    def _named(self, server: str, database_id: str, session: int) -> None:
        """The session that was begun last knows best. It says something only of messages whose copy
        was made before it was begun: of two ids theirs is the earlier one.
        """
        since, known = self._known.get(server, (0, ""))
        if session < since:
            return
        self._known[server] = (session, database_id)
        if known == database_id:
            return
        for message, begun in self._delivery.shadowed_by(server):
            if message.shadow_database_id not in ("", database_id) and begun < session:
                self._report(message)

    def _report(self, message: PrimaryMessage) -> None:
        server = message.shadow_server or ""
        context = f"{server}: the queue database that held the shadow message is gone"
        custom = (("ShadowServer", server), ("Outcome", SINGLE_COPY))
        row = primary_row("HAREDIRECTFAIL", "SMTP", message, source_context=context, custom=custom)
        self._work.emit(row)
