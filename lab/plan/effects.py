"""What a fault does to a link, in Toxiproxy's terms, and in lab time.

A proxy that is not enabled refuses and ends every session. A toxic acts on one direction:
`upstream` is what the opener of a session says. Its attributes have Toxiproxy's names: `latency`
and `jitter` are milliseconds, `rate` bytes per second (0: nothing passes while it is there),
`bytes` bytes of each session, `timeout` 0 (nothing passes, and what was sent is lost).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ToxicType = Literal["timeout", "bandwidth", "latency", "reset_peer", "limit_data"]
Stream = Literal["upstream", "downstream"]
UP: Stream = "upstream"
DOWN: Stream = "downstream"


@dataclass(frozen=True, slots=True)
class Toxic:
    """A toxic on one direction of a link."""

    type: ToxicType
    stream: Stream
    attributes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Effect:
    """How a link is made to act a fault."""

    toxics: tuple[Toxic, ...] = ()
    enabled: bool = True


def both_ways(kind: ToxicType, **attributes: int) -> Effect:
    """The same toxic in each direction."""
    return Effect((Toxic(kind, UP, attributes), Toxic(kind, DOWN, attributes)))


def one_way(kind: ToxicType, stream: Stream, **attributes: int) -> Effect:
    return Effect((Toxic(kind, stream, attributes),))
