"""Primary messages that came from a Safety Net (SN-10): what was resubmitted, the shadow messages
of that which were promoted, and their shadow messages in turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow


class Returned(NamedTuple):
    """`row`, the first about it; `request_id`, of the resubmit request; `is_sure`: not of one whose
    first row a kill swallowed, in a run where Safety Nets were asked: it may have come from one,
    and has no request.
    """

    key: Key
    row: TrackingRow
    request_id: str | None
    is_sure: bool


@lru_cache(maxsize=4)
def came_back(message: Message, run: Run) -> list[Returned]:
    """Two generations of promoted shadow messages are followed, no third."""
    first = [
        Returned(primary.key, primary.born, primary.born.context, is_sure=True)
        for primary in message.primaries.values()
        if primary.is_resubmitted and primary.born is not None
    ]
    if run.asks_safety_nets:
        first += [
            Returned(primary.key, primary.loaded, None, is_sure=False)
            for primary in message.primaries.values()
            if primary.born is None and primary.loaded is not None
        ]
    second = _promoted_of(message, first)
    return [*first, *second, *_promoted_of(message, second)]


def _promoted_of(message: Message, returned: Iterable[Returned]) -> list[Returned]:
    by_key = {each.key: each for each in returned}
    found = []
    for shadow in message.shadows.values():
        origin, row = by_key.get(shadow.key.primary), shadow.promoted
        if origin is not None and row is not None and (key := key_of(row)) is not None:
            found.append(Returned(key, row, origin.request_id, origin.is_sure))
    return found
