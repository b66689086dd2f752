"""Making messages of this server redundant: those that come in, and those that are durable here and
are sent anew (promoted, resubmitted) with nobody waiting for an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nodes.core.boundary import shadow_attempts
from nodes.core.config import NodeConfig
from nodes.core.delivery import Delivery
from nodes.core.identity import Identity
from nodes.core.message import BodyHandle, PrimaryMessage
from nodes.core.queue_changes import SetShadowServer
from nodes.core.sending import Sessions
from nodes.core.shadow_making import Made, NotMade, Outcome, ShadowMaking
from nodes.core.tracking import primary_row
from nodes.core.work import Then, Work


class Redundancy:
    """Shadow copies of this server's primary messages, at other servers."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        identity: Identity,
        sessions: Sessions,
        delivery: Delivery,
    ) -> None:
        self._config = config
        self._work = work
        self._identity = identity
        self._sessions = sessions
        self._delivery = delivery

    def promoted(self, message: PrimaryMessage, former_primary: str) -> None:
        """A promoted message is a primary message like any other (SM-13)."""
        self.send_anew(message, former_primary, lambda: None)

    def send_anew(self, message: PrimaryMessage, avoid: str | None, then: Then) -> None:
        """A message that is durable here is shadowed where another server can take it (SM-13), then
        delivered; `then` is called when it waits in its delivery queue.
        """

        def deliver(ready: PrimaryMessage) -> None:
            self._delivery.add(ready)
            then()

        if not self._config.transport.shadow_redundancy_enabled:
            deliver(message)
            return
        until_ms = self._work.now_ms + self._config.server.receive_connection_timeout_ms

        def outcome(result: Outcome) -> None:
            if isinstance(result, Made):
                self.log_made(message, result)
                change = SetShadowServer(message.internal_id, result.server)
                shadowed = replace(message, shadow_server=result.server)
                self._work.commit(
                    (change,), lambda: deliver(shadowed), lambda reason: deliver(message)
                )
            else:
                self.log_not_made(message, result, "accepted")
                deliver(message)

        body = f"db:{message.internal_id}"
        self.make(message, body, until_ms, avoid, outcome)

    def make(
        self,
        message: PrimaryMessage,
        body: BodyHandle,
        until_ms: int,
        avoid: str | None,
        done: Callable[[Outcome], None],
    ) -> None:
        """Attempts at other servers until `until_ms`; `done` is called once."""
        ShadowMaking(
            work=self._work,
            sessions=self._sessions,
            primary=self._config.me.name,
            database_id=self._identity.database_id,
            message=message,
            body=body,
            servers=shadow_attempts(self._config, message.internal_id, avoid),
            until_ms=until_ms,
            done=done,
        ).start()

    def log_made(self, message: PrimaryMessage, made: Made) -> None:
        """HAREDIRECT."""
        server = self._config.server_named(made.server)
        assert server is not None
        custom = (("ShadowServer", made.server), ("Attempts", str(made.attempts)))
        context = f"{server.fqdn} = {made.reply}"
        row = primary_row("HAREDIRECT", "SMTP", message, source_context=context, custom=custom)
        self._work.emit(row)

    def log_not_made(self, message: PrimaryMessage, result: NotMade, outcome: str) -> None:
        """HAREDIRECTFAIL; `outcome`: accepted or rejected."""
        custom = (("Attempts", str(result.attempts)), ("Outcome", outcome))
        context = "; ".join(result.reasons) or "no other server in the boundary"
        row = primary_row("HAREDIRECTFAIL", "SMTP", message, source_context=context, custom=custom)
        self._work.emit(row)
