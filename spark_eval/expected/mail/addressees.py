"""Whom a message is for: whom its envelope names, and whom the groups among them stand for, when a
server comes to answer for it (TP-5, RT-6, SN-11).

That is when it receives the message, and again when it promotes a shadow, or resubmits one from a
Shadow Safety Net: these have the envelope as first received. Where a group changes at that moment
some addressees are certain and others possible; of those the server answers for whom its rows name.
A group that another server expands is one of those for whom a server answers, and no addressee: its
members are, as they are when that server expands it. Whoever promotes a message, or gives it back,
expands for its primary server, too (RT-3).
Without groups everybody whom an envelope names is an addressee, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.acknowledged import acknowledged_primary
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.groups import Expansion, Servers
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Key, Primary, key_of
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow


class Addressee(NamedTuple):
    """`through`: the group that led to him; None of one who is named himself. `is_sure`: whatever a
    change under way had come to.
    """

    through: str | None
    is_sure: bool


Addressees = Mapping[str, Addressee]


def addressees_at(
    names: Iterable[str],
    server: Server | None,
    start_ms: int,
    end_ms: int,
    run: Run,
    by: Servers = None,
) -> Addressees:
    """Of an envelope that was resolved at some moment of [start, end]; `by`: for which servers,
    None for all.
    """
    if not run.groups:
        return {name: Addressee(None, True) for name in names}
    return _addressees(run.groups.expansions(names, server, start_ms, end_ms, by))


def _addressees(possible: Sequence[Expansion]) -> Addressees:
    found: dict[str, Addressee] = {}
    for each in possible:
        for who, through in each.through.items():
            is_sure = all(who in other.through for other in possible)
            found.setdefault(who, Addressee(through, is_sure))
    return found


def expansions_of(primary: Primary, message: Message, run: Run) -> list[Expansion]:
    """What the names in the envelope of a primary message may have stood for at its server."""
    server, span = run.servers.get(primary.key.server), _taken(primary, message, run)
    return [
        expansion
        for by in _acted_for(primary, message)
        for expansion in run.groups.expansions(primary.recipients, server, *span, by)
    ]


def _acted_for(primary: Primary, message: Message) -> list[frozenset[str]]:
    """For which servers its own may have expanded its groups: where only a LOAD says that it was
    there, nobody knows whether it was promoted.
    """
    own, born = primary.key.server, primary.born
    if born is not None:
        former = born.primary_server if primary.is_promoted else None
        return [frozenset({own, former or own})]
    held = {key.primary.server for key in message.shadows if key.server == own}
    return [frozenset({own, former}) for former in sorted({own, *held})]


def resolved(primary: Primary, message: Message, run: Run) -> Addressees:
    """For whom the server of a primary message has to answer, groups among them that others
    expand.
    """
    if not run.groups:
        return {name: Addressee(None, True) for name in primary.recipients}
    return _addressees(expansions_of(primary, message, run))


def _taken(primary: Primary, message: Message, run: Run) -> tuple[int, int]:
    """When its server resolved its envelope; where only a LOAD says that it was there, at any time
    before.
    """
    if primary.born is None:
        end_ms = primary.loaded.at_ms if primary.loaded else 0
        return (message.sent.submitted_ms if message.sent else 0), end_ms
    server, at_ms = run.servers.get(primary.key.server), primary.born.at_ms
    return resolved_in(server, at_ms) if server is not None else (at_ms, at_ms)


def resolved_in(server: Server, at_ms: int) -> tuple[int, int]:
    """When a server resolved what it logged at that time: shortly before. What a pause holds up is
    logged when it is over.
    """
    start_ms = at_ms - server.slack_ms
    paused = [each.outage.possible for each in server.downs if each.kind == "pause"]
    begun = [each.lo - server.slack_ms for each in paused if each.touches(start_ms, at_ms)]
    return min([start_ms, *begun]), at_ms + server.slack_ms


def resolved_at(row: TrackingRow, run: Run) -> tuple[int, int]:
    """The same of a row."""
    server = run.servers.get(row.server)
    return (row.at_ms, row.at_ms) if server is None else resolved_in(server, row.at_ms)


@lru_cache(maxsize=8)
def answered_for(message: Message, run: Run) -> Mapping[Key, tuple[str, ...]]:
    """For whom the server of each primary message answers: those who are certain, and of the others
    whom its rows name.
    """
    if not run.groups:
        return {key: each.recipients for key, each in message.primaries.items()}
    named: dict[Key, set[str]] = {}
    for row in message.tracking:
        if row.event not in _OF_ENVELOPE and (key := key_of(row)) is not None:
            named.setdefault(key, set()).update(row.recipients or ())
    return {
        key: tuple(
            who
            for who, each in resolved(primary, message, run).items()
            if each.is_sure or who in named.get(key, ())
        )
        for key, primary in message.primaries.items()
    }


# rows that say whom the envelope of a message names
_OF_ENVELOPE = frozenset(
    [
        *("RECEIVE", "LOAD", "HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE", "HADISCARD", "RESUBMIT"),
        *("NOTIFYMAPI", "SUBMIT", "SUBMITDEFER"),
    ]
)


def names_the_envelope(event: str) -> bool:
    """Whether a row of that event names the recipients of an envelope, and not those whom its step
    concerned.
    """
    return event in _OF_ENVELOPE


@lru_cache(maxsize=8)
def addressees(message: Message, run: Run) -> Addressees:
    """Of what the workload sent: of whoever came to answer for it, whenever that was; without such
    a server, of the ledger. In the order of the envelope, those of groups after that.
    """
    if message.sent is None:
        return {}
    names, owners = message.sent.recipients, [e for e in message.primaries.values() if e.is_there]
    if not run.groups:
        return {name: Addressee(None, True) for name in names}
    found: dict[str, Addressee] = {}
    if acknowledged_primary(message) is None:
        ended_ms = message.ok.ended_ms if message.ok else None
        at_ms = message.sent.submitted_ms
        found |= addressees_at(names, None, at_ms, at_ms if ended_ms is None else ended_ms, run)
    for primary in owners:
        for who, each in _served(primary, message, run).items():
            is_sure = each.is_sure or (who in found and found[who].is_sure)
            found[who] = Addressee(found[who].through if who in found else each.through, is_sure)
    named = {who: found[who] for who in names if who in found}
    return {**named, **found}


def _served(primary: Primary, message: Message, run: Run) -> Addressees:
    """The addressees of a primary message: of a group that another server expands its members, as
    long as none has; then they are that one's.
    """
    found = resolved(primary, message, run)
    away = [each for each in found if each in run.groups.servers]
    if not away:
        return found
    here = {who: each for who, each in found.items() if who not in away}
    start_ms, _ = _taken(primary, message, run)
    left = [each for each in away if each not in _expanded(message, run)]
    end_ms = max(start_ms, run.end_ms or start_ms)
    return {**addressees_at(left, None, start_ms, end_ms, run), **here}


@lru_cache(maxsize=8)
def _expanded(message: Message, run: Run) -> frozenset[str]:
    """Groups that a server has expanded that answers for the message."""
    owners = [each for each in message.primaries.values() if each.is_there]
    known = (each for owner in owners for each in expansions_of(owner, message, run))
    return frozenset(group for each in known for group in each.groups)


@lru_cache(maxsize=8)
def handed_on(message: Message, run: Run) -> Mapping[str, frozenset[str]]:
    """Of each group that some server of the message has to hand on, whom it stands for: those of
    its members for whom a server answers, or all of them as long as no server has expanded it.
    """
    if not run.groups.servers:
        return {}
    answered = frozenset().union(*answered_for(message, run).values())
    start_ms = message.sent.submitted_ms if message.sent else 0
    found = {}
    for group in sorted(answered & run.groups.servers.keys()):
        every = addressees_at((group,), None, start_ms, max(start_ms, run.end_ms or 0), run)
        is_expanded = group in _expanded(message, run)
        found[group] = answered & every.keys() if is_expanded else frozenset(every)
    return found


def is_handed_on(group: str, message: Message, run: Run) -> bool:
    return group in handed_on(message, run)


def names_of(recipient: str, message: Message, run: Run) -> tuple[str, ...]:
    """His own, and those of the groups that are handed on for him."""
    groups = (group for group, whom in handed_on(message, run).items() if recipient in whom)
    return (recipient, *groups)


def may_come_apart(recipient: str, message: Message, run: Run) -> bool:
    """Whether several servers may send it to him, each without knowledge of the others: one of them
    answers for him, and others expand groups with him, which is known too late for one copy.
    """
    groups = set(names_of(recipient, message, run)) - {recipient}
    ways = sum(
        bool(groups & set(whom)) + (recipient in whom)
        for whom in answered_for(message, run).values()
    )
    return bool(groups) and ways > 2


def left_unserved(recipient: str, message: Message, run: Run) -> str | None:
    """Why he need not get it who was an addressee: every queue database that answered for him was
    lost, and he was in the group no more when the second copy was categorised anew (SN-11). None
    where that is not so.
    """
    if message.sent is None or not run.groups:
        return None
    owners = [key for key, whom in answered_for(message, run).items() if recipient in whom]
    lost = [
        run.servers[key.server].lost_ms(key.database_id) if key.server in run.servers else None
        for key in owners
    ]
    times = [each for each in lost if each is not None]
    if not owners or len(times) < len(lost):
        return None
    since_ms, end_ms = max(times), run.end_ms or max(times)
    now = addressees_at(message.sent.recipients, None, since_ms, end_ms, run).get(recipient)
    if now is not None and now.is_sure:
        return None
    group = addressees(message, run)[recipient].through
    held_by = " and ".join(sorted({key.server for key in owners}))
    return f"left {group} before what {held_by} lost was categorised anew"
