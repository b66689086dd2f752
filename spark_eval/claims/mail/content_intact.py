"""content_intact: what a recipient sees is what was sent (TL-10).

Asks every visible copy of a message of the workload, and compares what its sender wrote down with
what was read where it is seen: size, header and body, but for the trace fields in front, and whom
the envelope names as its sender. Nothing excuses another text. A record that says nothing of the
content, on either side, or of the sender, leaves it unknown.
What nobody of the workload sent, such as a DSN, is not asked. Of strangers whose message has a CR
or LF that stands alone every reply to the dot is: a server that takes such a message can send it on
only as another one, so it refuses it (RFC 5321 section 2.3.8).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked, fits
from spark_eval.cases.forms import agreement
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.histories.traffic import NO_BODY
from spark_eval.read.plan import LEDGER, MAILBOXES
from spark_eval.read.rows import Content, SentRow, StrangerRow, VisibleRow

BARE_LINE_ENDS = "bare-line-ends"
PARTS = {"size": "the size", "header": "the header", "body": "the body"}


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is not None:
        for seen in message.visible:
            yield from _compared(message.sent, seen, run)


def _compared(sent: SentRow, seen: VisibleRow, run: Run) -> Iterator[Case]:
    whose = run.traffic.texts.get(seen.content.body or "")
    both = ((part, getattr(sent.content, part), getattr(seen.content, part)) for part in PARTS)
    others = [part for part, mine, theirs in both if agreement(mine, theirs) == VIOLATED]
    status, detail = _judged(sent, seen, others, whose[0] if whose else None)
    apart = abs((seen.content.size or 0) - (sent.content.size or 0)) if "size" in others else 0
    yield from asked(
        status, f"{sent.message_id} to {seen.recipient}", ("TL-10",), detail, seen.copied_ms, seen,
        sent, whose[1] if whose else None, weight=apart + 1e9 * ("body" in others),
    )  # fmt: skip


def _judged(sent: SentRow, seen: VisibleRow, others: list[str], whose: str | None) -> Judged:
    if others:
        what = " and ".join(PARTS[part] for part in others)
        both = f"{seen.place} has {_words(seen.content)}; sent were {_words(sent.content)}"
        if "body" in others and whose is not None:
            return VIOLATED, f"shows the text of {whose}: {both}"
        return VIOLATED, f"not as it was sent in {what}: {both}"
    if seen.sender is not None and seen.sender != sent.sender:
        return VIOLATED, f"{seen.place} has it from <{seen.sender}>; it was sent by <{sent.sender}>"
    if None in sent.content:
        return UNKNOWN, "the ledger has no digest of what was sent"
    if None in seen.content:
        return UNKNOWN, f"{seen.place} has no digest of what is seen there"
    if seen.sender is None:
        return UNKNOWN, f"{seen.place} does not say who sent it"
    return FITS


def _words(content: Content) -> str:
    body = "no body" if content.body == NO_BODY else f"body {content.body}"
    return f"{content.size} bytes, header {content.header}, {body}"


def _of_strangers(run: Run, totals: Totals) -> Iterator[Case]:
    """Each answer to a message that could not be sent on as it is."""
    ids = {each.id for each in run.strangers if each.kind == BARE_LINE_ENDS}
    for row in run.stranger_rows:
        if row.stranger in ids and row.type == "reply" and row.command == ".":
            yield from _taken(row, run)


def _taken(row: StrangerRow, run: Run) -> Iterator[Case]:
    planned = next(each for each in run.strangers if each.id == row.stranger)
    server, reply = (planned.server or "").lower(), row.reply or ""
    if reply[:1] in ("2", "5"):
        taken = f"{server} took a message with a CR or LF that stands alone: {reply}"
        status, detail = fits(taken if reply.startswith("2") else "")
        subject = f"{row.stranger} ({BARE_LINE_ENDS})"
        yield from asked(status, subject, ("TL-10",), detail, row.at_ms, row)


CLAIM = Claim(
    "content_intact",
    ("TL-10",),
    needs=frozenset({LEDGER, MAILBOXES}),
    of_message=_cases,
    of_run=_of_strangers,
)
