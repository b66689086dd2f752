"""resubmission_waits: a resubmission waits while the delivery queue is long, and for nothing else
(SN-19).

Asks every message that a Safety Net gave back how many of the same server, for the same database,
were given back in the same life of it and surely not delivered yet: fewer than make it wait, beside
the page that is read at once; several requests count each by itself. Asks everybody who says that a
resubmission waits whether it may: its figure is that long, or it may have been under back pressure.
And once the pressure surely is over, asks whether it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import bound, response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.pauses import (
    LOOKS_AGAIN_MS,
    PRESSURE,
    QUEUE,
    Pause,
    pauses,
)
from spark_eval.expected.totals import GivenBack, Totals
from spark_eval.histories.organisation.pressure import MEDIUM
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE, TRACKING
from spark_eval.read.rows import grouped

REQUIRED = ("SN-19",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for (name, database), given in totals.given_back.items():
        server = run.servers.get(name)
        if server is not None:
            yield from _bounded(server, database or "", given, run)
    for pause in pauses(run):
        server = run.servers.get(pause.server)
        if server is not None:
            yield from _for_cause(pause, server)
            yield from _goes_on(pause, server, run)


def _bounded(server: Server, database: str, given: list[GivenBack], run: Run) -> Iterator[Case]:
    """The most that surely waited at once, of each life."""
    limits = server.limits
    for life_ms, lived in grouped(given, lambda each: server.life_at(each.at_ms)).items():
        requests = len({each.request_id for each in lived})
        most = requests * (limits.resubmission - 1 + limits.page)
        over_ms = server.slack_ms + run.finest_ms
        worst = max(lived, key=lambda each: (_open(each, lived, over_ms), each.ref))
        count = _open(worst, lived, over_ms)
        yield from asked(
            bound(count, None, most), f"{database} at {server.name}", REQUIRED,
            f"{server.name} had given back {count} messages into {database} that were not "
            f"delivered at {stamp(worst.at_ms)}; at {limits.resubmission} it waits",
            life_ms, worst, weight=count, server=server.name,
        )  # fmt: skip


def _open(now: GivenBack, lived: list[GivenBack], over_ms: int) -> int:
    return sum(
        each.at_ms <= now.at_ms and (each.done_ms is None or each.done_ms > now.at_ms + over_ms)
        for each in lived
    )


def _for_cause(pause: Pause, server: Server) -> Iterator[Case]:
    row, reason, wrong = pause.begun, pause.begun.reason, ""
    at_ms, length = row.at_ms or 0, row.messages or 0
    if reason == QUEUE and length < server.limits.resubmission:
        wrong = f"of {length} messages in its delivery queue"
    elif reason == PRESSURE and not server.may_press(MEDIUM, at_ms, at_ms):
        wrong = "of back pressure, and it is under none"
    elif reason not in (QUEUE, PRESSURE):
        wrong = f"of {reason}"
    status, detail = fits(wrong and f"{server.name} waits at {stamp(at_ms)} because {wrong}")
    subject = f"{pause.request_id} at {server.name}"
    yield from asked(status, subject, REQUIRED, detail, at_ms, row, server=server.name)


def _goes_on(pause: Pause, server: Server, run: Run) -> Iterator[Case]:
    """As soon as it is not under pressure any more; by another row if it waits for a queue then."""
    begun_ms = pause.begun.at_ms or 0
    spans = [each for each in server.pressure if each.level == MEDIUM]
    ended = [each.possible.hi for each in spans if each.possible.touches(begun_ms, begun_ms)]
    if pause.begun.reason != PRESSURE or not ended:
        return
    due_ms = max(ended) + LOOKS_AGAIN_MS + server.slack_ms
    is_again = touches((each.possible for each in spans), max(ended) + 1, due_ms)
    yield from asked(
        response(pause.over.at_ms if pause.over else None, due_ms, run.end_ms,
                 is_excused=is_again or bool(server.out(begun_ms, due_ms)),
                 is_shown=server.shows(begun_ms, due_ms)),
        f"{pause.request_id} at {server.name}", REQUIRED,
        f"{server.name} is under no back pressure since {stamp(max(ended))}, and the resubmission "
        "waits still", due_ms, pause.begun, server=server.name,
    )  # fmt: skip


CLAIM = Claim("resubmission_waits", REQUIRED, needs=frozenset({LIFECYCLE, TRACKING}), of_run=_cases)
