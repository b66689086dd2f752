"""A scenario as a person writes it: one experiment, in the words of Exchange and of the lab.

The models hold the shape of the file only; faults have theirs in `lab.scenario.faults`. Whether
names exist is asked in `lab.validation.scenario_names`, whether faults can hold together in
`lab.validation.timeline`; keys that this version does not build are listed in
`lab.validation.not_built`. Times are milliseconds of lab time once read.
"""

from typing import Any

from pydantic import Field, model_validator

from lab.plan.parts import Cause, MailKind, SafetyNet, Verdict
from lab.scenario.faults import FaultModel
from lab.scenario.operations import OperationModel
from lab.scenario.patterns import Slug
from lab.scenario.quantities import (
    Duration,
    Instant,
    Names,
    Range,
    RangeText,
    Rate,
    RateText,
    Sentence,
    Size,
    Version,
)
from lab.scenario.settings import SettingsModel
from lab.scenario.strangers import StrangersModel
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError
from nodes.core.config.units import MINUTE_MS

OF_MAILBOXES = ("outbound", "internal")
"""The mail that mailboxes send."""
LOST_MAX = 999_999


class ClockModel(Strict):
    """The lab clock."""

    speed: float = Field(
        default=60.0, ge=0.1, le=3600, description="lab seconds per second of wall clock"
    )


class RecipientsModel(Strict):
    """To whom: mailboxes, whole databases, groups, external domains, or a mix."""

    database: Names = Field(default_factory=list, description="mailboxes of these databases")
    mailbox: Names = Field(default_factory=list, description="these mailboxes")
    group: Names = Field(default_factory=list, description="these distribution groups")
    domain: Names = Field(default_factory=list, description="users of these external domains")


class SendersModel(Strict):
    """From whom: mailboxes or whole databases."""

    database: Names = Field(default_factory=list, description="mailboxes of these databases")
    mailbox: Names = Field(default_factory=list, description="these mailboxes")


class MailModel(Strict):
    """A stream of messages at an even rate, each at its own moment drawn from the seed."""

    mail: MailKind = Field(
        description="inbound: from outside to mailboxes; outbound: from mailboxes to outside; "
        "relay: from outside to outside, or to both; internal: from the Outbox of a mailbox to "
        "mailboxes, or to both"
    )
    at: Instant = Field(description="when the first message may be sent")
    for_ms: Duration = Field(alias="for", description="how long messages are sent")
    rate: RateText = Field(description="how many per second, minute or hour")
    via: Names = Field(
        default_factory=list,
        description="the servers a sender tries in turn; by default every mailbox server, of "
        "internal mail those with copies of its sender's database",
    )
    source: SendersModel | None = Field(
        default=None, alias="from", description="who sends outbound or internal mail"
    )
    to: RecipientsModel | None = Field(default=None, description="who receives")
    recipients: RangeText = Field(
        default=Range(1, 1), description="how many recipients a message has"
    )
    size: Size = Field(default=4096, description="the size of a message")
    retry: Duration = Field(default=MINUTE_MS, description="how long a refused sender waits")

    @model_validator(mode="after")
    def _sends_something(self) -> "MailModel":
        if messages_of(self.rate, self.for_ms) == 0:
            raise ConfigurationError(
                "sends no message: rate x for is less than one", "send more often or for longer"
            )
        if self.mail not in OF_MAILBOXES and self.source is not None:
            raise ConfigurationError(
                f"{self.mail} mail comes from outside and takes no from", "remove from:"
            )
        if self.mail == "internal" and self.via:
            raise ConfigurationError(
                "internal mail is submitted where its sender's mailbox is, and takes no via",
                "remove via:, or choose the senders by from:",
            )
        if self.recipients.low == 0:
            raise ConfigurationError("a message needs a recipient", "begin recipients with 1")
        return self


def messages_of(rate: Rate, for_ms: int) -> int:
    """How many messages a stream has: the rate times its length, rounded down."""
    return rate.count * for_ms // rate.per_ms


class PromotionModel(Strict):
    """Promotions that the file expects."""

    of: str = Field(description="the primary server whose messages are promoted")
    cause: Cause = Field(description="why")
    after: Instant = Field(description="not before this moment of lab time")
    within: Duration = Field(description="and at most so much later")


class ResubmissionModel(Strict):
    """Resubmissions that the file expects."""

    database: str = Field(description="the mailbox database that mail is resubmitted into")
    source: SafetyNet = Field(alias="from", description="which Safety Net it comes from")


class ExpectModel(Strict):
    """What is expected; the claims are checked whatever stands here."""

    lost: int | None = Field(
        default=None, ge=0, le=LOST_MAX, description="messages lost, no more and no fewer"
    )
    unprotected_loss: RangeText | None = Field(
        default=None, description="messages that may be lost with an excuse; none if not said"
    )
    promotions: list[PromotionModel] | None = Field(
        default=None, description="promotions; [] for none"
    )
    resubmissions: list[ResubmissionModel] | None = Field(
        default=None, description="resubmissions from Safety Net; [] for none"
    )
    verdict: Verdict = Field(default="pass", description="the verdict that the run should reach")

    @model_validator(mode="after")
    def _can_come_to_pass(self) -> "ExpectModel":
        if self.lost and self.verdict != "fail":
            raise ConfigurationError(
                f"expects {self.lost} lost messages, with which no run ends as {self.verdict}",
                "write verdict: fail; what is lost with an excuse is unprotected_loss",
            )
        return self


class ScenarioModel(Strict):
    """A scenario file: one experiment."""

    version: Version = Field(description="the version of this grammar")
    scenario: Slug = Field(description="its name, the file's stem")
    summary: Sentence = Field(
        min_length=1, max_length=300, description="what is asked, in a sentence"
    )
    proves: list[str] = Field(default_factory=list, description="the requirements that it proves")
    tags: list[Slug] = Field(default_factory=list, description="words to choose scenarios by")
    topology: Any = Field(description="a topology's name, or a topology")
    settings: SettingsModel = Field(  # type: ignore[valid-type]  # made at run time
        default_factory=SettingsModel, description="Exchange's parameters"
    )
    clock: ClockModel = Field(default_factory=ClockModel, description="the lab clock")
    workload: list[MailModel] = Field(min_length=1, description="the mail that is sent")
    strangers: list[StrangersModel] = Field(
        default_factory=list, description="clients that ask for what they have no right to"
    )
    faults: list[FaultModel] = Field(default_factory=list, description="what goes wrong")
    operations: list[OperationModel] = Field(
        default_factory=list, description="what an administrator does"
    )
    settle: Duration = Field(
        default=10 * MINUTE_MS,
        description="how long the run goes on after the last mail, stranger, heal and operation",
    )
    expect: ExpectModel = Field(default_factory=ExpectModel, description="what is expected")
