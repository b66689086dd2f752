"""What the store of a server itself showed of a shadow message, by LOAD after a restart or by its
listing at the end: still there, let go into Shadow Safety Net, or promoted.

A server may have a message under its network message id several times: as the shadow message, as a
fork that came back over a boundary, as what Safety Net gave back (TL-3). Each has an internal id of
its own there, and rows say of most of them what they are. What no row names, since a kill swallowed
it, may be any of those whose own row is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import Shadow, ShadowKey, shadow_key_of
from spark_eval.read.rows import QueueRow, TrackingRow


class Kept(NamedTuple):
    """As a shadow message, as the primary one that it became (`loaded_ms`, when first), let go."""

    as_shadow: bool = False
    as_primary: bool = False
    loaded_ms: int | None = None
    in_safety_net: bool = False

    def with_(self, other: Kept) -> Kept:
        times = [each for each in (self.loaded_ms, other.loaded_ms) if each is not None]
        return Kept(
            self.as_shadow or other.as_shadow,
            self.as_primary or other.as_primary,
            min(times, default=None),
            self.in_safety_net or other.in_safety_net,
        )


NOT_KEPT = Kept()


class _Shown(NamedTuple):
    """One message in one store: `key` of it there, None where that is not known; `shadow`: which
    shadow message it is or was, None where no row says so; `is_other`: some row says that it is
    none.
    """

    name: str
    key: Key | None
    shadow: ShadowKey | None
    is_other: bool
    kept: Kept


def kept_of(message: Message, shadow: Shadow, run: Run) -> Kept:
    name, found = network_message_id(shadow), NOT_KEPT
    for shown in _shown(message, run).get(shadow.key.server, ()):
        if shown.name == name and _may_be(shown, shadow):
            found = found.with_(shown.kept)
    return found


def network_message_id(shadow: Shadow) -> str | None:
    rows = (shadow.claimed, shadow.held, shadow.discard, shadow.promoted)
    names = (row.network_message_id for row in rows if row is not None)
    return max((name for name in names if name is not None), default=None)


def _may_be(shown: _Shown, shadow: Shadow) -> bool:
    if shown.shadow is not None or shown.is_other:
        return shown.shadow == shadow.key
    own = shadow.held if shown.kept.as_shadow else shadow.promoted
    return own is None or shown.key is None


@lru_cache(maxsize=4)
def _shown(message: Message, run: Run) -> dict[str, list[_Shown]]:
    """By server."""
    names, found = _names(message), dict[str, list[_Shown]]()
    for row in message.of_event("LOAD"):
        if row.network_message_id is not None:
            found.setdefault(row.server, []).append(_loaded(row, names))
    for entry in message.queued:
        if entry.queue != "discard" and entry.network_message_id is not None:
            found.setdefault(entry.server, []).append(_listed(entry, names, run))
    return found


def _names(message: Message) -> dict[Key, ShadowKey | None]:
    """Which shadow message each is or was that rows speak of; None of what was none."""
    return dict(_named(message))


def _named(message: Message) -> Iterator[tuple[Key, ShadowKey | None]]:
    for key, primary in message.primaries.items():
        if primary.born is not None:
            yield key, shadow_key_of(primary.born) if primary.is_promoted else None
    for row in message.of_event("HARECEIVE", "LOAD"):
        if (key_there := key_of(row)) is not None and (shadow_key := shadow_key_of(row)):
            yield key_there, shadow_key


def _loaded(row: TrackingRow, names: dict[Key, ShadowKey | None]) -> _Shown:
    key, is_shadow = key_of(row), row.context == "shadow"
    kept = Kept(is_shadow, not is_shadow, None if is_shadow else row.at_ms)
    return _of(row.network_message_id or "", key, kept, names)


def _listed(entry: QueueRow, names: dict[Key, ShadowKey | None], run: Run) -> _Shown:
    """It has the queue database that its server had last."""
    server, is_shadow = run.servers.get(entry.server), entry.queue.startswith("shadow")
    database_id = "" if server is None else server.last_database_id
    key = None
    if entry.internal_id is not None:
        key = Key(entry.server, database_id, entry.internal_id)
    kept = Kept(is_shadow, not is_shadow, None, entry.queue == "shadow-safety-net")
    return _of(entry.network_message_id or "", key, kept, names)


def _of(name: str, key: Key | None, kept: Kept, names: dict[Key, ShadowKey | None]) -> _Shown:
    known = None if key is None else names.get(key)
    return _Shown(name, key, known, key in names and known is None, kept)
