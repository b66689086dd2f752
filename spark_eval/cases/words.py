"""How cases say times: lab time since the start, as `0:40:00.000`."""

from __future__ import annotations


def stamp(ms: int | None) -> str:
    """Hours, minutes, seconds; a question mark where it is not known."""
    if ms is None:
        return "?"
    seconds, millis = divmod(abs(ms), 1000)
    sign = "-" if ms < 0 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{millis:03d}"


def hole_of(server: str) -> str:
    """Why what the tracking log of a server does not say proves nothing."""
    return f"the tracking log of {server} has a hole there"
