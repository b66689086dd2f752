"""The heartbeat serves both (SM-20): a primary server knows, of each message in its queues, who
holds the shadow, and when that one last asked.

Whoever has held one for three heartbeats and has not asked meanwhile is silent, and says so by its
next question that it is back. That is all: the message stays and is delivered, and nothing is
shadowed again. Memory only: after a restart a server is given three heartbeats anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.delivery.discard_notifications import DiscardsAsked
from nodes.core.delivery.tracked import HasShadow, Tracked
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.replies import QueueShown
from nodes.core.shadow.vanished_shadows import VanishedShadows

HEARTBEATS = 3


@dataclass(slots=True)
class ShadowServer:
    """As this server knows it."""

    asked_ms: int | None = None
    is_watched: bool = False
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class Look(Waiting):
    """When a shadow server may have been silent for too long."""

    servers: ShadowServers
    name: str

    def __call__(self) -> None:
        self.servers.look(self.name)

    def __str__(self) -> str:
        return f"looks whether {self.name} is silent, which holds shadow messages"


class ShadowServers:
    """All that hold shadow messages of this server."""

    def __init__(
        self, config: NodeConfig, work: Work, delivery: Delivery, vanished: VanishedShadows
    ) -> None:
        self._patience_ms = HEARTBEATS * config.transport.shadow_heartbeat_frequency_ms
        self._work = work
        self._delivery = delivery
        self._vanished = vanished
        self._servers: dict[str, ShadowServer] = {}

    def holds(self, event: HasShadow) -> None:
        """It holds one more, which is in a queue here."""
        self._watch(event.shadow_server)

    def asked(self, event: DiscardsAsked) -> None:
        server = self._servers.setdefault(event.shadow_server, ShadowServer())
        server.asked_ms = self._work.now_ms
        if server.is_silent:
            server.is_silent = False
            self._log("shadow-server-returned", event.shadow_server)
            self._watch(event.shadow_server)

    def shown(self) -> tuple[QueueShown, ...]:
        """By shadow server, how many messages in queues here it holds, and when it last asked."""
        held = ((name, server, len(self._held(name))) for name, server in self._servers.items())
        return tuple(
            QueueShown("shadowed-by", name, count, None, _state(server), self._ago_ms(server))
            for name, server, count in sorted(held, key=lambda each: each[0])
            if count
        )

    def _ago_ms(self, server: ShadowServer) -> int | None:
        return None if server.asked_ms is None else self._work.now_ms - server.asked_ms

    def _watch(self, name: str) -> None:
        server = self._servers.setdefault(name, ShadowServer())
        if not (server.is_watched or server.is_silent):
            server.is_watched = True
            self._work.at(self._work.now_ms + self._patience_ms, Look(self, name))

    def look(self, name: str) -> None:
        """Whether it has been silent for as long as it has held the oldest of them."""
        server, held = self._servers[name], self._held(name)
        if not held:
            server.is_watched = False
            return
        since_ms = max(server.asked_ms or 0, min(each.came_ms for each in held))
        due_ms = since_ms + self._patience_ms
        if due_ms > self._work.now_ms:
            self._work.at(due_ms, Look(self, name))
            return
        server.is_watched, server.is_silent = False, True
        self._log("shadow-server-silent", name, ("count", len(held)))

    def _held(self, name: str) -> list[Tracked]:
        """Without what is known to be gone with its queue database (SM-17)."""
        gone = self._vanished.reported(name)
        held = self._delivery.shadowed_by(name)
        return [each for each in held if each.message.internal_id not in gone]

    def _log(self, event: str, name: str, *fields: tuple[str, str | int]) -> None:
        self._work.emit(LogLifecycle(event, (("server", name), *fields)))


def _state(server: ShadowServer) -> str:
    return "silent" if server.is_silent else ""
