"""Strangers in virtual time: what each of the plan says to real cores over simulated connections,
and what it hears, written down reply by reply.

It says its commands one after the other, whatever it hears, and hangs up. One that trickles sends a
message byte by byte, until it is sent away or has trickled for long enough; one with bare line ends
sends its message at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.smtp.steps import (
    Announced,
    Announcement,
    Answer,
    Banner,
    Command,
    Content,
    Final,
    ForeignHello,
    Greeting,
    Hello,
    NoCommand,
    PartOfContent,
    Passed,
)
from lab.plan.parts import Stranger, Trickle
from lab.workload.program import STEP_LAB_MS
from lab.workload.stranger_record import (
    BANNER,
    DATA,
    EHLO,
    FINAL_DOT,
    MAIL,
    RCPT,
    End,
    StrangerRecord,
)
from lab.workload.strangers import SERVICE_CLOSING, content_said_by
from nodes.core.interface.effects import MailFrom, RecipientTo
from nodes.core.interface.replies import Reply
from nodes.core.model.message import Envelope
from nodes.shell.verbs.shadow import format_offer


class Strangers:
    """Calls over the links from the workload, by the name of their target, until `end_ms`."""

    def __init__(
        self,
        world: World,
        strangers: Sequence[Stranger],
        links: Mapping[str, Link],
        record: StrangerRecord,
        end_ms: int,
    ) -> None:
        self.world, self.record = world, record
        self._links, self._end_us = links, end_ms * MS
        self._calls: dict[Call, None] = {}
        for stranger in strangers:
            world.at(stranger.at_ms * MS, self._call, stranger)

    def stop(self) -> None:
        """Calls that are still open end with the run."""
        for call in list(self._calls):
            call.end(End.STOPPED)

    def ended(self, call: "Call") -> None:
        del self._calls[call]

    def _call(self, stranger: Stranger) -> None:
        if self.world.now_us < self._end_us:
            call = Call(self, stranger)
            self._calls[call] = None
            call.begin(self._links[stranger.server])


class Call:
    """One session of one stranger. `said` is the last command."""

    __slots__ = ("_commands", "_connection", "_said", "_sent_bytes", "_steps", "_strangers", "who")

    def __init__(self, strangers: Strangers, who: Stranger) -> None:
        self._strangers, self.who = strangers, who
        self._commands = iter(who.commands)
        self._said = BANNER
        self._sent_bytes = self._steps = 0

    def begin(self, link: Link) -> None:
        self._connection = link.connect(self)
        self._wait()

    def end(self, end: End, reply: str | None = None) -> None:
        self._steps = -1
        self._connection.close(by_opener=True)
        self._strangers.record.end(self.who, end, reply, self._sent_bytes)
        self._strangers.ended(self)

    def received(self, said: Any) -> None:
        if self._steps < 0:
            return
        match said:
            case Banner():
                self._heard("220")
                self._say(EHLO, self._hello())
            case Greeting():
                self._heard(_offered(said))
                self._go_on()
            case Answer(reply):
                self._heard(_one_line(reply))
                self._go_on()
            case Announced(None, _):
                self._heard("354")
                self._begin_message()
            case Announced(Reply() as refusal, _):
                self._heard(_one_line(refusal))
                self.end(End.REFUSED)
            case Final(reply) if self._said == FINAL_DOT and reply.code != SERVICE_CLOSING:
                self._heard(_one_line(reply))
                self.end(End.DONE)
            case Final(reply):
                self.end(End.REFUSED, _one_line(reply))

    def closed(self, _reason: str) -> None:
        if self._steps >= 0:
            self.end(End.CLOSED)

    @property
    def _trickled(self) -> Trickle:
        assert self.who.trickle is not None
        return self.who.trickle

    @property
    def _envelope(self) -> Envelope:
        return Envelope(self._trickled.sender, (self._trickled.recipient,))

    def _begin_message(self) -> None:
        if self._trickled.every_ms:
            self._trickle(self._trickled.for_ms)
        else:
            content = content_said_by(self.who)
            self._say(FINAL_DOT, Content(self._envelope, content), len(content))

    def _hello(self) -> Hello | ForeignHello:
        is_foreign = self.who.kind == "foreign-certificate"
        return ForeignHello() if is_foreign else Hello(self.who.certificate)

    def _heard(self, reply: str) -> None:
        self._strangers.record.reply(self.who, self._said, reply)

    def _go_on(self) -> None:
        command = next(self._commands, None)
        if command is not None:
            self._say(command, _step_of(command))
        elif self.who.trickle is not None:
            self._say(DATA, Announcement(False, None, self._envelope))
        else:
            self.end(End.DONE)

    def _trickle(self, left_ms: int) -> None:
        """A byte now, the next one later; nobody answers to any of them."""
        if self._steps < 0:
            return
        if left_ms <= 0:
            self.end(End.GAVE_UP)
            return
        self._steps += 1  # what was waited for is there
        self._sent_bytes += 1
        self._connection.say(PartOfContent(), forward=True, size_bytes=1)
        every_ms = self._trickled.every_ms
        self._strangers.world.after(every_ms * MS, self._trickle, left_ms - every_ms)

    def _say(self, named: str, said: Any, size_bytes: int = 100) -> None:
        self._said = named
        self._connection.say(said, forward=True, size_bytes=size_bytes)
        self._wait()

    def _wait(self) -> None:
        self._steps += 1
        self._strangers.world.after(STEP_LAB_MS * MS, self._timed_out, self._steps)

    def _timed_out(self, step: int) -> None:
        if step == self._steps:
            self.end(End.TIMED_OUT)


def _offered(greeting: Greeting) -> str:
    """The answer to EHLO, of which a step of the simulator has the verbs alone."""
    return f"250 {format_offer(greeting.database_id)}" if greeting.offers_shadow else "250"


def _step_of(command: str) -> Command | Passed | NoCommand:
    """A verb of the organisation, MAIL or RCPT, or neither."""
    for verb, kind in ((MAIL, MailFrom), (RCPT, RecipientTo)):
        if command.startswith(verb):
            return Passed(kind(command[len(verb) :].strip("<>")))
    return Command(command) if command.startswith("X") else NoCommand()


def _one_line(reply: Reply) -> str:
    return " ".join((str(reply.code), *reply.lines))
