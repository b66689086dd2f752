"""What a fault does to a link, in Toxiproxy's terms, and in lab time.

A proxy that is not enabled refuses and ends every session. A toxic acts on one direction:
`upstream` is what the opener of a session says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

ToxicType = Literal[
    "timeout", "bandwidth", "latency", "reset_peer", "limit_data", "slicer", "slow_close"
]
Stream = Literal["upstream", "downstream"]
UP: Stream = "upstream"
DOWN: Stream = "downstream"
Direction = Literal["both", "requests", "replies"]
"""Of a link: what the opener of a session says are its requests, what is answered its replies."""
STREAMS: Mapping[Direction, tuple[Stream, ...]] = {
    "both": (UP, DOWN),
    "requests": (UP,),
    "replies": (DOWN,),
}


class Attributes(TypedDict, total=False):
    """By Toxiproxy's names: `latency` and `jitter` are lab ms, `rate` bytes per lab second (0:
    nothing passes while it is there), `bytes` bytes of each session, `timeout` lab ms from the
    first bytes, which are lost like all that follow, to the end (0: never by a `timeout`, at once
    by a `reset_peer`), `average_size` and `size_variation` bytes of a piece, `delay` lab ms after
    each piece, or of a `slow_close` until the other side hears of an end. The real proxy has them
    in the wall's time (`lab.hosts.containers.toxiproxy`).
    """

    latency: int
    jitter: int
    rate: int
    bytes: int
    timeout: int
    average_size: int
    size_variation: Literal[0]
    delay: int


@dataclass(frozen=True, slots=True)
class Toxic:
    """A toxic on one direction of a link."""

    type: ToxicType
    stream: Stream
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Effect:
    """How a link is made to act a fault."""

    toxics: tuple[Toxic, ...] = ()
    enabled: bool = True


def by_toxic(
    kind: ToxicType, direction: Direction = "both", **attributes: Unpack[Attributes]
) -> Effect:
    """The same toxic on each stream of that direction."""
    return Effect(tuple(Toxic(kind, stream, attributes) for stream in STREAMS[direction]))
