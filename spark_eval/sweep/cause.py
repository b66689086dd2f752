"""The cause behind a counter-example: its sentence without what differs from run to run.

Ids, addresses, names of servers, times and numbers are taken out, so that a thousand seeds that
fail in one way are one line of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SUBJECT = re.compile(r"^(?:<[^<>\s]*>(?: (?:to|in|at) \S+)?|expect\.\w+(?: of \S+)?): ")
TAKEN_OUT = (
    (re.compile(r"<[^<>\s]*>"), "[id]"),
    (re.compile(r"\b[\w.+-]+@[\w.-]+"), "[address]"),
    (re.compile(r"(?<![\w.-])-?\d+:\d\d:\d\d(?:\.\d+)?"), "[time]"),
)
# but for the number in the name of a requirement, as SM-7
NUMBER = re.compile(r"(?<![\w.])(?<![A-Z]{2}-)-?\d+(?:\.\d+)*\b|(?<=[A-Za-z])\d+\b")
LISTED = re.compile(r"(\[(?:server|address|id)\])(?:(?:, | and )\1)+")


def cause(detail: str, servers: Iterable[str]) -> str:
    """`par-mbx1 promoted at 0:41:02.000: …` becomes `[server] promoted at [time]: …`."""
    text = SUBJECT.sub("", detail)
    for pattern, name in TAKEN_OUT:
        text = pattern.sub(name, text)
    for server in sorted(servers, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(server)}(?![\w-])", "[server]", text)
    return LISTED.sub(r"\1", NUMBER.sub("[n]", text))
