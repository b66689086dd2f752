"""Clients without the right to what they ask, as a person writes them: an entry of `strangers:`.

The shape only. Whether the servers exist is asked in `lab.validation.scenario_names`; who calls
which server when, and says what, is resolved in `lab.planning.strangers`.
"""

from typing import Annotated, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lab.plan.parts import StrangerKind
from lab.scenario.quantities import Duration, Instant, Names, RateText, as_list, one_or_more
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError


class StrangersModel(Strict):
    """A stream of strangers at an even rate, each at its own moment drawn from the seed."""

    who: Annotated[
        list[StrangerKind],
        BeforeValidator(as_list),
        WithJsonSchema(one_or_more(get_args(StrangerKind))),
    ] = Field(
        min_length=1,
        description="no-certificate: shows none; foreign-certificate: one that the authority did"
        " not sign; other-server: one of a server, and asks in the name of another;"
        " trickles: sends a byte now and then; bare-line-ends: sends a message with a CR or LF"
        " that stands alone; too-large, too-many-hops, too-many-local-hops: sends a message beyond"
        " MaxReceiveSize, MaxHopCount, MaxLocalHopCount; too-many-recipients: names some more than"
        " MaxRecipientsPerMessage; unknown-recipients: names some whom nobody knows; no-commands:"
        " says some lines more than MaxProtocolErrors that are no commands; several take turns",
    )
    at: Instant = Field(description="when the first one may call")
    for_ms: Duration = Field(alias="for", description="how long they call")
    rate: RateText = Field(description="how many per second, minute or hour")
    to: Names = Field(
        default_factory=list,
        description="the servers that they call in turn; by default every mailbox server",
    )

    @model_validator(mode="after")
    def _calls_somebody(self) -> "StrangersModel":
        if self.count == 0:
            raise ConfigurationError(
                "nobody calls: rate x for is less than one", "call more often or for longer"
            )
        return self

    @property
    def count(self) -> int:
        """How many call: the rate times its length, rounded down."""
        return self.rate.count * self.for_ms // self.rate.per_ms
