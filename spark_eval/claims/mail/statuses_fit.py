"""statuses_fit: the reply that a tracking log has of mail put off, or given up, fits that it was
(TL-1).

Asks every DEFER and FAIL row that says a reply: of mail that is put off it is transient (4yz), of
mail that is given up permanent (5yz), whatever its enhanced code (RFC 5321 section 4.2.1): what
expired is given up with 550 4.4.7 (F§2.3). Where a row has a `recipient-status`, it has a value for
each recipient, plain or in braces (F§1.3), and a FAIL row has one, since its server gave up with
some reply. A DEFER row may have none: then `source-context` says why, with the reply that came, if
one did.

Not asked: a DEFER row that says no reply, since a next hop that is not reached gives none. Texts
may hold semicolons: where there are more values than recipients, the first alone is surely a reply.
What other words of a FAIL row stand for is not documented, so a value of it that begins with no
reply leaves it unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import FITS, NOT_ASKED, UNKNOWN, VIOLATED, Case, Judged, of_row
from spark_eval.claims.claim import Claim
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

# a final reply, so none of 3yz; of a status in braces the first part is the last error
_CODE = re.compile(r" *(?:\[?\{LED=)?([245])[0-9][0-9](?:[ -]|$)")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for row in each.of_event("DEFER", "FAIL"):
            status, detail = _judged(row)
            yield from of_row(status, row, ("TL-1",), detail)


def _judged(row: TrackingRow) -> Judged:
    is_given_up, text = row.event == "FAIL", row.recipient_status or row.context
    if is_given_up and row.recipient_status is None:
        return VIOLATED, f"{row.server} gave it up, and its FAIL row has no recipient-status"
    values, recipients = (text or "").split(";"), row.recipients or ()
    sure = values[:1] if len(values) > len(recipients) else values
    wrong = [value for value in sure if _class(value) not in ("", "5" if is_given_up else "4")]
    silent = [value for value in sure if _class(value) == ""]
    if wrong:
        done, fitting = ("gave it up", "permanent") if is_given_up else ("put it off", "transient")
        logged = f"the reply that it logs is not {fitting}: {wrong[0]}"
        return VIOLATED, f"{row.server} {done}, and {logged}"
    if row.recipient_status is not None and len(values) < len(recipients):
        named = f"its {row.event} row at {row.server} has {len(recipients)} recipients"
        return VIOLATED, f"{named}, and a recipient-status for {len(values)}"
    if silent:
        return (UNKNOWN, f"{row.server} logs no reply: {silent[0]}") if is_given_up else NOT_ASKED
    return FITS


def _class(value: str) -> str:
    found = _CODE.match(value)
    return found[1] if found else ""


CLAIM = Claim("statuses_fit", ("TL-1",), needs=frozenset({TRACKING}), of_message=_cases)
