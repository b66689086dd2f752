"""Who ever held a message durably, and which of those stores were lost.

A custodian is a queue database, not a server: a server that returns with a new one has lost all it
held (SM-17). Answers one question: was the loss of a message beyond what is promised (SM-15)? A
shadow message of an attempt that its primary server refused in the end stands for nothing: nobody
was promised anything, and its primary server is there to say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from spark_eval.expected.mail.addressees import answered_for, names_of
from spark_eval.expected.mail.crossings import crossings
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, Primary, key_of
from spark_eval.histories.run import Run

Store = tuple[str, str]


class Custodians(NamedTuple):
    """Stores by (server, database id); `unprotected`: some server took it without a shadow."""

    stores: frozenset[Store]
    lost: frozenset[Store]
    unprotected: bool

    @property
    def servers(self) -> list[str]:
        return sorted({server for server, _ in self.stores})

    @property
    def all_lost(self) -> bool:
        """Of those that there were, every one."""
        return bool(self.stores) and self.lost == self.stores


def custodians(message: Message, run: Run) -> Custodians:
    """Of nobody at all where no server logged that it had the message."""
    return _of(
        {key: each for key, each in message.primaries.items() if each.is_there}, message, run
    )


def custodians_for(recipient: str, message: Message, run: Run) -> Custodians:
    """Those who had it for him. Where a group is handed on they are others for each group: who
    answered neither for him nor for a group that stands for him is none, nor who has handed him on.
    """
    names, whom = set(names_of(recipient, message, run)), answered_for(message, run)
    on = {
        (key_of(hop.row), name)
        for hop in crossings(message, run)
        for name in hop.row.recipients or ()
    }
    owned = {
        key: each
        for key, each in message.primaries.items()
        if each.is_there and any((key, name) not in on for name in names & set(whom[key]))
    }
    return _of(owned, message, run)


def _of(owned: Mapping[Key, Primary], message: Message, run: Run) -> Custodians:
    stores = {(key.server, key.database_id) for key in owned}
    for key, shadow in message.shadows.items():
        if shadow.held is not None and key.primary in owned:
            stores.add((key.server, shadow.held.database_id or ""))
    return Custodians(
        frozenset(stores),
        frozenset(store for store in stores if _is_lost(store, run)),
        any(each.failure is not None for each in owned.values()),
    )


def _is_lost(store: Store, run: Run) -> bool:
    server = run.servers.get(store[0])
    return server is not None and server.lost_ms(store[1]) is not None
