"""One thing that a claim asked about: it holds, is violated or is unknown, with what shows it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, Protocol

from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

Status = Literal["holds", "violated", "unknown"]
HOLDS: Final = "holds"
VIOLATED: Final = "violated"
UNKNOWN: Final = "unknown"

Judged = tuple[Status | None, str]
"""A status, None where nothing is asked, and a sentence."""
NOT_ASKED: Judged = (None, "")
FITS: Judged = (HOLDS, "")


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


class Row(Protocol):
    """Anything that a line of the record says, where it is known which."""

    @property
    def ref(self) -> Ref | None: ...


Shown = Ref | Row | None


def refs(*given: Shown) -> tuple[Ref, ...]:
    """Lines of those that there are."""
    found = [each if isinstance(each, Ref) else each.ref for each in given if each is not None]
    return tuple([each for each in found if each is not None])


def fits(wrong: str) -> Judged:
    """`wrong` is what does not fit, or the empty text."""
    return (VIOLATED, wrong) if wrong else FITS


def asked(
    status: Status | None,
    subject: str,
    requirements: tuple[str, ...],
    detail: str,
    at_ms: int | None,
    *shown: Shown,
    weight: float = 0.0,
    server: str | None = None,
) -> tuple[Case, ...]:
    """A case, or none where `status` is None: nothing is asked. `shown`: what shows it, of
    what there is. Of what holds nobody reads more than that.
    """
    if status is None:
        return ()
    if status == HOLDS:
        return (Case(HOLDS, subject, requirements, server=server),)
    lines = refs(*shown)
    return (Case(status, subject, requirements, detail, at_ms, lines, weight, server=server),)


def of_row(
    status: Status | None,
    row: TrackingRow,
    requirements: tuple[str, ...],
    detail: str,
    *shown: Shown,
    weight: float = 0.0,
) -> tuple[Case, ...]:
    """Of one row of a tracking log, which rests on the record of the server that wrote it."""
    return asked(
        status, f"{row.message_id} at {row.server}", requirements, detail, row.at_ms, row,
        *shown, weight=weight, server=row.server,
    )  # fmt: skip
