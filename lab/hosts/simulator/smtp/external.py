"""A simulated server outside the organisation: plain SMTP for its own domain, like
`nodes.shell.external`.

A message is a line of its record, after a drawn time, before its 250.
"""

import json
from collections.abc import Callable
from typing import Any

from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.event_loop import World
from lab.hosts.simulator.random_delays import BOOT_US, COMMIT_US, Chance
from lab.hosts.simulator.smtp.inbound import BARE_LINE_ENDS, header_of
from lab.hosts.simulator.smtp.steps import (
    Announced,
    Announcement,
    Banner,
    Content,
    Final,
    Greeting,
    Hello,
)
from lab.plan.topology import Server
from nodes.core.interface.replies import R550_NO_SUCH_RECIPIENT, Reply, as_shown
from nodes.shell.smtp import line_ends
from nodes.store.dsn_fields import columns_of
from nodes.store.message_digest import columns_of_content

KILLED = 137


class ExternalServer:
    """`record` takes the lines of what it received; they survive everything."""

    def __init__(
        self, world: World, server: Server, record: Callable[[str], None], seed: int
    ) -> None:
        self.name = server.name
        self._world, self._record = world, record
        self._ending = f"@{(server.domain or '').lower()}"
        self._chance = Chance(seed, "external", server.name)
        self._life = 0
        self._is_up = self.is_paused = False
        self._boots, self._is_booting = 0, False
        self._asleep: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._sessions: dict[ExternalSession, None] = {}

    @property
    def is_running(self) -> bool:
        return self._is_up or self._is_booting

    @property
    def listens(self) -> bool:
        return self._is_up

    def start(self) -> None:
        self._boots, self._is_booting = self._boots + 1, True
        self._world.after(self._chance.mostly_short(*BOOT_US), self._booted, self._boots)

    def start_at_once(self) -> None:
        self._is_up = True

    def _booted(self, boot: int) -> None:
        if self._is_booting and boot == self._boots:
            self._is_booting = False
            self.start_at_once()

    def kill(self) -> int:
        self._is_up = self.is_paused = self._is_booting = False
        self._life += 1
        self._asleep.clear()
        for session in list(self._sessions):
            session.connection.close(by_opener=False)
        self._sessions.clear()
        return KILLED

    def stop(self, stopped: Callable[[], None] = lambda: None) -> None:
        self.kill()
        stopped()

    def pause(self) -> None:
        self.is_paused = self._is_up

    def resume(self) -> None:
        self.is_paused = False
        asleep, self._asleep = self._asleep, []
        for act, arguments in asleep:
            act(*arguments)

    def accept(self, connection: Connection, opener: str) -> "ExternalSession":
        session = ExternalSession(self, connection, opener)
        self._sessions[session] = None
        self.when_awake(session.begin)
        return session

    def forget(self, session: "ExternalSession") -> None:
        self._sessions.pop(session, None)

    def when_awake(self, act: Callable[..., None], *arguments: Any) -> None:
        if self.is_paused:
            self._asleep.append((act, arguments))
        else:
            act(*arguments)

    def takes(self, address: str) -> bool:
        return address.lower().endswith(self._ending)

    def store(self, session: "ExternalSession", said: Content) -> None:
        life, delay_us = self._life, self._chance.mostly_short(*COMMIT_US)
        self._world.after(delay_us, self.when_awake, self._stored, life, session, said)

    def _stored(self, life: int, session: "ExternalSession", said: Content) -> None:
        if life != self._life:
            return
        message_id = header_of(said.content).message_id
        received = {
            "message_id": message_id,
            "sender": said.envelope.sender,
            "recipients": list(said.envelope.recipients),
            "received_ms": self._world.now_ms(),
            "mono_ns": self._world.mono_ns(),
            "size_bytes": len(said.content),
            "peer": session.opener,
            **columns_of_content(said.content),
            **columns_of(said.content),
        }
        self._record(json.dumps(received))
        reply = Reply(250, (f"2.0.0 {as_shown(message_id)} accepted",))
        session.connection.say(Final(reply), forward=False)


class ExternalSession:
    """One session."""

    __slots__ = ("_server", "connection", "opener")

    def __init__(self, server: ExternalServer, connection: Connection, opener: str) -> None:
        self._server, self.connection, self.opener = server, connection, opener

    def begin(self) -> None:
        self.connection.say(Banner(), forward=False)

    def received(self, said: Any) -> None:
        self._server.when_awake(self._hear, said)

    def closed(self, _reason: str) -> None:
        self._server.forget(self)

    def _hear(self, said: Any) -> None:
        if isinstance(said, Hello):
            self.connection.say(Greeting(offers_shadow=False), forward=False)
        elif isinstance(said, Announcement):
            self.announce(said)
        elif isinstance(said, Content) and line_ends.has_bare(said.content):
            self.connection.say(Final(BARE_LINE_ENDS), forward=False)
        elif isinstance(said, Content):
            self._server.store(self, said)

    def announce(self, said: Announcement) -> None:
        reply = R550_NO_SUCH_RECIPIENT
        out = [each for each in said.envelope.recipients if not self._server.takes(each)]
        refused = tuple((address, reply.code, " ".join(reply.lines)) for address in out)
        early = reply if len(out) == len(said.envelope.recipients) else None
        self.connection.say(Announced(early, refused), forward=False)
