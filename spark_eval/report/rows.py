"""The rows that the page shows, as a value that can be written down: `evaluation/report.json`.

So the page can be made again without Spark. Rows are bounded where they are made (`report.build`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

Rows = list[dict[str, Any]]

MOST_UNDELIVERED = 500
MOST_MESSAGES = 20_000
# a delivery that took longer has waited for a retry, or for somebody else to deliver it (F§3.2)
LATE_MS = 60_000


@dataclass(frozen=True, slots=True)
class ReportRows:
    """One list a drawing or table of the page; times in lab ms."""

    faults: Rows
    moments: Rows
    phases: Rows
    delays: Rows
    fates: Rows
    undelivered: Rows
    undelivered_slices: Rows
    messages: Rows
    promotions: Rows
    promotion_windows: Rows
    promotion_points: Rows
    exposure: Rows
    attempts: Rows
    stories: Rows
    transitions: Rows
    operations: Rows

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")) + "\n"


def rows_of(content: Any) -> ReportRows:
    """Raises ValueError where it has other lists than this version of the page shows."""
    names = {field.name for field in fields(ReportRows)}
    if not isinstance(content, dict) or set(content) != names:
        raise ValueError("rows of another version of the report")
    return ReportRows(**content)
