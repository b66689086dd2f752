"""Inbound sessions of a simulated server: the steps of `nodes.shell.smtp.inbound_connection`, over
simulated connections.

A step that needs a decision becomes inputs of the core; its `SendReply` goes back. A client that
goes away in the middle becomes `ConnectionLost`, and aborts nothing.
"""

from collections.abc import Callable, Generator
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.smtp.as_inputs import of_announcement, of_order
from lab.hosts.simulator.smtp.steps import (
    Announced,
    Announcement,
    Answer,
    Banner,
    Command,
    Content,
    Demand,
    Final,
    ForeignHello,
    Greeting,
    Hello,
    NoCommand,
    Order,
    PartOfContent,
    Passed,
    Question,
)
from lab.hosts.simulator.smtp.verbs import parse_command
from nodes.core.config.config import TRUSTED_ROLES, NodeConfig
from nodes.core.interface.effects import (
    MailFrom,
    PassedCommand,
    RecipientTo,
)
from nodes.core.interface.inputs import (
    CommandNotUnderstood,
    ConnectionLost,
    DiscardAsked,
    Input,
    MessageOffered,
    PeerAuthenticated,
    RecipientOffered,
    ResubmitRequested,
    SessionAccepted,
    SessionActive,
    TransactionReset,
)
from nodes.core.interface.replies import Reply
from nodes.core.model.message import Envelope, Header
from nodes.shell.smtp import line_ends
from nodes.shell.smtp.activity import Activity
from nodes.shell.smtp.headers import hops_of, local_hops_of, read_header
from nodes.shell.storage.bodies import Bodies
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.shell.verbs.shadow import R501_BAD_ARGUMENTS

PROXY_ADDRESS = "192.0.2.1"
SENDER_OK = Reply(250, ("2.1.0 Sender OK",))
R500_UNKNOWN = Reply(500, ("5.3.3 Unrecognized command",))
BARE_LINE_ENDS = Reply(550, (line_ends.BARE_LINE_ENDS,))


Commands: TypeAlias = Generator[Input, Reply, Announced]
"""Each is said when the one before is answered."""


class ReceivingServer(Protocol):
    """What an inbound session needs of the server that it belongs to."""

    @property
    def config(self) -> NodeConfig: ...

    @property
    def bodies(self) -> Bodies: ...

    def give(self, happened: Input) -> None: ...

    def now_ms(self) -> int: ...

    def when_awake(self, act: Callable[..., None], *arguments: Any) -> None: ...


@lru_cache(maxsize=512)
def header_of(content: bytes) -> Header:
    """`read_header`, which is pure; every copy of a message has the same bytes."""
    return read_header(content)


@lru_cache(maxsize=512)
def has_bare(content: bytes) -> bool:
    """`line_ends.has_bare`, which is pure too: what is tried again is not read again."""
    return line_ends.has_bare(content)


class SimulatedInboundSessions:
    """The inbound sessions of one life of a server, each of that `kind`."""

    def __init__(
        self,
        server: ReceivingServer,
        kind: "Callable[[SimulatedInboundSessions, str, Connection], SimulatedInboundSession]",
    ) -> None:
        self.server, self._kind = server, kind
        self.database_id = ""
        self._open: dict[str, SimulatedInboundSession] = {}
        self._count = 0

    def accept(self, connection: Connection) -> "SimulatedInboundSession":
        self._count += 1
        session = self._kind(self, f"in-{self._count}", connection)
        self._open[session.name] = session
        self.server.when_awake(session.begin)
        return session

    def is_open(self, name: str) -> bool:
        return name in self._open

    def reply(self, name: str, reply: Reply) -> None:
        if name in self._open:
            self._open[name].answer(reply)

    def close(self, name: str, reply: Reply | None) -> None:
        """Say the reply, if any, and close; the core hears once that it is over."""
        session = self._open.get(name)
        if session is not None:
            if reply is not None:
                session.connection.say(Final(reply), forward=False)
            session.connection.close(by_opener=False)
            self.over(name)

    def close_all(self, reply: Reply) -> None:
        for name in list(self._open):
            self.close(name, reply)

    def drop_all(self) -> None:
        """The process is gone; the system closes its sessions."""
        for session in self._open.values():
            session.connection.close(by_opener=False)

    def over(self, name: str) -> None:
        if self._open.pop(name, None) is not None:
            self.server.give(ConnectionLost(name))

    @property
    def await_answers(self) -> bool:
        return any(session.awaits_final for session in self._open.values())


