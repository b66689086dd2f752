"""A shadow message: a copy held, or said to be held, for a primary server.

The key is (shadow server, primary server, its database id, its internal id). Four voices speak of a
copy: the primary that says it made it (HAREDIRECT), the shadow server that took it (HARECEIVE), let
it go (HADISCARD), or promoted it (RESUBMIT). What they agree on is for the claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.histories.primary import REDUNDANCY, Key, order_of
from spark_eval.read.rows import TrackingRow

LOAD = "LOAD"


class ShadowKey(NamedTuple):
    """`primary` is the message that it is a copy of."""

    server: str
    primary: Key


@dataclass(slots=True)
class Shadow:
    """Rows about it, each the first of its kind but `loaded`; `promotions`, how many RESUBMIT rows
    it has.
    """

    key: ShadowKey
    claimed: TrackingRow | None = None
    held: TrackingRow | None = None
    discard: TrackingRow | None = None
    promoted: TrackingRow | None = None
    promotions: int = 0
    loaded: TrackingRow | None = None

    @property
    def internal_id(self) -> str | None:
        """Its own at its server, where a row says it: a kill may have swallowed the first."""
        row = self.held or self.loaded
        return row.internal_id if row else None


def is_promotion(row: TrackingRow) -> bool:
    return row.event == "RESUBMIT" and row.source == REDUNDANCY


def shadows_of(rows: Sequence[TrackingRow]) -> dict[ShadowKey, Shadow]:
    """Of the rows of one message, in any order. That one was loaded after a restart is no row about
    one that nobody else speaks of.
    """
    found: dict[ShadowKey, Shadow] = {}
    for row in sorted(rows, key=order_of):
        if row.event != LOAD and (key := shadow_key_of(row)) is not None:
            _take(found.setdefault(key, Shadow(key)), row)
    for row in rows:
        key = shadow_key_of(row)
        if row.event == LOAD and key is not None and key in found:
            found[key].loaded = row
    return found


def shadow_key_of(row: TrackingRow) -> ShadowKey | None:
    """Of the shadow message that a row is about; None where it is about none, or names none."""
    if row.event == "HAREDIRECT":
        if row.internal_id is None or row.shadow_server is None:
            return None
        primary = Key(row.server, row.database_id or "", row.internal_id)
        return ShadowKey(row.shadow_server, primary)
    if row.event in ("HARECEIVE", "HADISCARD", LOAD) or is_promotion(row):
        if row.primary_internal_id is None:
            return None
        database_id = row.primary_database_id or ""
        primary = Key(row.primary_server or "", database_id, row.primary_internal_id)
        return ShadowKey(row.server, primary)
    return None


def _take(shadow: Shadow, row: TrackingRow) -> None:
    if row.event == "HAREDIRECT":
        shadow.claimed = shadow.claimed or row
    elif row.event == "HARECEIVE":
        shadow.held = shadow.held or row
    elif row.event == "HADISCARD":
        shadow.discard = shadow.discard or row
    else:
        shadow.promoted = shadow.promoted or row
        shadow.promotions += 1
