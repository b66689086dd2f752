"""back_pressure_kept: a server short of disk or queue space says at which level it is, by its
thresholds, and refuses what is to be refused then and nothing else (TL-8, SN-19, F§6).

Asks every change of a level that a lifecycle log has: it begins where the one before it ended, and
its figure takes the level there, each way by a threshold of its own. Asks every fault that uses up
a volume: the level that its percentage calls for is reached within an interval, and is left once
there is room again. Of a figure of the disk that nobody's fault explains, whether all mail of the
run could have filled the volume.

While a server surely was at the medium level, asks whatever was handed over: no 250 to somebody
outside, no shadow message taken, nothing given back by a Safety Net; at the high level also no mail
of another server. A message that a server puts off since another one said that it was under
pressure was put off by one that may have been at the high level.

Not asked: near a hole of the log; what a restart of the server cut short.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import crossings
from spark_eval.histories.faults import Fault
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.pressure import DISK, EVENT, HIGH, LEVELS, MEDIUM, NORMAL
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import SAFETY_NET
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE, TRACKING
from spark_eval.read.rows import LifecycleRow, TrackingRow

REFUSAL = "452 4.3.1 Insufficient system resources"
FAULT = "disk_use"
REQUIRED = ("TL-8",)
# what a message is refused with for what it is, always
_OF_ITS_OWN = ("552", "554 5.4.6", "550 5.1.10")


def _of_server(server: Server, run: Run) -> Iterator[Case]:
    rows = [row for row in run.said(EVENT) if row.server == server.name and row.at_ms is not None]
    before: dict[str, LifecycleRow] = {}
    for row in sorted(rows, key=lambda row: (row.mono_ns or 0, row.ref)):
        resource = row.resource or ""
        status, detail = fits(_wrong(row, before.get(resource), server, run))
        yield from asked(status, f"{server.name}, {resource}", REQUIRED, detail, row.at_ms, row,
                         server=server.name)  # fmt: skip
        before[resource] = row
    for fault in run.faults:
        if fault.kind == FAULT and fault.server == server.name and fault.took_effect:
            yield from _used_up(fault, server, run)


def _wrong(row: LifecycleRow, last: LifecycleRow | None, server: Server, run: Run) -> str:
    """What does not fit, or the empty text."""
    at_ms, figure, resource = row.at_ms or 0, row.figure, row.resource or ""
    says = f"{server.name} says at {stamp(at_ms)} that {resource} goes from {row.from_} to {row.to}"
    thresholds = server.limits.thresholds.get(resource)
    if thresholds is None or figure is None or row.from_ not in LEVELS or row.to not in LEVELS:
        return f"{says}, which is no level of a resource"
    is_same_life = last is not None and server.life_at(at_ms) == server.life_at(last.at_ms or 0)
    was = last.to if last is not None and is_same_life else LEVELS[NORMAL]
    if row.from_ != was and server.shows(last.at_ms or 0 if last else 0, at_ms):
        return f"{says}, and it was {was}"
    if not thresholds.fits(LEVELS.index(row.from_), LEVELS.index(row.to), figure):
        return f"{says} at {figure}"
    if resource == DISK and row.to != LEVELS[NORMAL] and not _is_explained(at_ms, server, run):
        return f"{says} at {figure} %, and nothing has used the volume up"
    return ""


def _is_explained(at_ms: int, server: Server, run: Run) -> bool:
    """A fault, or all mail of the run together."""
    late_ms = server.limits.interval_ms + server.slack_ms
    used = (f.outage.possible for f in _faults(server, run) if f.outage is not None)
    is_used_up = touches((each.longer(late_ms) for each in used), at_ms, at_ms)
    return is_used_up or _may_be_full(server, run, at_ms)


def _faults(server: Server, run: Run) -> Iterator[Fault]:
    return (each for each in run.faults if each.kind == FAULT and each.server == server.name)


def _may_be_full(server: Server, run: Run, at_ms: int) -> bool:
    """Of mail alone, of which no more is there than somebody had begun to send."""
    sent = (each for to in run.traffic.under_way.values() for each in to)
    mail = sum(each.size_bytes for each in sent if each.at.lo <= at_ms)
    return server.limits.may_be_short(mail)


def _used_up(fault: Fault, server: Server, run: Run) -> Iterator[Case]:
    """By when it was at the level that is called for, and by when it was not any more."""
    outage, thresholds = fault.outage, server.limits.thresholds[DISK]
    percent = fault.planned.keys.get("percent") or 0
    if outage is None or outage.certain is None or percent < thresholds.low_to_medium:
        return
    level = HIGH if percent >= thresholds.medium_to_high else MEDIUM
    late_ms = server.limits.interval_ms + 2 * server.slack_ms
    since_ms, until_ms = outage.certain
    is_away = bool(server.out(outage.possible.lo, outage.possible.hi + late_ms))
    is_shown = server.shows(outage.possible.lo, outage.possible.hi + late_ms)
    reached = [each.certain.lo for each in server.pressure if each.level == level]
    came = min((at for at in reached if since_ms <= at), default=None)
    if since_ms + late_ms <= until_ms:
        yield from asked(
            response(came, since_ms + late_ms, until_ms, is_excused=is_away, is_shown=is_shown),
            f"{fault.id} at {server.name}", REQUIRED,
            f"{percent} % of the volume of {server.name} were in use since {stamp(since_ms)}, and "
            f"its level of back pressure is not {LEVELS[level]}",
            since_ms, server=server.name,
        )  # fmt: skip
    others = [each for each in _faults(server, run) if each is not fault and each.outage]
    over_ms = outage.possible.hi + late_ms
    is_free = not _may_be_full(server, run, over_ms) and not any(
        each.outage.possible.touches(outage.possible.hi, outage.possible.hi + late_ms)
        for each in others
        if each.outage
    )
    disk = [row for row in run.said(EVENT) if row.server == server.name and row.resource == DISK]
    levels = [row.to for row in disk if (row.at_ms or 0) <= over_ms]
    is_over = not levels or levels[-1] == LEVELS[NORMAL]
    yield from asked(
        response(over_ms if is_over else None, over_ms, run.end_ms,
                 is_excused=is_away or not is_free, is_shown=is_shown),
        f"{fault.id} at {server.name}", REQUIRED,
        f"{server.name} has room again since {stamp(outage.possible.hi)}, and is still under back "
        "pressure", over_ms, *disk[-1:], server=server.name,
    )  # fmt: skip


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        yield from _from_outside(each, run)
        yield from _of_servers(each, run)
        for row in each.of_event("DEFER"):
            if REFUSAL in (row.context or ""):
                yield from _put_off(row, run)


def _from_outside(message: Message, run: Run) -> Iterator[Case]:
    for each in message.attempts:
        server = run.servers.get(each.server)
        # what goes into an Outbox, Transport has yet to take
        if message.is_internal or server is None or None in (each.started_ms, each.ended_ms):
            continue
        assert each.started_ms is not None
        assert each.ended_ms is not None
        if server.surely_presses(MEDIUM, each.started_ms, each.ended_ms):
            status, detail = fits(_answered(each, server))
            subject = f"{message.message_id}, attempt {each.number}"
            yield from asked(status, subject, REQUIRED, detail, each.ended_ms, each,
                             server=server.name)  # fmt: skip


def _answered(attempt: Attempt, server: Server) -> str:
    """What does not fit, or the empty text."""
    reply = attempt.reply or ""
    if attempt.outcome == "ok":
        return _taken(server, "mail from outside")
    is_of_its_own = reply.startswith(_OF_ITS_OWN)
    is_for_good = reply.startswith("5") and not is_of_its_own
    return f"{server.name} refused it for good under back pressure: {reply}" if is_for_good else ""


def _of_servers(message: Message, run: Run) -> Iterator[Case]:
    """What other servers brought, and what its Safety Nets gave back: nothing, at such a level."""
    taken = [(row, row.server, MEDIUM, "a shadow message") for row in message.of_event("HARECEIVE")]
    taken += [
        (row, row.server, MEDIUM, "a message of its Safety Net")
        for row in message.of_event("RESUBMIT")
        if row.source == SAFETY_NET
    ]
    taken += [(h.row, h.peer, HIGH, "mail of a server") for h in crossings(message, run)]
    for row, name, level, what in taken:
        server = run.servers.get(name)
        if server is not None and server.pressure:
            is_wrong = server.surely_presses(level, row.at_ms, row.at_ms)
            status, detail = fits(_taken(server, what) if is_wrong else "")
            required = ("TL-8", "SN-19") if row.event == "RESUBMIT" else REQUIRED
            yield from asked(status, message.message_id, required, detail, row.at_ms, row,
                             server=name)  # fmt: skip


def _taken(server: Server, what: str) -> str:
    return f"{server.name} took {what} while it was under back pressure"


def _put_off(row: TrackingRow, run: Run) -> Iterator[Case]:
    from_ms = row.at_ms - run.servers[row.server].slack_ms if row.server in run.servers else 0
    may_be = any(each.may_press(HIGH, from_ms, row.at_ms) for each in run.servers.values())
    refused = f"a server refused {row.server} under back pressure, and none was at the high level"
    status, detail = fits("" if may_be else refused)
    yield from asked(status, row.message_id or "", REQUIRED, detail, row.at_ms, row)


CLAIM = Claim(
    "back_pressure_kept",
    ("TL-8", "SN-19"),
    needs=frozenset({LIFECYCLE, TRACKING}),
    of_message=_of_message,
    of_server=_of_server,
)
