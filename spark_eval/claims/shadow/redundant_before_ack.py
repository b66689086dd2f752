"""redundant_before_ack: the 250 to the sender follows the shadow server's (SR-1), or SR-5 holds.

An order of events on one monotonic clock: the primary's HAREDIRECT and RECEIVE and the shadow
server's HARECEIVE, all before the sender has its 250. The sender is the workload, or a server of
another boundary, from which a message comes as from outside (SR-10), or one whose messages an
administrator had redirected; else inside the boundary it goes to its mailbox in one hop (SR-12).
Each acceptance is its own case, by server and internal id. An
acceptance without a shadow is permitted only where messages are not to be rejected for it; a
rejection must say so in SR-5's words and keep nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked, fits
from spark_eval.cases.forms import precedence
from spark_eval.cases.words import hole_of
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import Hop, hops, takings
from spark_eval.expected.mail.rejection import REJECTION, Rejected, is_rejection, rejected
from spark_eval.expected.shadow.acceptances import Acceptance, acceptances, is_traced
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import COMMON_CLOCK, LEDGER, TRACKING
from spark_eval.read.rows import TrackingRow

_HAD_IT = "the sender had its 250"
_NOT_TO = "RejectMessageOnShadowFailure is false"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        if run.config.enabled:
            for acceptance in acceptances(each, run):
                yield from _case(each, acceptance, run)
            yield from _rejections(each, run)
        for hop in hops(each, run):
            if not hop.left:
                yield from _one_hop(each, hop, run)


def _case(message: Message, acceptance: Acceptance, run: Run) -> Iterator[Case]:
    primary, held = acceptance.primary, acceptance.held
    status, detail = _judged(message, acceptance, run)
    is_alone = acceptance.made is None and acceptance.failed is not None
    late_ns = 0
    if held is not None and None not in (held.mono_ns, acceptance.mono_ns):
        late_ns = (held.mono_ns or 0) - (acceptance.mono_ns or 0)
    yield from asked(
        status, message.message_id, _requirements(message, acceptance, is_alone=is_alone), detail,
        acceptance.at_ms, acceptance, primary.born if primary else None, acceptance.made,
        held or acceptance.failed, weight=late_ns / 1e6, server=acceptance.server,
    )  # fmt: skip


def _requirements(message: Message, acceptance: Acceptance, *, is_alone: bool) -> tuple[str, ...]:
    relayed = ("SR-16",) if message.is_relayed else ()
    return ("SR-5" if is_alone else "SR-1", *acceptance.asks, *relayed)


def _judged(message: Message, acceptance: Acceptance, run: Run) -> Judged:
    server, primary, made = acceptance.server, acceptance.primary, acceptance.made
    if made is None and acceptance.failed is not None:
        alone = f"{server} accepted it unprotected; RejectMessageOnShadowFailure is true"
        return fits(alone if run.config.reject else "")
    if primary is None or made is None:
        if not _shows(server, acceptance.at_ms, run):
            return UNKNOWN, hole_of(server)
        if primary is None:
            return VIOLATED, f"acknowledged by {server}, which logged no RECEIVE of it"
        return VIOLATED, f"{server} logged neither HAREDIRECT nor HAREDIRECTFAIL for it"
    ack_ns, made_ns = acceptance.mono_ns, made.mono_ns
    if ack_ns is None or made_ns is None:
        return UNKNOWN, "no monotonic time stands beside these events"
    born_ns = ack_ns if primary.born is None else primary.born.mono_ns or ack_ns
    if precedence(made_ns, ack_ns) == VIOLATED:
        return VIOLATED, f"{server} logged HAREDIRECT after {_HAD_IT}"
    if precedence(born_ns, ack_ns) == VIOLATED:
        return VIOLATED, f"{server} logged RECEIVE after {_HAD_IT}"
    if precedence(made_ns, born_ns) == VIOLATED:
        return VIOLATED, f"{server} logged RECEIVE before its HAREDIRECT"
    return _held_before(message, acceptance, made, ack_ns, run)


def _shows(server: str, at_ms: int | None, run: Run) -> bool:
    known = run.servers.get(server)
    return known is None or at_ms is None or known.shows(at_ms, at_ms)


def _held_before(
    message: Message, acceptance: Acceptance, made: TrackingRow, ack_ns: int, run: Run
) -> Judged:
    holder, held, shadow = made.shadow_server or "?", acceptance.held, acceptance.shadow
    held_ns = (held.mono_ns or ack_ns) if held is not None else None
    is_shown = _shows(holder, acceptance.at_ms, run)
    status = precedence(held_ns, ack_ns, is_shown=is_shown)
    if held_ns is not None:
        after_ms = round((held_ns - ack_ns) / 1e6, 3)
        return status, f"{holder} logged HARECEIVE {after_ms} ms after {_HAD_IT}"
    if status == UNKNOWN and shadow is not None and is_traced(message, shadow, run):
        return FITS
    named = f"{acceptance.server} named {holder}, which logged no HARECEIVE of it"
    return status, named if is_shown else hole_of(holder)


def _rejections(message: Message, run: Run) -> Iterator[Case]:
    found = list(rejected(message, run))
    for each in found:
        status, detail = fits(_wrong(each, run))
        yield from asked(
            status, message.message_id, ("SR-5",), detail, each.attempt.ended_ms, each.attempt,
            each.row, each.kept, server=_tracked(each.attempt.server, run),
        )  # fmt: skip
    if not run.config.reject:
        # no attempt had them for an answer: its sender was lost before (SR-6)
        answered = {each.row for each in found}
        for row in message.tracking:
            if is_rejection(row) and row.ref not in answered:
                yield from asked(
                    VIOLATED, message.message_id, ("SR-5", "SR-6"),
                    f"{row.server} rejected it; {_NOT_TO}", row.at_ms, row, server=row.server,
                )  # fmt: skip


def _tracked(server: str, run: Run) -> str | None:
    """Whose tracking log it rests on: behind a front end that of any server there."""
    return None if run.is_front_end(server) else server


def _wrong(rejected: Rejected, run: Run) -> str:
    """What does not fit, or the empty text."""
    server, reply = rejected.attempt.server, rejected.attempt.reply or ""
    if not run.config.reject:
        return f"{server} rejected it; {_NOT_TO}"
    if rejected.kept is not None:
        return f"{server} rejected it and kept it"
    return (
        "" if reply.startswith(REJECTION) else f"rejected with {reply or '?'}; due is {REJECTION}"
    )


def _one_hop(message: Message, hop: Hop, run: Run) -> Iterator[Case]:
    """Every message that a server of the boundary took from another one there: into mailboxes, and
    not to be sent on. A row of the peer that a hole hides leaves it open.
    """
    taken = takings(message, hop, run)
    if taken:
        is_anew = any(row.event == "RECEIVE" for row in taken)
        anew = f"sent it to {hop.peer} in its own boundary, which received it anew"
        status, detail = fits(f"{hop.row.server} {anew}" if is_anew else "")
        first = min(row.ref for row in taken)
        yield from asked(
            status, message.message_id, ("SR-12",), detail, hop.row.at_ms, hop.row, first
        )


CLAIM = Claim(
    "redundant_before_ack",
    ("SR-1", "SR-5", "SR-6", "SR-10", "SR-12", "SR-16"),
    needs=frozenset({LEDGER, TRACKING, COMMON_CLOCK}),
    of_message=_cases,
)
