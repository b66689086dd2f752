"""What a front end owes to who calls it, and when a fault may have been behind it (TP-7).

It says of itself no more than that: no mailbox server of its site answered, or one was lost after
the message was on its way to it. Any other word is that of the server behind.
"""

from __future__ import annotations

import re

from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.interval import touches

_OWN = re.compile(r"451 4[.]7[.]0 Temporary server error[.] Please try again later[.] PRX([12])$")
NO_SERVER, SERVER_LOST = "1", "2"


def says_no_server(reply: str | None) -> bool:
    """Whether a front end refuses since none of its site answers."""
    return _said(reply) == NO_SERVER


def says_server_lost(reply: str | None) -> bool:
    """Whether it refuses since it does not know what became of the message."""
    return _said(reply) == SERVER_LOST


def _said(reply: str | None) -> str | None:
    found = _OWN.fullmatch(" ".join((reply or "").split()))
    return found[1] if found else None


def servers_behind(front_end: Server, run: Run) -> tuple[str, ...]:
    """The mailbox servers of its site."""
    return tuple(each for each in run.behind(front_end.name) if each != front_end.name)


def troubled_behind(front_end: Server, run: Run, start_ms: int, end_ms: int) -> list[bool]:
    """Of each of them, whether it, or the way to it, may have been in trouble meanwhile."""
    from_ms, to_ms = start_ms - front_end.slack_ms, end_ms + front_end.slack_ms
    return [
        touches((each.at for each in run.ways.troubles(front_end.name, name)), from_ms, to_ms)
        for name in servers_behind(front_end, run)
    ]


def longest_behind_ms(front_end: Server, run: Run) -> int:
    """How long the session of any of them may take, that began while this one stood."""
    behind = (run.servers[name] for name in servers_behind(front_end, run))
    return max((each.config.session_ms for each in behind), default=0)


def is_excused(front_end: Server, attempt: Attempt, run: Run) -> bool:
    """Whether a fault may have made it say so: of all servers behind, or of one that it lost."""
    if attempt.started_ms is None or attempt.ended_ms is None:
        return True
    troubled = troubled_behind(front_end, run, attempt.started_ms, attempt.ended_ms)
    return all(troubled) if says_no_server(attempt.reply) else any(troubled)
