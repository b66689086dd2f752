"""How pages say numbers and faults: lab time, spans, what was done to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMED_LINKS = 3
WORDS = {
    "power_loss": "cut the power of {0}",
    "corrupt": "kill {0}, back with a damaged queue database",
    "fill_disk": "fill the disk of {0}",
    "disk_use": "use up the disk of {0}",
    "skew_clock": "the clock of {0} wrong by {1}",
}


def lab_time(ms: float | None) -> str:
    """`0:10:00` hours, minutes and seconds since the start of lab time."""
    if ms is None:
        return "–"
    seconds = int(ms // 1000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def lab_moment(ms: float | None) -> str:
    """`0:10:00.250`, as a line of a story has it."""
    return "–" if ms is None else f"{lab_time(ms)}.{int(ms % 1000):03}"


def span(ms: float | None) -> str:
    """`350 ms`, `2.5 s`, `3 min 20 s`, `2 h 5 min`."""
    if ms is None:
        return "–"
    if abs(ms) < 1000:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if abs(seconds) < 60:
        return f"{seconds:.1f} s"
    if abs(seconds) < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds // 60 % 60)} min"


def clock_off(entry: Mapping[str, Any]) -> str:
    """`5 min 0 s behind`, `from 5 min 0 s behind to 2 h 0 min ahead`."""
    said = {
        f"{span(abs(ms))} {'ahead' if ms > 0 else 'behind'}": None
        for ms in (entry["least_ms"], entry["most_ms"])
    }
    return f"from {' to '.join(said)}" if len(said) > 1 else next(iter(said))


def fault(row: dict[str, Any]) -> str:
    """What was done: `kill par-mbx1, back with a new queue database`, `cut refuse a → b, …`."""
    if row["kind"] == "kill":
        back = str(row["returns_with"] or "").replace("-", " ")
        return f"kill {row['server']}, back with {'its' if 'same' in back else 'a'} {back}".replace(
            "its same queue", "its own queue"
        )
    if row["kind"] in WORDS:
        return WORDS[row["kind"]].format(row["server"], span(row["by_ms"]))
    if row["server"]:
        return f"{row['kind']} {row['server']}"
    links = row["links"] or []
    named = ", ".join(f"{link['from']} → {link['to']}" for link in links[:NAMED_LINKS])
    more = f" and {len(links) - NAMED_LINKS} more" if len(links) > NAMED_LINKS else ""
    # rows that were written down before there were directions have none
    what = [row["kind"], row["cut_kind"], only(row.get("direction"))]
    return f"{' '.join(part for part in what if part)} {named}{more}"


def only(direction: str | None) -> str:
    """`replies only`; nothing of what acts both ways."""
    return "" if direction in (None, "both") else f"{direction} only"


def evidence(took_effect: bool | None) -> str:
    """Whether the fault was seen to act."""
    if took_effect is None:
        return "not seen"
    return "took effect" if took_effect else "did not take effect"
