"""A shadow message: a copy held, or said to be held, for a primary server.

The key is (shadow server, primary server, its database id, its internal id). Four voices speak of a
copy: the primary that says it made it (HAREDIRECT), the shadow server that took it (HARECEIVE), let
it go (HADISCARD), or promoted it (RESUBMIT). What they agree on is for the claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.histories.primary import REDUNDANCY, Key, order_of
from spark_eval.read.rows import TrackingRow


class ShadowKey(NamedTuple):
    """`primary` is the message that it is a copy of."""

    server: str
    primary: Key


@dataclass(slots=True)
class Shadow:
    """Rows about it, each the first of its kind; `promotions`, how many RESUBMIT rows it has."""

    key: ShadowKey
    claimed: TrackingRow | None = None
    held: TrackingRow | None = None
    discard: TrackingRow | None = None
    promoted: TrackingRow | None = None
    promotions: int = 0


def is_promotion(row: TrackingRow) -> bool:
    return row.event == "RESUBMIT" and row.source == REDUNDANCY


def shadows_of(rows: Iterable[TrackingRow]) -> dict[ShadowKey, Shadow]:
    """Of the rows of one message, in any order."""
    found: dict[ShadowKey, Shadow] = {}
    for row in sorted(rows, key=order_of):
        if (key := _key_of(row)) is not None:
            _take(found.setdefault(key, Shadow(key)), row)
    return found


def _key_of(row: TrackingRow) -> ShadowKey | None:
    if row.event == "HAREDIRECT":
        if row.internal_id is None or row.shadow_server is None:
            return None
        primary = Key(row.server, row.database_id or "", row.internal_id)
        return ShadowKey(row.shadow_server, primary)
    if row.event in ("HARECEIVE", "HADISCARD") or is_promotion(row):
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
