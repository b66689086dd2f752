"""Since when nobody has asked for a discard notification, and so by when it is dropped.

One that was asked for stays until the shadow server confirms it with its next question (SM-16),
which it may have no cause to ask; or until the one after that, where a fault kept it from taking in
the answer. What is not confirmed is dropped when nobody has asked for it for so long (SM-11). Who
has no answer may have asked all the same, in a session that stood, and so may who left a hole in
its log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from spark_eval.expected.shadow.shadow_copies import exchange_ms
from spark_eval.histories.pairs import FOR_MESSAGES, Contact, turns_between
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS
from spark_eval.read.rows import QueueRow, collected

# rows of one input stand closer together than this
TOGETHER_MS = 1_000


def last_asked_ms(entry: QueueRow, since_ms: int, run: Run) -> int:
    """When its shadow server last asked, or may have; `since_ms`, when it was made, where nobody
    did, and of one that is surely confirmed.
    """
    name = ((entry.shadow_server or "").lower(), entry.server)
    contacts = run.pairs.between(*name).questions.contacts
    answered = turns_between(contacts, since_ms, FOREVER_MS)
    if _is_confirmed(answered, since_ms, run):
        return since_ms
    shadow = run.servers.get(name[0])
    holes = shadow.holes if shadow else ()
    times = [since_ms, *unanswered(run).get(name, [])]
    times += [each.at_ms for each in answered]
    times += [each.hi for each in holes]
    return max(times)


def _is_confirmed(answered: Sequence[Contact], since_ms: int, run: Run) -> bool:
    """Two questions a heartbeat apart when no fault is left: one gets it and the other confirms it;
    one that was answered just before the message was done gets nothing, or what was done before it.
    """
    heartbeat_ms, calm_ms = run.config.heartbeat_ms, _calm_ms(run)
    gets_ms = [
        each.at_ms
        for each in answered
        if each.at_ms >= calm_ms
        and (
            (each.notifications and each.at_ms >= since_ms + exchange_ms(run))
            or each.at_ms >= since_ms + heartbeat_ms
        )
    ]
    return bool(gets_ms) and max(gets_ms) - min(gets_ms) > heartbeat_ms


def _calm_ms(run: Run) -> int:
    """From when on no fault is left."""
    return max((fault.over_ms for fault in run.faults), default=0)


@lru_cache(maxsize=1)
def unanswered(run: Run) -> dict[tuple[str, str], list[int]]:
    """By asking and asked server, when a question was given up: a heartbeat, in a session that had
    stood, or the first question of a session for messages.
    """
    return collected(_given_up(run))


def _given_up(run: Run) -> Iterator[tuple[tuple[str, str], int]]:
    for server, session in run.sessions:
        if session.ended is None or session.gave_up is None:
            continue
        name, at_ms = (server, session.ended.peer or ""), session.ended.at_ms
        if session.is_known_to_stand:
            failed = run.pairs.between(*name).questions.failed
            near = turns_between(failed, at_ms - TOGETHER_MS + 1, at_ms + TOGETHER_MS - 1)
            yield from ((name, each.at_ms) for each in near)
        waited = len(session.rows) == 3 and session.ended.said.startswith("Messages: 0 ")
        if waited and session.purpose in FOR_MESSAGES:
            yield name, at_ms
