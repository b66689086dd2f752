"""By how much an exchange takes longer over a link that is late, of each kind of fault.

An exchange begins with a new connection, TLS and greetings: so many round trips, and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spark_eval.fault_kinds import EXCHANGE_BYTES, LEAST_PAUSE_MS, ROUND_TRIPS

Keys = Mapping[str, Any]
_ONE_WAY = ("requests", "replies")


def _ways(keys: Keys) -> int:
    """How often an exchange is late: each round trip both ways, or one."""
    return ROUND_TRIPS if keys.get("direction") in _ONE_WAY else 2 * ROUND_TRIPS


def _carried_ms(keys: Keys) -> int:
    """At most all of an exchange goes one way."""
    return int(EXCHANGE_BYTES * 1000 // keys["bytes_per_second"])


def _slow(keys: Keys) -> int:
    return int(_ways(keys) * (keys["latency_ms"] + (keys.get("jitter_ms") or 0)))


def _drip(keys: Keys) -> int:
    return int(_ways(keys) * keys["latency_ms"] + _carried_ms(keys))


def _slice(keys: Keys) -> int:
    pieces = EXCHANGE_BYTES // keys["piece_bytes"] + ROUND_TRIPS
    return int(2 * pieces * max(keys["pause_ms"], LEAST_PAUSE_MS))


_LATE: Mapping[str, Callable[[Keys], int]] = {
    "slow": _slow,
    "throttle": _carried_ms,
    "drip": _drip,
    "slice": _slice,
    "slow_close": lambda keys: int(keys["delay_ms"]),
}


def late_ms(kind: str, keys: Keys) -> int | None:
    """None of a kind that is not late, and where the plan does not say how much."""
    if kind not in _LATE:
        return None
    try:
        return _LATE[kind](keys)
    except (KeyError, TypeError, ZeroDivisionError):
        return None
