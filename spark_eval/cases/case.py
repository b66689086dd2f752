"""One thing that a claim asked about: it holds, is violated or is unknown, with what shows it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from spark_eval.read.names import Ref

Status = Literal["holds", "violated", "unknown"]
HOLDS: Final = "holds"
VIOLATED: Final = "violated"
UNKNOWN: Final = "unknown"


class Case(NamedTuple):
    """`detail` says what happened, in a sentence; `weight` ranks the worst; `expected` where the
    case is what `expect` says. `server`: whose record the case rests on; where it names none, on
    that of every mailbox server.
    """

    status: Status
    subject: str
    requirements: tuple[str, ...] = ()
    detail: str = ""
    at_ms: int | None = None
    refs: tuple[Ref, ...] = ()
    weight: float = 0.0
    expected: bool = False
    server: str | None = None


def refs(*given: Ref | None) -> tuple[Ref, ...]:
    """Those that there are."""
    return tuple(each for each in given if each is not None)
