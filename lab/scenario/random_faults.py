"""`random:` as a person writes it: which faults may be drawn, how many, how long, and when.

The shape of the entry only. What is drawn is in `lab.planning.random_schedule`, whether it can be
in `lab.validation.random_schedule`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pydantic import Field, model_validator

from lab.plan.effects import Direction
from lab.plan.faults import (
    DIRECTED_KINDS,
    LINK_KINDS,
    MACHINE_KINDS,
    NEW_SERVER,
    SERVER_KINDS,
)
from lab.plan.link_faults import CutKind
from lab.scenario.quantities import (
    DurationRangeText,
    FixedSeed,
    MomentsText,
    Range,
    RangeText,
    as_range_text,
)
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError
from nodes.core.config.units import MINUTE_MS

COUNT_MAX = 200
WAYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("cut", "split"), get_args(CutKind)),
    **dict.fromkeys(DIRECTED_KINDS, get_args(Direction)),
}
"""What a word leaves open, and is drawn as well: `cut` stands for `cut-stall` and its like."""
DRAWABLE = (
    "split",
    *LINK_KINDS,
    *(f"{kind}-{way}" for kind in ("cut", *DIRECTED_KINDS) for way in WAYS[kind]),
    *SERVER_KINDS,
    NEW_SERVER,
    *MACHINE_KINDS,
)
if TYPE_CHECKING:
    RandomKind: TypeAlias = str
else:
    RandomKind = Literal[DRAWABLE]
AtMost: TypeAlias = Literal["one-server-at-a-time", "one-site-at-a-time", "none"]


class RandomModel(Strict):
    """A schedule of faults that is drawn from a seed."""

    during: MomentsText = Field(description="from when to when: each fault starts and ends within")
    faults: list[RandomKind] = Field(
        min_length=1,
        description="what may be drawn; `cut` stands for its five kinds, `slow` for its three"
        " directions, as `slow-replies`, `split` for a site that is cut off from the others, and"
        " `new-server` for a kill after which a new one comes",
    )
    count: RangeText = Field(default=Range(1, 4), description="how many faults")
    for_ms: DurationRangeText = Field(
        default=Range(MINUTE_MS, 20 * MINUTE_MS), alias="for", description="how long each lasts"
    )
    at_most: AtMost = Field(
        default="one-server-at-a-time", description="on how much faults may act at any moment"
    )
    seed: FixedSeed = Field(
        default=None, description="from-run, or a number that gives the same schedule in every run"
    )

    @model_validator(mode="after")
    def _can_be_drawn(self) -> "RandomModel":
        if self.count.high > COUNT_MAX:
            raise ConfigurationError(
                f"count goes up to {self.count.high}, and {COUNT_MAX} is the most", "ask for fewer"
            )
        if "split" in self.faults and self.at_most == "one-server-at-a-time":
            raise ConfigurationError(
                "split concerns a whole site, and at_most is one-server-at-a-time",
                "write at_most: one-site-at-a-time",
            )
        if NEW_SERVER in self.faults and self.at_most == "none":
            raise ConfigurationError(
                "new-server may take all copies of a database, and at_most is none",
                "write at_most: one-server-at-a-time",
            )
        if self.for_ms.low > self.during.high - self.during.low:
            raise ConfigurationError(
                f"a fault of {as_range_text(self.for_ms)} does not fit into "
                f"{as_range_text(self.during)}",
                "make during longer, or for shorter",
            )
        return self


def may_lose_database(random: RandomModel) -> bool:
    """Whether a queue database can be lost by what may be drawn."""
    return bool({"kill", "corrupt", NEW_SERVER} & set(random.faults))
