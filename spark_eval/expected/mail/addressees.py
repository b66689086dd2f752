"""Whom a message is for: whom its envelope names, and whom the groups among them stand for, when a
server comes to answer for it (TP-5, RT-6, SN-11).

That is when it receives the message, and again when it promotes a shadow, or resubmits one from a
Shadow Safety Net: these have the envelope as first received. Where a group changes at that moment
some addressees are certain and others possible; of those the server answers for whom its rows name.
Without groups everybody whom an envelope names is an addressee, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.acknowledged import acknowledged_primary
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.groups import Expansion
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
    names: Iterable[str], server: Server | None, start_ms: int, end_ms: int, run: Run
) -> Addressees:
    """Of an envelope that was resolved at some moment of [start, end]."""
    if not run.groups:
        return {name: Addressee(None, True) for name in names}
    possible = run.groups.expansions(names, server, start_ms, end_ms)
    found: dict[str, Addressee] = {}
    for each in possible:
        for who, through in each.through.items():
            is_sure = all(who in other.through for other in possible)
            found.setdefault(who, Addressee(through, is_sure))
    return found


def expansions_of(primary: Primary, message: Message, run: Run) -> list[Expansion]:
    """What the names in the envelope of a primary message may have stood for."""
    server, (start_ms, end_ms) = run.servers.get(primary.key.server), _taken(primary, message, run)
    return run.groups.expansions(primary.recipients, server, start_ms, end_ms)


def resolved(primary: Primary, message: Message, run: Run) -> Addressees:
    """The addressees of a primary message."""
    server, (start_ms, end_ms) = run.servers.get(primary.key.server), _taken(primary, message, run)
    return addressees_at(primary.recipients, server, start_ms, end_ms, run)


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
        for who, each in resolved(primary, message, run).items():
            is_sure = each.is_sure or (who in found and found[who].is_sure)
            found[who] = Addressee(found[who].through if who in found else each.through, is_sure)
    named = {who: found[who] for who in names if who in found}
    return {**named, **found}


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
