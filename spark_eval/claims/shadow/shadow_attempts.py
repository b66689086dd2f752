"""shadow_attempts: whoever could make no shadow, or made it late, tried as SR-3 and SR-4 say, and a
fault was in the way of each attempt that failed (SR-1, SR-5): that the server which was asked is
primary for other messages is none (SM-14).

Asks every failure to make a shadow (HAREDIRECTFAIL), whether the message was accepted then or
rejected, and every shadow that stands after some attempts failed. An attempt goes to a server of
the boundary, to no more than are allowed, and to each again only where none is untried. Real
servers do not say whom they tried: then nothing is known of their attempts, and they are not asked.

A share of the sender's session is a wall second or two on containers, and a machine that has too
much to do may stand still for as long: whether somebody who was silent for it was in trouble is
asked in the simulator alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import bound
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.placement import Rules, rules
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.names import short_name
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

# `server: reason; server: reason`
_NAME = re.compile(r"(?:^|; ?)([A-Za-z0-9][A-Za-z0-9.-]*): ")
NO_ANSWER = "no answer in its share of the session"
_OUTCOMES = (None, "accepted", "rejected")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for row in each.of_event("HAREDIRECTFAIL"):
            rule = rules(run).get(row.server)
            if row.outcome in _OUTCOMES and run.config.enabled and rule is not None:
                yield from _failed(each, row, rule, run)
        for primary in each.primaries.values():
            made, rule = primary.redirect, rules(run).get(primary.key.server)
            if made is not None and rule is not None and (made.attempts or 0) > 1:
                yield from _late(each, made, rule, run)


def tried_by(row: TrackingRow) -> list[str]:
    """The servers at which attempts failed, in order, by its source-context."""
    return [short_name(name) or "" for name in _NAME.findall(row.context or "")]


def _failed(message: Message, row: TrackingRow, rule: Rules, run: Run) -> Iterator[Case]:
    tried = tried_by(row)
    if not tried and row.attempts is None:
        # a real server says "No suitable shadow servers", and of how many nobody knows
        return
    wrong, unprovoked = _wrong(row, tried, rule, run), _unprovoked(row, tried, run)
    if not wrong and unprovoked:
        wrong = (
            f"{row.server} says that an attempt at {', '.join(unprovoked)} failed, and no fault "
            "was in the way"
        )
    requirements = ("SR-3", "SR-4", "SM-14", *(("SR-1", "SR-5") if unprovoked else ()))
    status, detail = fits(wrong)
    yield from asked(
        status, message.message_id, requirements, detail, row.at_ms, row, weight=row.attempts or 0,
        server=row.server,
    )  # fmt: skip


def _wrong(row: TrackingRow, tried: list[str], rule: Rules, run: Run) -> str:
    preference, names = rule.preference, ", ".join(tried)
    remotes = [name for name in tried if name in rule.remotes]
    locals_ = [name for name in tried if name in rule.locals]
    if len(remotes) + len(locals_) < len(tried):
        return f"tried outside the boundary: {names}"
    most = rule.remote_attempts + rule.local_attempts
    is_over = len(remotes) > rule.remote_attempts or len(locals_) > rule.local_attempts
    if is_over or (row.attempts or 0) > most:
        return f"more attempts than {preference} allows: {names}"
    if _again(remotes, rule.remotes) or _again(locals_, rule.locals):
        return f"tried one twice while others were untried: {names}"
    allowed = (rule.remote_attempts if rule.remotes else 0) + (
        rule.local_attempts if rule.locals else 0
    )
    if len(tried) < allowed:
        return f"gave up after {len(tried)} attempts; {preference} allows {allowed}"
    return ""


def _again(tried: list[str], members: frozenset[str]) -> bool:
    return len(set(tried)) < min(len(tried), len(members))


def _unprovoked(row: TrackingRow, tried: list[str], run: Run) -> list[str]:
    """Servers at which an attempt failed without a fault."""
    return sorted({peer for peer in tried if not _is_hard_to_reach(row, peer, run)})


def _is_hard_to_reach(row: TrackingRow, peer: str, run: Run) -> bool:
    may_stand_still = not run.is_simulated and peer in _silent(row)
    return may_stand_still or _is_in_trouble(row, peer, run)


def _silent(row: TrackingRow) -> list[str]:
    """The servers that had not answered in time."""
    named = [each.partition(": ") for each in (row.context or "").split("; ")]
    failed = [short_name(name) or "" for name, _, reason in named if reason == NO_ANSWER]
    return [*failed, *(row.silent or "").split()]


def _is_in_trouble(row: TrackingRow, peer: str, run: Run) -> bool:
    """Whether a fault was in the way to `peer` when the row was written, or for as long before as
    all attempts that it counts may have taken, while a session stood. Attempts take longer where
    they wait for one of few sessions (MaxPerDomainOutboundConnections): then it was in the way of a
    session to `peer` that was lost.
    """
    config = run.servers[row.server].config
    troubles = [each.at for each in run.ways.troubles(row.server, peer)]
    most_ms = max(config.session_ms, config.timeout_ms)
    took_ms = min(max(row.attempts or 1, 1) * config.timeout_ms, most_ms)
    if any(each.touches(row.at_ms - took_ms, row.at_ms) for each in troubles):
        return True
    return any(
        each.touches(lost_ms - config.timeout_ms, lost_ms)
        for lost_ms in run.lost_sessions.get((row.server, peer), ())
        if row.at_ms - most_ms <= lost_ms <= row.at_ms
        for each in troubles
    )


def _late(message: Message, made: TrackingRow, rule: Rules, run: Run) -> Iterator[Case]:
    """At least so many servers were hard to reach, since each attempt goes to another one while
    there is one in its site.
    """
    failed = (made.attempts or 1) - 1
    remote = min(failed, rule.remote_attempts if rule.remotes else 0)
    at_least = min(remote, len(rule.remotes)) + min(failed - remote, len(rule.locals))
    hard = sum(_is_hard_to_reach(made, peer, run) for peer in rule.members)
    detail = (
        f"{made.server} says that {failed} attempts failed, and a fault was in the way of {hard} "
        "servers"
    )
    yield from asked(
        bound(hard, at_least, None), message.message_id, ("SR-3",), detail, made.at_ms, made,
        weight=made.attempts or 0, server=made.server,
    )  # fmt: skip


CLAIM = Claim(
    "shadow_attempts",
    ("SR-1", "SR-3", "SR-4", "SR-5", "SM-14"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
)
