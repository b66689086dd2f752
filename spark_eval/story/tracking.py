"""One row of a message tracking log, as a story says it (F§1.1).

A row that is damaged, or has no readable date, is no part of a story; it is counted as damage by
the evaluation.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass

from spark_eval.story.clock import RunClock
from spark_eval.story.lines import Line

MOST_RECIPIENTS = 8
MONO = re.compile(r"(?:^|;)(?:S:)?Mono=([0-9]+)(?:;|$)")


@dataclass(frozen=True, slots=True)
class TrackingRow:
    """`fields` are the row's values that are not empty, by lower-case name."""

    server: str
    at_ms: int | None
    mono_ns: int | None
    fields: Mapping[str, str]

    @property
    def message_id(self) -> str | None:
        return bracketed(self.fields.get("message-id"))

    @property
    def network_message_id(self) -> str | None:
        return self.fields.get("network-message-id")

    @property
    def reference(self) -> str:
        return self.fields.get("reference", "")

    def in_words(self) -> str:
        """`SMTP HARECEIVE, for user@x, primary par-mbx1`."""
        known, custom = self.fields, _custom(self.fields.get("custom-data", ""))
        kind = " ".join(known[name].upper() for name in ("source", "event-id") if name in known)
        peer = short_name(known.get("server-hostname"))
        parts = (
            kind,
            f"with {peer}" if peer and peer != self.server else None,
            _recipients(known.get("recipient-address")),
            _named("primary", custom.get("S:PrimaryServer")),
            _named("shadow", custom.get("S:ShadowServer")),
            known.get("recipient-status"),
            known.get("source-context"),
        )
        return ", ".join(part for part in parts if part is not None)


def tracking_row(line: Line, clock: RunClock) -> TrackingRow | None:
    """None where the line is no whole row."""
    names = re.split(r",\s*", line.fields.lower())
    values = _values(line.text)
    if line.torn or not line.fields or line.text.startswith("#") or len(values) != len(names):
        return None
    known = {name: value for name, value in zip(names, values, strict=True) if value}
    dated_ms = clock.dated(known.get("date-time", ""))
    if dated_ms is None:
        return None
    monotonic = MONO.search(known.get("custom-data", ""))
    mono_ns = int(monotonic[1]) if monotonic else None
    return TrackingRow(line.server, clock.placed(dated_ms, mono_ns), mono_ns, known)


def bracketed(message_id: str | None) -> str | None:
    """A Message-Id with its angle brackets, whether or not the record wrote them."""
    bare = (message_id or "").strip("<> ")
    return f"<{bare}>" if bare else None


def short_name(server: str | None) -> str | None:
    """Without its domain, lower case."""
    return server.split(".", 1)[0].lower() if server else None


def _values(text: str) -> list[str]:
    try:
        return next(csv.reader([text], strict=True))
    except (csv.Error, StopIteration):
        return []


def _custom(text: str) -> dict[str, str]:
    entries = (entry.partition("=") for entry in re.split(";(?=S:)", text))
    return {name: value for name, equals, value in entries if equals}


def _named(role: str, server: str | None) -> str | None:
    name = short_name(server)
    return f"{role} {name}" if name else None


def _recipients(text: str | None) -> str | None:
    if text is None:
        return None
    all_of_them = text.lower().split(";")
    shown = ", ".join(all_of_them[:MOST_RECIPIENTS])
    return f"for {shown}, …" if len(all_of_them) > MOST_RECIPIENTS else f"for {shown}"
