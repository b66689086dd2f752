"""One message in all its accounts: as the plan has it, as its sender wrote it down, as servers
logged it, as it lies in mailboxes.

A server may log a message in many ways, and a kill swallow some of them: that is for the claims.
Here is what no server can bring about: a sender who does otherwise than planned, a message that
nobody sent, a copy of which no server says that it delivered it, though none was ever to be away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_eval.read.contradictions.made_by_lab import (
    ROUNDED_MS,
    found,
    found_at,
    has_ended,
    is_steady,
)
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading
from spark_eval.read.mail import Mail
from spark_eval.read.names import Ref, message_id
from spark_eval.read.plan import PlannedMessage
from spark_eval.read.rows import AttemptRow, OutcomeRow, SentRow

LEDGER = "ledger.jsonl"
UNPLANNED = "a message that plan.json does not have"
OTHERWISE = "not what plan.json says of a message"
EARLY = "a message sent before plan.json says"
TWICE = "a message written down twice"
UNWRITTEN = "an attempt at a message that was not written down"
OUT_OF_TURN = "attempts and outcomes that do not take turns"
ELSEWHERE = "an attempt at another server than plan.json says"
AFTER_OK = "a further attempt at a message that was acknowledged"
UNTRIED = "no attempt at a message that servers know, though the run went to its end"
OPEN = "an attempt without an outcome, though the run went to its end"
GIVEN_UP = "no further attempt at a message that was not acknowledged"
MISSING = "without a message of plan.json, though the run went to its end"
NOBODYS = "a message that nobody sent"
UNTOLD = "a copy that no message tracking log has"

# what the workload calls its messages; servers call their own otherwise
_OF_WORKLOAD = re.compile(r"<m[0-9]+[.]")
TAKEN_IN = ("DELIVER", "DUPLICATEDELIVER")
# how long a sender waits for a session's place and its end, beside `retry_ms`: lab and wall ms
PATIENCE_MS, PATIENCE_WALL_MS = 900_000, 5_000
Try = AttemptRow | OutcomeRow


@dataclass(slots=True)
class _Accounts:
    """Of one Message-Id: `logged`, the first row that a server or a listing has of it; `taken`, for
    whom servers say that they delivered it; `seen`, who sees it, and where.
    """

    planned: PlannedMessage | None = None
    written: list[SentRow] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    logged: Ref | None = None
    taken: set[str] = field(default_factory=set)
    seen: list[tuple[str, Ref]] = field(default_factory=list)

    def log(self, ref: Ref) -> None:
        self.logged = ref if self.logged is None else min(self.logged, ref)


def of_messages(mail: Mail, heading: Heading) -> Iterator[Damage]:
    for _, accounts in sorted(_accounts(mail).items()):
        yield from _of_sender(accounts)
        yield from _of_end(accounts, heading)
        yield from _of_servers(accounts, heading)


def _accounts(mail: Mail) -> dict[str, _Accounts]:
    known: dict[str, _Accounts] = {}

    def of(name: str | None) -> _Accounts:
        return known.setdefault(name or "", _Accounts())

    for planned in mail.planned:
        of(message_id(planned.message_id)).planned = planned
    for sent in mail.sent:
        of(sent.message_id).written.append(sent)
    for attempt in mail.attempts:
        of(attempt.message_id).tries.append(attempt)
    for outcome in mail.outcomes:
        of(outcome.message_id).tries.append(outcome)
    for row in mail.tracking:
        if _is_own(row.message_id):
            of(row.message_id).log(row.ref)
            if row.event in TAKEN_IN:
                of(row.message_id).taken.update(row.recipients or ())
    for entry in mail.queues:
        if _is_own(entry.message_id):
            of(entry.message_id).log(entry.ref)
    for seen in mail.visible:
        if seen.kind == "mailbox" and _is_own(seen.message_id):
            of(seen.message_id).seen.append((seen.recipient, seen.ref))
    for accounts in known.values():
        accounts.tries.sort(key=lambda each: (each.attempt, isinstance(each, OutcomeRow)))
    return known


def _is_own(name: str | None) -> bool:
    return name is not None and _OF_WORKLOAD.match(name) is not None


def _of_sender(known: _Accounts) -> Iterator[Damage]:
    """What its sender wrote down, against the plan and against itself."""
    planned, written, tries = known.planned, known.written, known.tries
    lines = [each.ref.line for each in (*written, *tries)]
    if planned is None:
        if lines:
            yield found(LEDGER, min(lines), UNPLANNED)
    else:
        yield from _first((each for each in written if _is_other(each, planned)), OTHERWISE)
        early = (planned.at_ms or 0) - ROUNDED_MS
        yield from _first((each for each in written if each.submitted_ms < early), EARLY)
        yield from _first((each for each in tries if _is_elsewhere(each, planned)), ELSEWHERE)
    yield from _first(iter(written[1:]), TWICE)
    if not written:
        yield from _first(iter(tries), UNWRITTEN)
    out_of_turn = (
        each
        for place, each in enumerate(tries)
        if each.attempt != place // 2 + 1 or isinstance(each, OutcomeRow) != bool(place % 2)
    )
    yield from _first(out_of_turn, OUT_OF_TURN)
    yield from _first((each for each in tries[:-1] if _is_ok(each)), AFTER_OK)


def _first(rows: Iterator[SentRow | Try], damage: str) -> Iterator[Damage]:
    """Of lines that are wrong in one way, the first."""
    if (row := next(rows, None)) is not None:
        yield found_at(row.ref, damage)


def _is_other(sent: SentRow, planned: PlannedMessage) -> bool:
    said = (sent.mail, sent.sender, sent.recipients, sent.size_bytes)
    recipients = tuple(dict.fromkeys(each.lower() for each in planned.recipients or ()))
    sender = (planned.sender or "").lower()
    return said != (planned.mail, sender, recipients, planned.size_bytes)


def _is_elsewhere(each: Try, planned: PlannedMessage) -> bool:
    via = planned.via or ()
    if not via or each.server is None:
        return False
    return each.server != via[(each.attempt - 1) % len(via)].lower()


def _is_ok(each: Try) -> bool:
    return isinstance(each, OutcomeRow) and each.outcome == "ok"


def _of_end(known: _Accounts, heading: Heading) -> Iterator[Damage]:
    """What a run that went to its end does not leave undone."""
    planned, written, tries, end_ms = known.planned, known.written, known.tries, heading.plan.end_ms
    if not has_ended(heading) or end_ms is None:
        return
    last = tries[-1] if tries else None
    if written and not tries and known.logged is not None:
        yield found_at(written[0].ref, UNTRIED)
    if isinstance(last, AttemptRow):
        yield found_at(last.ref, OPEN)
    if planned is not None and written and not (last and _is_ok(last)):
        ended_ms = last.ended_ms if isinstance(last, OutcomeRow) else None
        since_ms = written[0].submitted_ms if ended_ms is None else ended_ms
        patience_ms = PATIENCE_MS + PATIENCE_WALL_MS * heading.clock.speed
        if since_ms < end_ms - (planned.retry_ms or 0) - patience_ms:
            yield found_at((last or written[0]).ref, GIVEN_UP)
    if planned is not None and not written and (planned.at_ms or 0) < end_ms:
        yield found(LEDGER, None, MISSING)


def _of_servers(known: _Accounts, heading: Heading) -> Iterator[Damage]:
    is_written = bool(known.written or known.tries)
    if known.planned is None and not is_written and known.logged is not None:
        yield found_at(known.logged, NOBODYS)
    if known.planned is not None and is_steady(heading) and not heading.untracked:
        for recipient, ref in known.seen:
            if recipient not in known.taken:
                yield found_at(ref, UNTOLD)
                return
