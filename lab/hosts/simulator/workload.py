"""The workload in virtual time: what `lab.workload.program` does, message by message, over
simulated connections.

A message refused, unanswered or in doubt goes to the next server of its `via` at once, and again
every `retry_ms`, with the same Message-Id and Date, until it is acknowledged or the plan is over.
"""

from collections.abc import Mapping
from typing import Any

from lab.clock import LabClock
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.smtp.steps import (
    Announced,
    Announcement,
    Banner,
    Content,
    Final,
    Greeting,
    Hello,
)
from lab.plan.parts import INTERNAL, Message
from lab.workload.content import content_of
from lab.workload.ledger import Ledger, LedgerMessage, Outcome
from lab.workload.program import FINAL_LAB_MS, STEP_LAB_MS
from nodes.core.interface.replies import Reply
from nodes.core.model.message import Envelope
from nodes.core.model.outbox import IntoOutbox
from nodes.shell.smtp.headers import hops_of
from nodes.store.message_digest import digest_of


class Workload:
    """Sends `messages` over the links from the workload, by the name of their target. `databases`:
    of each mailbox, since internal mail goes into the Outbox of its sender's.
    """

    def __init__(
        self,
        world: World,
        clock: LabClock,
        messages: tuple[Message, ...],
        links: Mapping[str, Link],
        ledger: Ledger,
        end_ms: int,
        databases: Mapping[str, str],
    ) -> None:
        self.world, self.links, self.ledger = world, links, ledger
        self._databases = databases
        self._clock, self._end_us = clock, end_ms * MS
        self.acknowledged = 0
        self._attempts: dict[Attempt, None] = {}
        self._is_stopped = False
        for message in sorted(messages, key=lambda each: (each.at_ms, each.message_id)):
            world.at(message.at_ms * MS, self._submit, message)

    @property
    def is_over(self) -> bool:
        return self._is_stopped or self.world.now_us >= self._end_us

    def stop(self) -> None:
        """Whatever is under way ends, and its outcome is in the ledger."""
        self._is_stopped = True
        for attempt in list(self._attempts):
            attempt.interrupt()

    def _submit(self, message: Message) -> None:
        if self.is_over:
            return
        content = content_of(
            message.message_id,
            message.sender,
            message.recipients,
            self._clock.header_date(message.at_ms),
            message.size_bytes,
        )
        self.ledger.message(
            LedgerMessage(
                message.message_id,
                message.mail,
                self._clock.header_date_iso(message.at_ms),
                message.sender,
                message.recipients,
                message.size_bytes,
                hops_of(content),
                digest_of(content),
            )
        )
        outbox = None
        if message.mail == INTERNAL:
            outbox = IntoOutbox(self._databases[message.sender])
        self.try_next(Mail(self, message, content, outbox))

    def try_next(self, mail: "Mail") -> None:
        """The next server of `via`, or after the last of them a wait."""
        if self.is_over:
            return
        attempt = Attempt(mail, mail.next_server())
        self._attempts[attempt] = None
        self.ledger.attempt(mail.message.message_id, attempt.number, attempt.server)
        attempt.begin(self.links[attempt.server])

    def ended(self, attempt: "Attempt", outcome: Outcome, reply: str | None, reason: str) -> None:
        mail = attempt.mail
        del self._attempts[attempt]
        self.ledger.outcome(
            mail.message.message_id, attempt.number, attempt.server, outcome, reply, reason
        )
        if outcome is Outcome.OK:
            self.acknowledged += 1
        elif mail.has_tried_all:
            self.world.after(mail.message.retry_ms * MS, self.try_next, mail)
        else:
            self.try_next(mail)


class Mail:
    """A message that is not acknowledged yet, and how often it was tried."""

    __slots__ = ("attempts", "content", "message", "outbox", "workload")

    def __init__(
        self, workload: Workload, message: Message, content: bytes, outbox: IntoOutbox | None
    ) -> None:
        self.workload, self.message, self.content = workload, message, content
        self.outbox = outbox
        self.attempts = 0

    def next_server(self) -> str:
        self.attempts += 1
        return self.message.via[(self.attempts - 1) % len(self.message.via)]

    @property
    def has_tried_all(self) -> bool:
        return self.attempts % len(self.message.via) == 0


class Attempt:
    """One try at one server; `stage` is what is waited for."""

    __slots__ = ("_connection", "_is_past_dot", "_stage", "_steps", "mail", "number", "server")

    def __init__(self, mail: Mail, server: str) -> None:
        self.mail, self.server, self.number = mail, server, mail.attempts
        self._stage = "connect"
        self._steps = 0
        self._is_past_dot = False

    def begin(self, link: Link) -> None:
        self._connection = link.connect(self)
        self._wait(STEP_LAB_MS)

    def interrupt(self) -> None:
        self._end(None, f"{self._stage}: the workload was stopped")

    def received(self, said: Any) -> None:
        if not self._is_under_way:
            return
        envelope = Envelope(self.mail.message.sender, self.mail.message.recipients)
        if isinstance(said, Banner):
            self._say("EHLO", Hello(None))
        elif isinstance(said, Greeting):
            self._say("RCPT", Announcement(False, self.mail.outbox, envelope))
        elif isinstance(said, Announced):
            self._announced(said, envelope)
        elif isinstance(said, Final):
            self._final(said.reply)

    def closed(self, reason: str) -> None:
        if self._is_under_way:
            self._end(None, f"{self._stage}: {reason}")

    def _announced(self, said: Announced, envelope: Envelope) -> None:
        """It promises the message to all recipients or to none."""
        if said.refused:
            address, code, text = said.refused[0]
            self._end(f"{code} {text}", f"refused at RCPT {address}")
        elif said.early is not None:
            self._end(_one_line(said.early), "refused at MAIL")
        else:
            content = self.mail.content
            self._is_past_dot = True
            patience_ms = STEP_LAB_MS + FINAL_LAB_MS
            self._say("final dot", Content(envelope, content), len(content), patience_ms)

    def _final(self, reply: Reply) -> None:
        """The reply to the dot; a 421 may come at any time."""
        if not self._is_past_dot:
            self._end(_one_line(reply), f"refused at {self._stage}")
            return
        accepted = 200 <= reply.code < 300
        outcome = Outcome.OK if accepted else Outcome.FAILED
        reason = "accepted" if accepted else "refused at final dot"
        self._finish(outcome, _one_line(reply), reason)

    @property
    def _is_under_way(self) -> bool:
        return self._steps >= 0

    def _say(
        self, stage: str, said: Any, size_bytes: int = 100, patience_ms: int = STEP_LAB_MS
    ) -> None:
        self._stage = stage
        self._connection.say(said, forward=True, size_bytes=size_bytes)
        self._wait(patience_ms)

    def _wait(self, patience_ms: int) -> None:
        self._steps += 1
        self.mail.workload.world.after(patience_ms * MS, self._timed_out, self._steps)

    def _timed_out(self, step: int) -> None:
        if step == self._steps:
            self._end(None, f"{self._stage}: timed out")

    def _end(self, reply: str | None, reason: str) -> None:
        outcome = Outcome.UNKNOWN if self._is_past_dot else Outcome.FAILED
        self._finish(outcome, reply, reason)

    def _finish(self, outcome: Outcome, reply: str | None, reason: str) -> None:
        self._steps = -1
        self._connection.close(by_opener=True)
        self.mail.workload.ended(self, outcome, reply, reason)


def _one_line(reply: Reply) -> str:
    return " ".join((str(reply.code), *reply.lines))
