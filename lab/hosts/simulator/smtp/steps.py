"""What is said over a simulated SMTP session: the steps of a real one that a decision hangs on.

MAIL, every RCPT and DATA go as one step, since no server of the lab decides anything between them
that a later one could change; those of a front end are steps of their own, as they come. The final
dot is a step of its own, and so is its reply.
"""

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.interface.effects import PassedCommand, Prologue
from nodes.core.interface.replies import Reply
from nodes.core.model.message import Envelope
from nodes.core.model.outbox import IntoOutbox
from nodes.core.model.resubmit_request import ResubmitDemand

Refused: TypeAlias = tuple[tuple[str, int, str], ...]


@dataclass(frozen=True, slots=True)
class Banner:
    """220."""


@dataclass(frozen=True, slots=True)
class Hello:
    """EHLO, STARTTLS, EHLO. `peer` is the server that the certificate names; None outside."""

    peer: str | None


@dataclass(frozen=True, slots=True)
class ForeignHello:
    """EHLO, STARTTLS, and a certificate that the authority of the run did not sign."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The last answer to EHLO."""

    offers_shadow: bool
    database_id: str = ""


@dataclass(frozen=True, slots=True)
class Announcement:
    """RSET where one is due, the verb that says what the message will be, MAIL, RCPTs, DATA."""

    resets: bool
    prologue: Prologue | IntoOutbox | None
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Announced:
    """354, or the refusal that makes DATA pointless; recipients refused with code and text."""

    early: Reply | None
    refused: Refused


@dataclass(frozen=True, slots=True)
class Passed:
    """MAIL or RCPT of who says them one by one, as a front end does. Answered by `Answer`."""

    command: PassedCommand


@dataclass(frozen=True, slots=True)
class Content:
    """The message up to its final dot, for the recipients that were taken."""

    envelope: Envelope
    content: bytes


@dataclass(frozen=True, slots=True)
class Final:
    """The reply to the final dot, or a 421 before the end."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Question:
    """XQDISCARD."""

    asking: str
    known_database_id: str
    confirmed_sequence: int


@dataclass(frozen=True, slots=True)
class Demand:
    """XRESUBMIT ADD."""

    demand: ResubmitDemand


@dataclass(frozen=True, slots=True)
class Order:
    """XCOPYSTATUS, XMOUNT, XDISMOUNT or XACTIVE."""

    command: CopyCommand


@dataclass(frozen=True, slots=True)
class Command:
    """A verb of the organisation in one line of text, from whomever: an operation, too."""

    line: str


@dataclass(frozen=True, slots=True)
class NoCommand:
    """A line that is no command of anybody's. Answered by `Answer`."""


@dataclass(frozen=True, slots=True)
class PartOfContent:
    """A byte of a message whose final dot is still to come."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to what is said alone: a question, a demand, an order, a command, MAIL or RCPT."""

    reply: Reply
