"""queues_shown: what a server shows of its queues while it runs is what its tracking log says that
they hold (TL-9), and who holds their shadows is said to have asked when it did (SM-20).

Asks every answer to somebody who looked, by the plan: each queue that has to be in it, how many
messages are in delivery queues, of how many each other server holds the shadow message, how many
are in each shadow queue and in the Primary Safety Net, and how often each step of shadow redundancy
was done since the process began. Each number lies between what certainly was so at that moment and
what possibly was. A delivery queue is shown from its first message until it was empty for
QueueMaxIdleTime, and no longer. And the levels of back pressure are those of the lifecycle log, the
last question of a shadow server that of its own log.

Not asked: near a hole of the log, or of what a server kept over a restart that its log does not
have; how many copies a Shadow Safety Net holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.node.queues_there import ANY
from spark_eval.expected.node.shown_queues import (
    COUNTED,
    DELIVERY,
    MESSAGES,
    SAFETY_NET,
    SHADOW,
    SHADOWED_BY,
    Look,
    held_of_probes,
    looks,
)
from spark_eval.expected.totals import Totals
from spark_eval.histories.organisation.pressure import HIGH, LEVELS, MEDIUM
from spark_eval.histories.pairs import Questions
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE, TRACKING

REQUIRED = ("TL-9",)
Counts: TypeAlias = Mapping[tuple[str, str, str], tuple[int, int]]
"""By look, kind and name of a queue: how many surely, and how many perhaps."""
ALWAYS = (MESSAGES, "submission", SAFETY_NET, "shadow-safety-net")


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    held = _with_probes(totals, run)
    for look in looks(run):
        since_ms = look.server.life_at(look.at.lo) or 0
        if not look.server.shows(since_ms, look.at.hi + look.slack_ms):
            continue
        yield from _whole(look)
        yield from _asked(look, run)
        yield from _there(look, held, run)
        for kind, name, shown in _numbers(look, held):
            sure, possible = held.get((look.operation, kind, name), (0, 0))
            what = f"{kind} {name}".strip()
            yield from asked(
                bound(shown, sure, possible), f"{what} of {look.server.name}", REQUIRED,
                f"{look.server.name} showed {shown} of {what} at {stamp(look.at.lo)}; by its log "
                f"there were {sure} to {possible}",
                look.at.lo, weight=abs(shown - sure), server=look.server.name,
            )  # fmt: skip


def _with_probes(totals: Totals, run: Run) -> Counts:
    held = dict(totals.held)
    for item in held_of_probes(run):
        where = item.operation, item.kind, item.name
        sure, possible = held.get(where, (0, 0))
        held[where] = sure + item.is_sure, possible + 1
    return held


def _whole(look: Look) -> Iterator[Case]:
    lengths, wrong = look.lengths or {}, ""
    absent = [kind for kind in ALWAYS if (kind, "") not in lengths]
    delivery = sum(length for (kind, _), length in lengths.items() if kind == "delivery")
    if look.lengths is None:
        wrong = "what nobody can read"
    elif absent:
        wrong = f"no {absent[0]}"
    elif delivery < lengths[MESSAGES, ""] - lengths["submission", ""] - _ending(look):
        wrong = f"{lengths[MESSAGES, '']} messages and {delivery} of them in queues"
    status, detail = fits(wrong and f"{look.server.name} showed {wrong} at {stamp(look.at.lo)}")
    subject = f"{look.operation} at {look.server.name}"
    yield from asked(status, subject, REQUIRED, detail, look.at.lo, server=look.server.name)
    for resource, level in look.figures.items():
        if level in LEVELS:
            status, detail = fits(_wrong_level(look, resource, level))
            yield from asked(status, f"{resource} of {look.server.name}", REQUIRED, detail,
                             look.at.lo, server=look.server.name)  # fmt: skip


def _asked(look: Look, run: Run) -> Iterator[Case]:
    """The last question of each server that holds shadow messages of what is in its queues."""
    for kind, name in look.lengths or ():
        other = run.servers.get(name)
        if kind != SHADOWED_BY or other is None:
            continue
        begun_ms = look.server.life_at(look.at.lo) or 0
        wrong = run.wrong_clocks
        clocks = [*wrong.get(look.server.name, ()), *wrong.get(name, ())]
        if not other.shows(begun_ms, look.at.hi) or touches(clocks, begun_ms, look.at.hi):
            continue
        questions = run.pairs.between(name, look.server.name).questions
        status, detail = fits(_wrongly_asked(look, name, questions, begun_ms, slack_ms(run)))
        yield from asked(
            status, f"{name} asked {look.server.name}", ("SM-20",), detail, look.at.lo,
            server=look.server.name,
        )  # fmt: skip


def _there(look: Look, held: Counts, run: Run) -> Iterator[Case]:
    """Each delivery queue that has to be there, or may not be any more."""
    server, idle_ms = look.server, look.server.config.idle_ms
    clocks = run.wrong_clocks.get(server.name, ())
    if touches(clocks, 0, look.at.hi) or touches(server.away(), look.at.lo - idle_ms, look.at.hi):
        return
    shown = {name for kind, name in look.lengths or () if kind == DELIVERY}
    known = {name for at, kind, name in held if (at, kind) == (look.operation, DELIVERY)}
    for name in sorted((shown | known) - {ANY}):
        sure, possible = held.get((look.operation, DELIVERY, name), (0, 0))
        may_be_any = (look.operation, DELIVERY, ANY) in held
        status = bound(int(name in shown), int(sure > 0), int(possible > 0 or may_be_any))
        did = "showed" if name in shown else "did not show"
        was = "was not there any more" if name in shown else "was there"
        detail = f"{server.name} {did} {name} at {stamp(look.at.lo)}; by its log it {was}"
        yield from asked(
            status, f"{name} of {server.name}", REQUIRED, detail, look.at.lo, server=server.name
        )


def _wrongly_asked(look: Look, name: str, questions: Questions, begun_ms: int, late_ms: int) -> str:
    """What does not fit, or the empty text."""
    late_ms += look.slack_ms
    surely = [
        each
        for each in questions.heard
        if begun_ms + late_ms < each.lo and each.hi < look.at.lo - late_ms
    ]
    says = f"{look.server.name} showed at {stamp(look.at.lo)} that {name}"
    if (ago_ms := look.asked.get(name)) is None:
        return f"{says} has not asked; it asked at {stamp(surely[-1].lo)}" if surely else ""
    lo_ms, hi_ms = look.at.lo - ago_ms - late_ms, look.at.hi - ago_ms + late_ms
    if not touches(questions.may_be_heard, lo_ms, hi_ms):
        return f"{says} asked at {stamp(look.at.lo - ago_ms)}, when it did not"
    missed = next((each for each in surely if each.lo > hi_ms), None)
    return "" if missed is None else f"{says} asked last before {stamp(missed.lo)}, when it did"


def _ending(look: Look) -> int:
    """Messages whose last fork is done, and whose end is on its way to the disk, are in none."""
    return max(20, (look.lengths or {}).get((MESSAGES, ""), 0) // 2)


def _wrong_level(look: Look, resource: str, level: str) -> str:
    """What does not fit, or the empty text. The highest of its levels is that of the server."""
    least, server, at = LEVELS.index(level), look.server, look.at
    shown = [LEVELS.index(each) for each in look.figures.values() if each in LEVELS]
    may_be = least == 0 or server.may_press(least, at.lo, at.hi)
    may_be_lower = not any(
        server.surely_presses(each, at.lo, at.hi) for each in (MEDIUM, HIGH) if each > max(shown)
    )
    fits_log = may_be and may_be_lower
    says = f"{server.name} showed {resource} at the level {level} at {stamp(at.lo)}"
    return "" if fits_log else f"{says}; its lifecycle log has another one"


def _numbers(look: Look, held: Counts) -> Iterator[tuple[str, str, int]]:
    lengths = look.lengths or {}
    for kind in (MESSAGES, SAFETY_NET):
        if (kind, "") in lengths:
            yield kind, "", lengths[kind, ""]
    for queue in (SHADOW, SHADOWED_BY):
        named = {
            name for operation, kind, name in held if (operation, kind) == (look.operation, queue)
        }
        for name in sorted(named | {name for kind, name in lengths if kind == queue}):
            yield queue, name, lengths.get((queue, name), 0)
    for event in COUNTED:
        if look.figures.get(event, "").isdecimal():
            yield "figure", event, int(look.figures[event])


CLAIM = Claim(
    "queues_shown", (*REQUIRED, "SM-20"), needs=frozenset({LIFECYCLE, TRACKING}), of_run=_cases
)
