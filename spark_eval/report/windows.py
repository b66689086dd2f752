"""Faults and operations as drawings know them: their name, their time, and whom they concern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_eval.report.axis import LabTime
from spark_eval.report.drawing import Bar
from spark_eval.report.labels import Labels
from spark_eval.report.rows import Rows
from spark_eval.story.words import fault, lab_time

# kinds of which the server itself is out of order; the others are about its sessions
OF_A_SERVER = ("kill", "power_loss", "corrupt", "pause", "stop", "restart")
FEW_LINKS = 4
NAME_ROWS = 3


@dataclass(frozen=True, slots=True)
class Window:
    """One fault, or one operation (`over_ms` is then `from_ms`). `near` are the servers that it is
    about, `far` those at the other end of a link.
    """

    name: str
    says: str
    kind: str
    from_ms: int
    over_ms: int
    near: tuple[str, ...]
    far: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    href: str

    @property
    def style(self) -> str:
        """The class of its bands."""
        if not self.links and not self.kind:
            return "operation"
        return "away" if self.kind in OF_A_SERVER else "cut" if self.links else "impaired"

    @property
    def title(self) -> str:
        when = lab_time(self.from_ms)
        return f"{self.name}: {self.says}, {when} to {lab_time(self.over_ms)}"


def fault_windows(faults: Rows, end_ms: int) -> list[Window]:
    """Those that began; one that nothing ended lasts to the end."""
    return [_fault(row, end_ms) for row in faults if _begun(row) is not None]


def operations(rows: Rows) -> list[Window]:
    """Those that somebody was asked for."""
    return [_operation(row) for row in rows if row["asked_ms"] is not None]


def behind(windows: list[Window], time: LabTime, top: int, height: int) -> list[Bar]:
    """A pale band over the whole height for each fault; its short name at one of a few heights,
    where there is room.
    """
    labels, heights = Labels(), [height - 5 - 13 * number for number in range(NAME_ROWS)]
    bands = []
    for window in sorted(windows, key=lambda window: window.from_ms):
        place = labels.place(time.x(window.from_ms), window.name, heights)
        label_y, right = place or (heights[0], 0)
        bands.append(
            Bar(
                x=time.x(window.from_ms),
                width=time.width(window.from_ms, window.over_ms),
                y=top,
                height=height,
                style="behind",
                title=window.title,
                label=window.name if place else "",
                label_x=4 + right,
                label_y=label_y,
                href=window.href,
            )
        )
    return bands


def _begun(row: Mapping[str, Any]) -> int | None:
    at_ms = row["applied_ms"] if row["applied_ms"] is not None else row["intended_ms"]
    return None if at_ms is None else int(at_ms)


def _fault(row: dict[str, Any], end_ms: int) -> Window:
    links = tuple(dict.fromkeys((link["from"], link["to"]) for link in row["links"] or []))
    links = tuple((near.lower(), far.lower()) for near, far in links)
    near = (row["server"],) if row["server"] else tuple(dict.fromkeys(a for a, _ in links))
    return Window(
        name=row["fault"],
        says=fault(row),
        kind=row["kind"],
        from_ms=int(_begun(row) or 0),
        over_ms=min(row["over_ms"] or end_ms, end_ms),
        near=near,
        far=tuple(dict.fromkeys(b for _, b in links)),
        links=links,
        href=f"#fault-{row['fault']}",
    )


def _operation(row: dict[str, Any]) -> Window:
    return Window(
        name=row["operation"],
        says=row["what"],
        kind="",
        from_ms=row["asked_ms"],
        over_ms=row["asked_ms"],
        near=(str(row["to"]).lower(),) if row["to"] else (),
        far=(),
        links=(),
        href=f"#operation-{row['operation']}",
    )
