"""dsns_fit: a DSN is mail that refers to the message that it is about, and says of each recipient
what its server logged (SM-12, RT-5).

Asks each DSN, in the logs and where somebody sees it. It has the
null reverse-path, and goes to the sender of that message alone (RFC 3464 section 2). In-Reply-To
and References name that message (RFC 3834 section 3.1.5), where it can be named in a line of ASCII.
Its fields (RFC 3464 section 2.3) name the server that made it; the action of each recipient is
`failed` or, of a delay, `delayed`; the status of a delay is 4.y.z, that of a failure the enhanced
code of the reply that the server gave him up with, or, where that has none, 5.y.z.

Not asked: the status of whom no FAIL row of the server names, which a hole of the log may have
swallowed, and `dsn_sent` asks; fields that a record of before does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.claims.claim import Claim
from spark_eval.expected.reports.notifications import DELAYED, FAILED, Dsn, dsns_about
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.names import message_id
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import Report, VisibleRow

# the longest Message-Id that a line has room for beside the name of its field
SHORT = 998 - len("In-Reply-To: ")
# of a status in braces the first part is the last error
_ENHANCED = re.compile(r" *(?:\[?\{LED=)?[0-9]{3}[ -]([0-9]+\.[0-9]+\.[0-9]+)(?: |$)")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is None:
        return
    for is_of_delay in (False, True):
        for dsn in dsns_about(message, of_delay=is_of_delay):
            yield from _case(message, dsn, _wrong_in_logs(message, dsn))
            for seen in dsn.message.visible:
                yield from _case(message, dsn, _wrong(message, dsn, seen, run), seen)


def _case(message: Message, dsn: Dsn, wrong: str, seen: VisibleRow | None = None) -> Iterator[Case]:
    assert message.sent is not None
    whose = f"the DSN of {dsn.row.server} to {message.sent.sender}"
    status, detail = fits(wrong and f"{whose} {wrong}")
    yield from asked(
        status, message.message_id, ("RT-5" if dsn.is_of_delay else "SM-12",), detail,
        dsn.row.at_ms, dsn.row, seen, server=dsn.row.server,
    )  # fmt: skip


def _wrong_in_logs(message: Message, dsn: Dsn) -> str:
    """What does not fit, or the empty text."""
    assert message.sent is not None
    for row in dsn.message.tracking:
        if row.sender:
            return f"is logged by {row.server} with the sender {row.sender}"
        others = [each for each in row.recipients or () if each != message.sent.sender]
        if others:
            return f"is logged by {row.server} as mail for {others[0]}"
    return ""


def _wrong(message: Message, dsn: Dsn, seen: VisibleRow, run: Run) -> str:
    if seen.sender:
        return f"has the sender {seen.sender}"
    if seen.reports is None:
        return ""
    if not seen.reports:
        return "says nothing of anybody"
    is_named = "\\" not in message.message_id and len(message.message_id) <= SHORT
    for field, said in (("In-Reply-To", seen.in_reply_to), ("References", seen.references)):
        if is_named and said is not None and message_id(said) != message.message_id:
            return f"has {said or 'nothing'} in {field}"
    return next((wrong for each in seen.reports if (wrong := _misfit(message, dsn, each, run))), "")


def _misfit(message: Message, dsn: Dsn, report: Report, run: Run) -> str:
    server = run.servers.get(dsn.row.server)
    maker = (report.reporting_mta or "").lower()
    if report.reporting_mta is not None and server is not None and maker != server.fqdn.lower():
        return f"has {maker or 'nobody'} as Reporting-MTA"
    action = DELAYED if dsn.is_of_delay else FAILED
    if report.action != action:
        return f"says {report.action or 'nothing'} of {report.recipient}"
    if report.status is None or _fits(message, dsn, report):
        return ""
    return f"has the status {report.status or 'nothing'} of {report.recipient}"


def _fits(message: Message, dsn: Dsn, report: Report) -> bool:
    status = report.status or ""
    if dsn.is_of_delay:
        return status.startswith("4.")
    replies = list(_replies(message, dsn.row.server, (report.recipient or "").lower()))
    codes = {found[1] for reply in replies if (found := _ENHANCED.match(reply))}
    is_plain = any(not _ENHANCED.match(reply) for reply in replies)
    return not replies or status in codes or (is_plain and status.startswith("5."))


def _replies(message: Message, server: str, recipient: str) -> Iterator[str]:
    """With which the server gave him up, each time."""
    for row in message.of_event("FAIL"):
        named, said = row.recipients or (), (row.recipient_status or "").split(";")
        if row.server == server and recipient in named:
            # texts may hold semicolons: then the first alone is surely a reply
            place = named.index(recipient)
            yield said[place] if len(said) == len(named) else said[0]


CLAIM = Claim("dsns_fit", ("SM-12", "RT-5"), needs=frozenset({EXACT_TRACKING}), of_message=_cases)
