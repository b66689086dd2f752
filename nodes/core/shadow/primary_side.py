"""Making messages of this server redundant: those that come in, and those that are durable here and
are sent anew (promoted, resubmitted) with nobody waiting for an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.engine.tracking_rows import primary_row
from nodes.core.engine.work import Then, Work
from nodes.core.interface.queue_changes import SetShadowServer
from nodes.core.model.identity import Identity
from nodes.core.model.message import BodyHandle, ForkState, PrimaryMessage
from nodes.core.routing.boundary import shadow_attempts
from nodes.core.sessions.outbound import Sessions
from nodes.core.shadow.redundancy import ShadowPromoted
from nodes.core.shadow.shadow_attempts import Made, NotMade, Outcome, ShadowMaking


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
        self.under_way = 0
        """Messages that are durable here and wait for their shadow."""

    def opened(self, messages: tuple[PrimaryMessage, ...]) -> None:
        """After a restart: what was being sent anew is made redundant before it goes out (SM-13,
        SM-15); the others are delivered.
        """
        parents = {message.side_effect_of for message in messages}
        found = {m.internal_id for m in messages if self._was_being_sent_anew(m)}
        anew = found - parents
        self._delivery.opened(tuple(m for m in messages if m.internal_id not in anew))
        for message in messages:
            if message.internal_id in anew:
                row = primary_row("LOAD", "BOOTLOADER", message, source_context="delivery")
                self._work.emit(row)
                self._send(message, None, self._deliver_since_received)

    def _was_being_sent_anew(self, message: PrimaryMessage) -> bool:
        """It was promoted or resubmitted, has no shadow copy, and nothing of it went out. Whether a
        shadow was tried before the restart is not known: then it is tried once more.
        """
        is_anew = message.promoted or message.resubmit_request is not None
        is_whole = all(fork.state is ForkState.QUEUED for fork in message.forks)
        is_bare = message.shadow_server is None and message.side_effect_of is None
        return is_anew and is_whole and is_bare

    def _deliver_since_received(self, message: PrimaryMessage) -> None:
        self._delivery.add(message, message.received_ms)

    def promoted(self, event: ShadowPromoted) -> None:
        """A promoted message is a primary message like any other (SM-13)."""
        self.send_anew(event.message, event.former_primary, lambda: None)

    def send_anew(self, message: PrimaryMessage, avoid: str | None, then: Then) -> None:
        """A message that is durable here is shadowed where another server can take it (SM-13), then
        delivered; `then` is called when it waits in its delivery queue.
        """

        def deliver(ready: PrimaryMessage) -> None:
            self._delivery.add(ready)
            then()

        self._send(message, avoid, deliver)

    def _send(
        self,
        message: PrimaryMessage,
        avoid: str | None,
        deliver: Callable[[PrimaryMessage], None],
    ) -> None:
        if not self._config.transport.shadow_redundancy_enabled:
            deliver(message)
            return
        until_ms = self._work.now_ms + self._config.server.receive_connection_timeout_ms
        self.under_way += 1

        def outcome(result: Outcome) -> None:
            self.under_way -= 1
            if isinstance(result, Made):
                self.log_made(message, result)
                change = SetShadowServer(message.internal_id, result.server, result.database_id)
                redundant = shadowed(message, result)

                def not_written(_reason: str) -> None:
                    deliver(redundant)
                    self._delivery.write_holder(change)

                self._work.commit((change,), lambda: deliver(redundant), not_written)
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
        custom = [("ShadowServer", made.server), ("Attempts", str(made.attempts))]
        if made.silent:
            custom.append(("Silent", " ".join(made.silent)))
        context = f"{server.fqdn} = {made.reply}"
        named = tuple(custom)
        row = primary_row("HAREDIRECT", "SMTP", message, source_context=context, custom=named)
        self._work.emit(row)

    def log_not_made(self, message: PrimaryMessage, result: NotMade, outcome: str) -> None:
        """HAREDIRECTFAIL; `outcome`: accepted or rejected."""
        custom = (("Attempts", str(result.attempts)), ("Outcome", outcome))
        context = "; ".join(result.reasons) or "no other server to try"
        row = primary_row("HAREDIRECTFAIL", "SMTP", message, source_context=context, custom=custom)
        self._work.emit(row)


def shadowed(message: PrimaryMessage, made: Made) -> PrimaryMessage:
    return replace(message, shadow_server=made.server, shadow_database_id=made.database_id)
