"""Lab time and the host's monotonic clock, converted into each other; nothing here reads a clock.

Lab time is origin plus elapsed monotonic time times speed, and stands still at the origin before
the start (`monotonic_zero_ns`). Inside records it is counted in milliseconds since the start; log
dates are ISO 8601 in UTC. The lab and the container of the workload share this module, so it
imports the standard library only.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

START_MARGIN_NS = 300_000_000


@dataclass(frozen=True, slots=True)
class LabClock:
    """`origin` is the date of t = 0 in UTC, `zero_ns` the monotonic time at t = 0, `speed` > 0."""

    origin: datetime
    speed: float
    zero_ns: int

    def lab_ms(self, mono_ns: int) -> int:
        """Lab milliseconds since the start; 0 before it."""
        elapsed_ns = max(0, mono_ns - self.zero_ns)
        return int(elapsed_ns * self.speed / 1_000_000)

    def mono_ns_at(self, lab_ms: float) -> int:
        """The monotonic time at which lab time reaches `lab_ms`."""
        return self.zero_ns + round(lab_ms * 1_000_000 / self.speed)

    def wall_seconds(self, lab_ms: float) -> float:
        """How long a span of lab time takes on the wall."""
        return lab_ms / self.speed / 1000

    def lab_span_ms(self, wall_seconds: float) -> float:
        """How much lab time passes in a span of wall time."""
        return wall_seconds * self.speed * 1000

    def iso(self, lab_ms: float) -> str:
        """The date of a lab time: `2026-01-05T08:01:00.250Z`."""
        text = (self.origin + timedelta(milliseconds=lab_ms)).isoformat(timespec="milliseconds")
        return text.replace("+00:00", "Z")

    def header_date(self, lab_ms: float) -> str:
        """The `Date:` header of a lab time (RFC 5322: whole seconds, rounded down)."""
        return format_datetime(self.whole_second(lab_ms))

    def header_date_iso(self, lab_ms: float) -> str:
        """What `header_date` says, as ISO 8601."""
        return self.whole_second(lab_ms).isoformat().replace("+00:00", "Z")

    def whole_second(self, lab_ms: float) -> datetime:
        return (self.origin + timedelta(milliseconds=lab_ms)).replace(microsecond=0)


def parse_origin(text: str) -> datetime:
    """The date in `clock.origin` of a plan; ValueError when it is no date with a zone."""
    origin = datetime.fromisoformat(text)
    if origin.tzinfo is None:
        raise ValueError(f"clock.origin {text!r} has no time zone")
    return origin.astimezone(UTC)


def start_text(monotonic_zero_ns: int) -> str:
    """The content of the start file that sets lab time going everywhere."""
    return json.dumps({"monotonic_zero_ns": monotonic_zero_ns}) + "\n"


def read_start(path: Path) -> int | None:
    """`monotonic_zero_ns` of the start file; None while lab time still stands at the origin."""
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["monotonic_zero_ns"])
    except FileNotFoundError:
        return None