class SimulatedInboundSession:
    """One session. `commands` are those of an announcement that are still to be answered."""

    __slots__ = (
        "_activity",
        "_asks",
        "_commands",
        "_passed",
        "_sessions",
        "_taken",
        "awaits_final",
        "connection",
        "name",
    )

    def __init__(
        self, sessions: SimulatedInboundSessions, name: str, connection: Connection
    ) -> None:
        self._sessions, self.name, self.connection = sessions, name, connection
        self._commands: Commands | None = None
        self._passed: PassedCommand | None = None
        self._taken = 0  # recipients of the message of which a client says one by one
        self._asks = False
        self.awaits_final = False
        server, limit_ms = (
            sessions.server,
            sessions.server.config.server.receive_inactivity_timeout_ms,
        )
        self._activity = Activity(limit_ms, server.now_ms, lambda: server.give(SessionActive(name)))
        connection.watch(self._moved, by_opener=False)

    def begin(self) -> None:
        self._sessions.server.give(SessionAccepted(self.name, PROXY_ADDRESS))
        self.connection.say(Banner(), forward=False)

    def received(self, said: Any) -> None:
        self._sessions.server.when_awake(self._hear, said)

    def closed(self, _reason: str) -> None:
        self._sessions.server.when_awake(self._sessions.over, self.name)

    def answer(self, reply: Reply) -> None:
        if self._commands is not None:
            self._go_on(self._commands, reply)
        elif self._asks:
            self._taken += isinstance(self._passed, RecipientTo) and reply.code == 250
            self._asks, self._passed = False, None
            self.connection.say(Answer(reply), forward=False)
        elif self.awaits_final:
            self.awaits_final = False
            self.connection.say(Final(reply), forward=False)

    def _go_on(self, commands: Commands, reply: Reply) -> None:
        try:
            following = commands.send(reply)
        except StopIteration as end:
            self._commands = None
            self.connection.say(end.value, forward=False)
        else:
            self._sessions.server.give(following)

    def _hear(self, said: Any) -> None:
        if self._sessions.is_open(self.name):
            self._activity.seen()
            if isinstance(said, Announcement):
                self.announced(said)
            else:
                _HEAR[type(said)](self, said)

    def _moved(self) -> None:
        """A part of what is said has come."""
        self._sessions.server.when_awake(self._hear_a_part)

    def _hear_a_part(self) -> None:
        if self._sessions.is_open(self.name):
            self._activity.seen()

    def _hello(self, said: Hello) -> None:
        config = self._sessions.server.config
        known = None if said.peer is None else config.server_named(said.peer)
        peer = known.name if known is not None and known.role in TRUSTED_ROLES else None
        if peer is not None:
            self._sessions.server.give(PeerAuthenticated(self.name, peer))
            if not self._sessions.is_open(self.name):  # it was sent away
                return
        offers = shadow_verbs.offers_shadow(config, peer)
        database_id = self._sessions.database_id if offers else ""
        self.connection.say(Greeting(offers, database_id), forward=False)

    def _foreign_hello(self, _: ForeignHello) -> None:
        """Its handshake fails, and with it the session (`nodes.shell.tls`)."""
        self.connection.close(by_opener=False)
        self._sessions.over(self.name)

    def announced(self, said: Announcement) -> None:
        """What comes before a message: each command of it awaits its answer."""
        if said.resets:
            self._sessions.server.give(TransactionReset(self.name))
        self._commands = self.said_one_by_one(said)
        self._sessions.server.give(next(self._commands))

    def said_one_by_one(self, said: Announcement) -> Commands:
        """MAIL this server answers by itself, as in `nodes.shell.smtp.hooks`."""
        if said.prologue is not None:
            reply = yield of_announcement(self.name, said.prologue)
            if reply.code != 250:
                return Announced(reply, ())
        return (yield from self.recipients(said.envelope))

    def recipients(self, envelope: Envelope) -> Commands:
        refused: list[tuple[str, int, str]] = []
        for number, address in enumerate(envelope.recipients):
            reply = yield RecipientOffered(self.name, address, number - len(refused))
            if reply.code != 250:
                refused.append((address, reply.code, " ".join(reply.lines)))
        is_pointless = len(refused) == len(envelope.recipients)
        return Announced(reply if is_pointless else None, tuple(refused))

    def passed(self, said: Passed) -> None:
        """Of a client that says them one by one, as a front end does."""
        self._asks, self._passed = True, said.command
        if isinstance(said.command, RecipientTo):
            offered = RecipientOffered(self.name, said.command.address, self._taken)
            self._sessions.server.give(offered)
        else:
            self._taken = 0
            self.offer_sender(said.command)

    def offer_sender(self, _: MailFrom) -> None:
        self.answer(SENDER_OK)

    def _content(self, said: Content) -> None:
        server, content = self._sessions.server, said.content
        if has_bare(content):
            self.connection.say(Final(BARE_LINE_ENDS), forward=False)
            return
        self.awaits_final = True
        handle = server.bodies.hold(content)
        envelope = Envelope(said.envelope.sender, said.envelope.recipients)
        header, hops = header_of(content), hops_of(content)
        local_hops = local_hops_of(content, server.config.fqdns)
        server.give(
            MessageOffered(self.name, envelope, header, len(content), handle, hops, local_hops)
        )

    def _question(self, said: Question) -> None:
        self._asks = True
        asked = DiscardAsked(
            self.name, said.asking, said.known_database_id, said.confirmed_sequence
        )
        self._sessions.server.give(asked)

    def _demand(self, said: Demand) -> None:
        self._asks = True
        self._sessions.server.give(ResubmitRequested(self.name, said.demand))

    def _order(self, said: Order) -> None:
        self._asks = True
        self._sessions.server.give(of_order(self.name, said.command))

    def _command(self, said: Command) -> None:
        """Whoever says it: who may use it is the core's to say."""
        asked = parse_command(self.name, said.line)
        self._asks = True
        if asked is None:
            self.answer(R501_BAD_ARGUMENTS)
        else:
            self._sessions.server.give(asked)

    def _no_command(self, _: NoCommand) -> None:
        self.connection.say(Answer(R500_UNKNOWN), forward=False)
        self._sessions.server.give(CommandNotUnderstood(self.name))

    def _part_of_content(self, _: PartOfContent) -> None:
        """It says no more than that the client is still there."""


_HEAR: dict[type, Callable[..., None]] = {
    Hello: SimulatedInboundSession._hello,
    Content: SimulatedInboundSession._content,
    Question: SimulatedInboundSession._question,
    Demand: SimulatedInboundSession._demand,
    Order: SimulatedInboundSession._order,
    Passed: lambda session, said: session.passed(said),
    NoCommand: SimulatedInboundSession._no_command,
    ForeignHello: SimulatedInboundSession._foreign_hello,
    Command: SimulatedInboundSession._command,
    PartOfContent: SimulatedInboundSession._part_of_content,
}
