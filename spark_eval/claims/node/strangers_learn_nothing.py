"""strangers_learn_nothing: without the right nobody uses a verb of the organisation (TL-6) or holds
a session for ever (SR-6); nor is a shadow verb offered to anybody where shadow redundancy is off
(SR-9).

Asks every reply that a stranger of the plan heard: to a verb of the organisation it is `550 5.7.1`
and names no message, and EHLO offers no such verb to who showed no server's certificate. A stranger
with a certificate of another authority is closed out, or hears the same. With
`ShadowRedundancyEnabled` false EHLO offers none to who showed a server's certificate either. Asks
every session that trickles whether it was over by `ConnectionTimeout`, and what it takes a server
and the record to notice. A server that ends a session for reasons of its own (421), or is in
trouble, is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import FITS, NOT_ASKED, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, limit_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import PlannedStranger
from spark_eval.read.rows import StrangerRow

REFUSED = re.compile(r"550 5[.]7[.]1( |$)")
NAMES_A_MESSAGE = re.compile(r"<[^<> ]+@[^<> ]+>|InternalId=|DatabaseId=")
OFFERS = re.compile(r"(^| )X[A-Z]+( |$)")
IS_VERB = re.compile(r"X[A-Z]+( |$)")


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for stranger in run.strangers:
        rows = [row for row in run.stranger_rows if row.stranger == stranger.id]
        for row in rows:
            if row.type == "reply":
                yield from _reply(stranger, row, run)
        yield from _session(stranger, rows, run)


def _reply(stranger: PlannedStranger, row: StrangerRow, run: Run) -> Iterator[Case]:
    status, detail = _of_reply(stranger, row, run)
    verb = (row.command or "").split(" ")[0]
    requirement = "SR-9" if _is_ehlo_of_a_server(stranger, row) else "TL-6"
    subject = f"{verb} of {stranger.id} ({stranger.kind})"
    yield from asked(status, subject, (requirement,), detail, row.at_ms, row)


def _is_ehlo_of_a_server(stranger: PlannedStranger, row: StrangerRow) -> bool:
    return row.command == "EHLO" and stranger.kind == "other-server"


def _of_reply(stranger: PlannedStranger, row: StrangerRow, run: Run) -> Judged:
    server, reply = (stranger.server or "").lower(), row.reply or ""
    if row.command == "EHLO":
        return _of_ehlo(server, reply, run, of_a_server=stranger.kind == "other-server")
    if not IS_VERB.match(row.command or "") or reply.startswith("421 "):
        return NOT_ASKED
    if reply[:1] in ("2", "3"):
        return VIOLATED, f"{server} accepts it: {reply}"
    if not REFUSED.match(reply):
        return VIOLATED, f"{server} says more than that it may not: {reply}"
    if NAMES_A_MESSAGE.search(reply):
        return VIOLATED, f"{server} names a message or a database: {reply}"
    return FITS


def _of_ehlo(server: str, reply: str, run: Run, *, of_a_server: bool) -> Judged:
    if of_a_server and run.config.enabled:
        return NOT_ASKED
    if not OFFERS.search(reply):
        return FITS
    if of_a_server:
        what = "a shadow verb, and ShadowRedundancyEnabled is false"
        return VIOLATED, f"{server} offers {what}: {reply}"
    return VIOLATED, f"{server} offers a verb of the organisation: {reply}"


def _session(stranger: PlannedStranger, rows: list[StrangerRow], run: Run) -> Iterator[Case]:
    banners = (row for row in rows if row.command == "banner")
    ends = (row for row in rows if row.type == "end")
    began = min(banners, key=lambda row: (row.at_ms, row.ref), default=None)
    over = max(ends, key=lambda row: (row.at_ms, row.outcome or ""), default=None)
    status, detail = _of_session(stranger, began, over, run, is_told=bool(rows))
    yield from asked(
        status, f"{stranger.id} ({stranger.kind})",
        ("SR-6",) if stranger.kind == "trickles" else ("TL-6",), detail,
        over.at_ms if over else None, began, over,
        weight=over.at_ms - began.at_ms if over and began else 0,
    )  # fmt: skip


def _of_session(
    stranger: PlannedStranger, began: StrangerRow | None, over: StrangerRow | None, run: Run,
    *, is_told: bool,
) -> Judged:  # fmt: skip
    kind, name = stranger.kind, (stranger.server or "").lower()
    server = run.servers.get(name)
    if not is_told:
        return UNKNOWN, f"the record says nothing of {stranger.id} ({kind})"
    first = began or over
    troubled = first and over and is_troubled(name, run, first.at_ms, over.at_ms)
    if troubled or kind not in ("trickles", "foreign-certificate") or server is None:
        return NOT_ASKED
    if over is None:
        return UNKNOWN, f"the record does not say how the session of {stranger.id} ended"
    if kind == "foreign-certificate":
        return FITS if over.outcome == "closed" else NOT_ASKED
    if began is None:
        return NOT_ASKED
    sent = over.sent_bytes or 0
    if over.at_ms - began.at_ms > limit_ms(server, run):
        due = stamp(began.at_ms + server.config.session_ms)
        return VIOLATED, (
            f"after {sent} bytes its session at {name} is still open at {stamp(over.at_ms)}; "
            f"ConnectionTimeout was over at {due}"
        )
    return FITS if sent and over.outcome in ("closed", "refused") else NOT_ASKED


CLAIM = Claim("strangers_learn_nothing", ("TL-6", "SR-6", "SR-9"), of_run=_cases)
