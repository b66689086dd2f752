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

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
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
            yield _case(message.sent, seen, run)


def _case(sent: SentRow, seen: VisibleRow, run: Run) -> Case:
    whose = run.traffic.texts.get(seen.content.body or "")
    others = [part for part in PARTS if _is_other(part, sent.content, seen.content)]
    status, detail = _judged(sent, seen, others, whose[0] if whose else None)
    apart = abs((seen.content.size or 0) - (sent.content.size or 0)) if "size" in others else 0
    return Case(
        status, f"{sent.message_id} to {seen.recipient}", ("TL-10",), detail, seen.copied_ms,
        refs(seen.ref, sent.ref, whose[1] if whose else None),
        weight=apart + 1e9 * ("body" in others),
    )  # fmt: skip


def _judged(
    sent: SentRow, seen: VisibleRow, others: list[str], whose: str | None
) -> tuple[Status, str]:
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
    return HOLDS, ""


def _is_other(part: str, sent: Content, seen: Content) -> bool:
    """Known on both sides, and not the same."""
    mine, theirs = getattr(sent, part), getattr(seen, part)
    return mine is not None and theirs is not None and mine != theirs


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
        is_taken = reply.startswith("2")
        detail = f"{server} took a message with a CR or LF that stands alone: {reply}"
        yield Case(
            VIOLATED if is_taken else HOLDS, f"{row.stranger} ({BARE_LINE_ENDS})", ("TL-10",),
            detail if is_taken else "", row.at_ms, (row.ref,),
        )  # fmt: skip


CLAIM = Claim(
    "content_intact",
    ("TL-10",),
    needs=frozenset({LEDGER, MAILBOXES}),
    of_message=_cases,
    of_run=_of_strangers,
)
