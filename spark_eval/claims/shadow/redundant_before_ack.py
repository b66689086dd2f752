"""redundant_before_ack: the 250 to the sender follows the shadow server's (SR-1), or SR-5 holds.

An order of events on one monotonic clock: the primary's HAREDIRECT and RECEIVE and the shadow
server's HARECEIVE, all before the sender has its 250. The sender is the workload, or a server of
another boundary, from which a message comes as from outside (SR-10); inside the boundary it goes to
its mailbox in one hop (SR-12). Each acceptance is its own case, by server and internal id. An
acceptance without a shadow is permitted only where messages are not to be rejected for it; a
rejection must say so in SR-5's words and keep nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.acknowledged import acknowledged_primary, primary_behind
from spark_eval.expected.mail.crossings import Hop, hops
from spark_eval.expected.mail.rejection import REJECTION, is_rejection
from spark_eval.expected.shadow.shadow_copies import NOT_KEPT, kept_copies
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.histories.shadow import Shadow, ShadowKey
from spark_eval.read.names import Ref
from spark_eval.read.plan import COMMON_CLOCK, LEDGER, TRACKING
from spark_eval.read.rows import TrackingRow

_STORED = ("DELIVER", "DUPLICATEDELIVER")
_HAD_IT = "the sender had its 250"


class _Acceptance(NamedTuple):
    """A 250: of which server, when its sender had it, and the primary message behind it; `crossed`,
    where the sender is a server of another boundary.
    """

    server: str
    at_ms: int | None
    mono_ns: int | None
    ref: Ref
    primary: Primary | None
    crossed: bool


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        if run.config.enabled:
            for acceptance in _acceptances(each, run):
                yield _case(each, acceptance, run)
            yield from _rejections(each, run)
        yield from _one_hop(each, run)


def _acceptances(message: Message, run: Run) -> Iterator[_Acceptance]:
    ok = message.ok
    if ok is not None:
        primary = acknowledged_primary(message)
        yield _Acceptance(ok.server, ok.ended_ms, ok.ended_mono_ns, ok.ref, primary, crossed=False)
    for hop in hops(message, run):
        if hop.crossed:
            primary = primary_behind(message, hop.peer, hop.peer_internal_id)
            row = hop.row
            yield _Acceptance(hop.peer, row.at_ms, row.mono_ns, row.ref, primary, crossed=True)


def _case(message: Message, acceptance: _Acceptance, run: Run) -> Case:
    primary, shadow = acceptance.primary, _shadow(message, acceptance.primary)
    status, detail = _judged(message, acceptance, shadow, run)
    rows = (primary.born, primary.redirect) if primary else ()
    last = (shadow.held if shadow else None) or (primary.failure if primary else None)
    is_alone = primary is not None and primary.redirect is None and primary.failure is not None
    held_ns = shadow.held.mono_ns if shadow and shadow.held else None
    late_ns = (
        held_ns - acceptance.mono_ns
        if held_ns is not None and acceptance.mono_ns is not None
        else 0
    )
    return Case(
        status,
        message.message_id,
        ("SR-5" if is_alone else "SR-1", *(("SR-10",) if acceptance.crossed else ())),
        detail,
        acceptance.at_ms,
        refs(acceptance.ref, *(row.ref if row else None for row in (*rows, last))),
        weight=late_ns / 1e6,
        server=acceptance.server,
    )


def _shadow(message: Message, primary: Primary | None) -> Shadow | None:
    if primary is None or primary.redirect is None or primary.redirect.shadow_server is None:
        return None
    return message.shadows.get(ShadowKey(primary.redirect.shadow_server, primary.key))


def _judged(
    message: Message, acceptance: _Acceptance, shadow: Shadow | None, run: Run
) -> tuple[Status, str]:
    server, primary = acceptance.server, acceptance.primary
    a_hole: tuple[Status, str] = (UNKNOWN, f"the tracking log of {server} has a hole there")
    is_blind = not _shows(server, acceptance.at_ms, run)
    if primary is None:
        if is_blind:
            return a_hole
        return VIOLATED, f"acknowledged by {server}, which logged no RECEIVE of it"
    if primary.redirect is None and primary.failure is not None:
        if run.config.reject:
            return VIOLATED, (
                f"{server} accepted it unprotected; RejectMessageOnShadowFailure is true"
            )
        return HOLDS, ""
    if primary.redirect is None:
        if is_blind:
            return a_hole
        return VIOLATED, f"{server} logged neither HAREDIRECT nor HAREDIRECTFAIL for it"
    ack_ns, made_ns = acceptance.mono_ns, primary.redirect.mono_ns
    if ack_ns is None or made_ns is None:
        return UNKNOWN, "no monotonic time stands beside these events"
    born_ns = primary.born.mono_ns if primary.born else None
    if made_ns > ack_ns:
        return VIOLATED, f"{server} logged HAREDIRECT after {_HAD_IT}"
    if born_ns is not None and born_ns > ack_ns:
        return VIOLATED, f"{server} logged RECEIVE after {_HAD_IT}"
    if born_ns is not None and made_ns > born_ns:
        return VIOLATED, f"{server} logged RECEIVE before its HAREDIRECT"
    return _held_before(message, acceptance, primary.redirect, shadow, ack_ns, run)


def _shows(server: str, at_ms: int | None, run: Run) -> bool:
    known = run.servers.get(server)
    return known is None or at_ms is None or known.shows(at_ms, at_ms)


def _held_before(
    message: Message, acceptance: _Acceptance, made: TrackingRow, shadow: Shadow | None,
    ack_ns: int, run: Run,
) -> tuple[Status, str]:  # fmt: skip
    holder = made.shadow_server or "?"
    held = shadow.held if shadow else None
    if held is not None:
        if held.mono_ns is not None and held.mono_ns > ack_ns:
            after_ms = round((held.mono_ns - ack_ns) / 1e6, 3)
            return VIOLATED, f"{holder} logged HARECEIVE {after_ms} ms after {_HAD_IT}"
        return HOLDS, ""
    if _shows(holder, acceptance.at_ms, run):
        named = f"{acceptance.server} named {holder}, which logged no HARECEIVE of it"
        return VIOLATED, named
    if shadow is not None and _is_stored(message, shadow):
        return HOLDS, ""
    return UNKNOWN, f"the tracking log of {holder} has a hole there"


def _is_stored(message: Message, shadow: Shadow) -> bool:
    """Whether anything else shows that it stood."""
    rows = (shadow.claimed, shadow.discard, shadow.promoted)
    name = next((row.network_message_id for row in rows if row is not None), None)
    kept = kept_copies(message).get((shadow.key.server, name or ""), NOT_KEPT)
    is_moved = shadow.discard is not None or shadow.promoted is not None
    return is_moved or kept.as_shadow or kept.as_primary


def _rejections(message: Message, run: Run) -> Iterator[Case]:
    left_open: set[str] = set()
    answered: set[Ref] = set()
    for attempt in message.attempts:
        is_after_open = attempt.server in left_open
        if attempt.reply is None:
            left_open.add(attempt.server)
        if attempt.outcome != "failed":
            continue
        row, says = _written(message, attempt), (attempt.reply or "").startswith("451 4.4.0")
        if row is not None:
            answered.add(row)
        # a row may be of an earlier attempt, which its sender had left open, and this one refused
        # for another reason
        is_of_another = run.config.reject and is_after_open and not says
        if (row is not None or says) and not is_of_another:
            born = _kept_meanwhile(message, attempt)
            status, detail = _refused(attempt, born, run)
            shown = refs(attempt.ref, row, born)
            yield Case(
                status,
                message.message_id,
                ("SR-5",),
                detail,
                attempt.ended_ms,
                shown,
                server=attempt.server,
            )
    yield from _in_nobodys_hearing(message, answered, run)


def _in_nobodys_hearing(message: Message, answered: set[Ref], run: Run) -> Iterator[Case]:
    """Rows of rejections that no attempt had for an answer: its sender was lost before (SR-6)."""
    if run.config.reject:
        return
    for row in message.tracking:
        if is_rejection(row) and row.ref not in answered:
            detail = f"{row.server} rejected it; RejectMessageOnShadowFailure is false"
            shown = (row.ref,)
            yield Case(
                VIOLATED,
                message.message_id,
                ("SR-5", "SR-6"),
                detail,
                row.at_ms,
                shown,
                server=row.server,
            )


def _written(message: Message, attempt: Attempt) -> Ref | None:
    """The row that says that no shadow message could be made in this attempt."""
    rows = (row for row in message.tracking if row.server == attempt.server and is_rejection(row))
    return min((row.ref for row in rows if attempt.spans(row.mono_ns)), default=None)


def _kept_meanwhile(message: Message, attempt: Attempt) -> Ref | None:
    rows = (
        each.born
        for key, each in message.primaries.items()
        if key.server == attempt.server and each.born is not None and each.born.event == "RECEIVE"
    )
    return min((row.ref for row in rows if attempt.spans(row.mono_ns)), default=None)


def _refused(attempt: Attempt, born: Ref | None, run: Run) -> tuple[Status, str]:
    if not run.config.reject:
        return VIOLATED, f"{attempt.server} rejected it; RejectMessageOnShadowFailure is false"
    if born is not None:
        return VIOLATED, f"{attempt.server} rejected it and kept it"
    if (attempt.reply or "").startswith(REJECTION):
        return HOLDS, ""
    return VIOLATED, f"rejected with {attempt.reply or '?'}; due is {REJECTION}"


def _one_hop(message: Message, run: Run) -> Iterator[Case]:
    """Every message that a server of the boundary took from another one there: into mailboxes, and
    not to be sent on. A row of the peer that a hole hides leaves it open.
    """
    for hop in hops(message, run):
        taken = [
            row
            for row in message.tracking
            if row.server == hop.peer
            and row.internal_id is not None
            and row.internal_id == hop.peer_internal_id
            and _was_there(row, hop, run)
            and (row.event == "RECEIVE" or (row.event in _STORED and row.source == "STOREDRIVER"))
        ]
        if taken and not hop.left:
            is_anew = any(row.event == "RECEIVE" for row in taken)
            detail = (
                f"{hop.row.server} sent it to {hop.peer} in its own boundary, which received it "
                "anew"
            )
            shown = (hop.row.ref, min(row.ref for row in taken))
            yield Case(
                VIOLATED if is_anew else HOLDS, message.message_id, ("SR-12",), detail,
                hop.row.at_ms, shown,
            )  # fmt: skip


def _was_there(row: TrackingRow, hop: Hop, run: Run) -> bool:
    """A new queue database counts its messages anew: what an earlier one took is another one's."""
    lost_ms = run.servers[hop.peer].lost_ms(row.database_id or "")
    return lost_ms is None or lost_ms > hop.row.at_ms


CLAIM = Claim(
    "redundant_before_ack",
    ("SR-1", "SR-5", "SR-6", "SR-10", "SR-12"),
    needs=frozenset({LEDGER, TRACKING, COMMON_CLOCK}),
    of_message=_cases,
)
