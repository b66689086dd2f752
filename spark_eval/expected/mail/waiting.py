"""Sessions that were opened for a delivery and given up before they stood, while a message waited
for the server that was called. Sums: parts of a run's mail add up to the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import EXTERNAL, Server
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run, Wait
from spark_eval.read.names import Ref
from spark_eval.read.rows import collected


class GivenUp(NamedTuple):
    """A session that was opened for a delivery to a server that alone could be tried, and that
    never stood.
    """

    session: str
    peer: str
    opened_ms: int
    at_ms: int
    reason: str
    ref: Ref


@lru_cache(maxsize=1)
def given_up(run: Run) -> dict[str, list[GivenUp]]:
    """By the server that gave them up."""
    return collected(_given_up(run))


def _given_up(run: Run) -> Iterator[tuple[str, GivenUp]]:
    for server, session in run.sessions:
        opened, ended, reason = session.opened, session.ended, session.gave_up
        if opened is None or ended is None or reason is None or session.is_known_to_stand:
            continue
        peer = ended.peer or ""
        if session.purpose == "delivery" and peer in _alone(run).get(server, ()):
            yield (
                server,
                GivenUp(ended.session, peer, opened.at_ms, ended.at_ms, reason, ended.ref),
            )


@lru_cache(maxsize=1)
def _alone(run: Run) -> dict[str, frozenset[str]]:
    """By server, those that are the only one that it can try for a message: of its own boundary,
    without a copy of a database that has others, or the one outside of its domain.
    """
    movable = {copy for name in run.active_copies for copy in run.databases[name].copies}
    domains = Counter(each.domain for each in run.servers.values() if each.role == EXTERNAL)
    return {
        server.name: frozenset(
            peer.name
            for peer in run.servers.values()
            if peer.name not in movable and _is_alone(server, peer, domains)
        )
        - _stand_ins(server, run)
        for server in run.servers.values()
        if server.is_mailbox
    }


def _stand_ins(server: Server, run: Run) -> frozenset[str]:
    """Those that it tries in turn for a group: they lie on the way to its expansion server."""
    ways = (run.routing.way(server, group, None) for group in run.groups.servers)
    return frozenset(
        name for way in ways if way is not None and len(way.servers) > 1 for name in way.servers
    )


def _is_alone(server: Server, peer: Server, domains: Counter[str | None]) -> bool:
    if peer.role == EXTERNAL:
        return domains[peer.domain] == 1
    return peer.is_mailbox and peer.boundary == server.boundary


def waits(messages: Iterable[Message], run: Run) -> dict[Ref, Wait]:
    """By the end of a session that was given up, a message that waited for its server all the
    while: it came before, and was sent there afterwards.
    """
    found: dict[Ref, Wait] = {}
    if given_up(run):
        for message in messages:
            for each in message.with_dsns:
                for server, peer, wait in _waits(each):
                    for session in given_up(run).get(server, ()):
                        is_there = wait.since_ms <= session.opened_ms
                        if session.peer == peer and is_there and wait.sent_ms >= session.at_ms:
                            found[session.ref] = max(found.get(session.ref, wait), wait)
    return found


def _waits(message: Message) -> Iterator[tuple[str, str, Wait]]:
    for row in message.of_event("SEND"):
        key = key_of(row)
        primary = message.primaries.get(key) if key is not None else None
        came = (primary.born or primary.loaded) if primary else None
        if came is not None:
            wait = Wait(row.at_ms, came.at_ms, message.message_id, came.ref, row.ref)
            yield row.server, row.peer or "", wait
