"""Outbound sessions of a simulated server: the steps of `nodes.shell.smtp.client`, over simulated
connections.

The core asks for one step at a time; what goes wrong becomes `SessionFailed` before the session
stands and `SessionLost` after.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.smtp.steps import (
    Announced,
    Announcement,
    Answer,
    Banner,
    Content,
    Demand,
    Final,
    Greeting,
    Hello,
    Order,
    Passed,
    Question,
    Refused,
)
from nodes.core.config.config import NodeConfig
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.interface.effects import (
    AskDiscard,
    ManageCopy,
    OpenSession,
    PassCommand,
    PassMessage,
    RequestResubmit,
    Transmit,
)
from nodes.core.interface.inputs import (
    CopyCommandRefused,
    DiscardRefused,
    Input,
    PassedCommandAnswered,
    ResubmitRefused,
    SessionFailed,
    SessionLost,
    SessionOpened,
    TransmissionActive,
    TransmissionAnswered,
)
from nodes.core.interface.replies import Reply
from nodes.core.model.message import BodyHandle, Envelope
from nodes.shell.smtp.activity import Activity
from nodes.shell.smtp.client import SMTP_SERVICE
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import replication as replication_verbs
from nodes.shell.verbs import safety_net as safety_net_verbs
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.store.queue.changes import BodyGone


class SendingServer(Protocol):
    """What an outbound session needs of the server that it belongs to."""

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> NodeConfig: ...

    def now_ms(self) -> int: ...

    def give(self, happened: Input) -> None: ...

    def read(self, handle: BodyHandle) -> bytes: ...

    def when_awake(self, act: Callable[..., None], *arguments: Any) -> None: ...


class SimulatedOutboundSessions:
    """The outbound sessions of one life of a server."""

    def __init__(self, server: SendingServer, links: Mapping[tuple[str, str], Link]) -> None:
        """`links` by target and service."""
        self.server = server
        self._links = links
        self._open: dict[str, SimulatedOutboundSession] = {}

    def open(self, effect: OpenSession) -> None:
        link = self._links.get((effect.peer, effect.service))
        if link is None:
            which = "" if effect.service == SMTP_SERVICE else f" for {effect.service}"
            reason = f"there is no link to {effect.peer}{which}"
            self.server.give(SessionFailed(effect.session, reason))
            return
        session = SimulatedOutboundSession(self, effect.session)
        self._open[effect.session] = session
        session.begin(link)

    def transmit(self, effect: Transmit) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.transmit(effect)

    def pass_command(self, effect: PassCommand) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.pass_command(effect)

    def pass_message(self, effect: PassMessage) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.pass_message(effect)

    def ask_discard(self, effect: AskDiscard) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.ask(effect)

    def request_resubmit(self, effect: RequestResubmit) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.demand(effect)

    def manage_copy(self, effect: ManageCopy) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.order(effect)

    def hang_up(self, name: str) -> None:
        session = self._open.pop(name, None)
        if session is not None:
            session.connection.close(by_opener=True)

    def lost(self, name: str, happened: Input) -> None:
        """A session broke; nobody wants to know of one that was hung up before."""
        if self._open.pop(name, None) is not None:
            self.server.give(happened)

    def is_open(self, name: str) -> bool:
        return name in self._open

    def close_all(self) -> None:
        for name in list(self._open):
            self.hang_up(name)


class SimulatedOutboundSession:
    """One session."""

    __slots__ = (
        "_activity",
        "_content",
        "_demands",
        "_envelope",
        "_name",
        "_needs_reset",
        "_ordered",
        "_passes",
        "_refused",
        "_sent_away_with",
        "_sessions",
        "_stands",
        "connection",
    )

    connection: Connection

    def __init__(self, sessions: SimulatedOutboundSessions, name: str) -> None:
        self._sessions, self._name = sessions, name
        self._sent_away_with = ""
        self._stands = self._needs_reset = self._demands = self._passes = False
        self._ordered: CopyCommand | None = None
        self._content = b""
        self._envelope = Envelope("", ())
        self._refused: Refused = ()
        self._activity: Activity | None = None

    def begin(self, link: Link) -> None:
        self.connection = link.connect(self)
        self.connection.watch(self._moved, by_opener=True)

    def transmit(self, effect: Transmit) -> None:
        try:
            self._content = self._sessions.server.read(effect.body)
        except BodyGone as error:
            self.connection.close(by_opener=True)
            self._sessions.lost(self._name, SessionLost(self._name, str(error)))
            return
        self._envelope = effect.envelope
        announcement = Announcement(self._needs_reset, effect.prologue, effect.envelope)
        self._needs_reset = True
        self.connection.say(announcement, forward=True)

    def pass_command(self, effect: PassCommand) -> None:
        self._passes = True
        self.connection.say(Passed(effect.command), forward=True)

    def pass_message(self, effect: PassMessage) -> None:
        self._say_content(effect.envelope, self._sessions.server.read(effect.body))

    def ask(self, effect: AskDiscard) -> None:
        server = self._sessions.server
        question = Question(server.name, effect.known_database_id, effect.confirmed_sequence)
        self.connection.say(question, forward=True)

    def demand(self, effect: RequestResubmit) -> None:
        self._demands = True
        self.connection.say(Demand(effect.demand), forward=True)

    def order(self, effect: ManageCopy) -> None:
        self._ordered = effect.command
        self.connection.say(Order(effect.command), forward=True)

    def received(self, said: Any) -> None:
        self._sessions.server.when_awake(self._hear, said)

    def closed(self, reason: str) -> None:
        self._sessions.server.when_awake(self._lost, reason)

    def _lost(self, reason: str) -> None:
        lost = SessionLost if self._stands else SessionFailed
        self._sessions.lost(self._name, lost(self._name, self._sent_away_with or reason))

    def _hear(self, said: Any) -> None:
        if self._sessions.is_open(self._name):
            _HEAR[type(said)](self, said)

    def _banner(self, _: Banner) -> None:
        self.connection.say(Hello(self._sessions.server.name), forward=True)

    def _greeting(self, said: Greeting) -> None:
        self._stands = True
        self._sessions.server.give(SessionOpened(self._name, said.offers_shadow, said.database_id))

    def _announced(self, said: Announced) -> None:
        if said.early is not None:
            self._answer(said.early, said.refused)
            return
        self._refused = said.refused
        out = {address for address, _, _ in said.refused}
        taken = tuple(address for address in self._envelope.recipients if address not in out)
        content, self._content = self._content, b""
        self._say_content(Envelope(self._envelope.sender, taken), content)

    def _say_content(self, envelope: Envelope, content: bytes) -> None:
        self._activity = self._of_a_transmission()
        self.connection.say(Content(envelope, content), forward=True, size_bytes=len(content))

    def _of_a_transmission(self) -> Activity:
        server = self._sessions.server
        limit_ms = server.config.server.send_inactivity_timeout_ms
        return Activity(
            limit_ms, server.now_ms, lambda: server.give(TransmissionActive(self._name))
        )

    def _moved(self) -> None:
        """The other end takes what is said to it."""
        self._sessions.server.when_awake(self._is_taken)

    def _is_taken(self) -> None:
        if self._activity is not None and self._sessions.is_open(self._name):
            self._activity.seen()

    def _final(self, said: Final) -> None:
        if not self._stands:  # it is sent away, and its end comes next
            self._sent_away_with = f"{said.reply.code} {' '.join(said.reply.lines)}"
            return
        self._needs_reset, self._activity = said.reply.code == 503, None
        self._answer(said.reply, self._refused)

    def _answer(self, reply: Reply, refused: Refused) -> None:
        self._refused = ()
        text = " ".join(reply.lines)
        answered = TransmissionAnswered(self._name, reply.code, text, refused)
        self._sessions.server.give(replication_verbs.understood(answered))

    def _answer_question(self, said: Answer) -> None:
        if self._passes:
            self._passes = False
            reply = said.reply
            answered = PassedCommandAnswered(self._name, reply.code, " ".join(reply.lines))
            self._sessions.server.give(answered)
        elif self._demands:
            self._demands = False
            self._answer_demand(said.reply)
        elif self._ordered is not None:
            command, self._ordered = self._ordered, None
            self._answer_order(command, said.reply)
        else:
            self._answer_discards(said)

    def _answer_demand(self, reply: Reply) -> None:
        text = " ".join(reply.lines)
        answer = safety_net_verbs.parse_answer(self._name, text) if reply.code == 250 else None
        self._sessions.server.give(answer or ResubmitRefused(self._name, reply.code, text))

    def _answer_order(self, command: CopyCommand, reply: Reply) -> None:
        text = " ".join(reply.lines)
        answer = None
        if reply.code == 250:
            answer = database_verbs.parse_answer(self._name, command, text)
        self._sessions.server.give(answer or CopyCommandRefused(self._name, reply.code, text))

    def _answer_discards(self, said: Answer) -> None:
        """An answer that is not of the grammar is as good as none."""
        reply, text = said.reply, " ".join(said.reply.lines)
        answer = shadow_verbs.parse_answer(self._name, list(reply.lines))
        if reply.code != 250 or answer is None:
            self._sessions.server.give(DiscardRefused(self._name, reply.code, text))
        else:
            self._sessions.server.give(answer)


_HEAR: dict[type, Callable[..., None]] = {
    Banner: SimulatedOutboundSession._banner,
    Greeting: SimulatedOutboundSession._greeting,
    Announced: SimulatedOutboundSession._announced,
    Final: SimulatedOutboundSession._final,
    Answer: SimulatedOutboundSession._answer_question,
}
