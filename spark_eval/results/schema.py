"""Row types of every table that the evaluation writes: tuples of (name, Spark SQL type).

Times named `_ms` are lab milliseconds since the start of lab time, `mono_ns` is the host's
monotonic clock.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Columns: TypeAlias = tuple[tuple[str, str], ...]


def ddl(columns: Columns) -> str:
    """`a STRING, b BIGINT`: what readers take."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns)


LINK: Final = "STRUCT<`from`: STRING, `to`: STRING, service: STRING>"
REF: Final = "STRUCT<file: STRING, line: INT>"
REFS: Final = f"ARRAY<{REF}>"

MESSAGES: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("mail", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("submitted_ms", "BIGINT"),
    ("attempts", "INT"),
    ("outcome", "STRING"),
    ("acknowledged_server", "STRING"),
    ("acknowledged_ms", "BIGINT"),
    ("internal_id", "STRING"),
    ("database_id", "STRING"),
    ("network_message_id", "STRING"),
    ("unprotected", "BOOLEAN"),
    ("shadow_servers", "ARRAY<STRING>"),
    ("promotions", "INT"),
    ("discards", "INT"),
    ("deliveries", "INT"),
    ("first_delivery_ms", "BIGINT"),
    ("last_delivery_ms", "BIGINT"),
)

ATTEMPTS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("attempt", "INT"),
    ("server", "STRING"),
    ("started_ms", "BIGINT"),
    ("started_mono_ns", "BIGINT"),
    ("outcome", "STRING"),
    ("reply", "STRING"),
    ("reason", "STRING"),
    ("ended_ms", "BIGINT"),
    ("ended_mono_ns", "BIGINT"),
    ("reply_internal_id", "STRING"),
    ("ref", REF),
)

DELIVERIES: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("recipient", "STRING"),
    ("kind", "STRING"),
    ("promised", "BOOLEAN"),
    ("outcome", "STRING"),
    ("reason", "STRING"),
    ("copies", "INT"),
    ("submitted_ms", "BIGINT"),
    ("acknowledged_ms", "BIGINT"),
    ("first_ms", "BIGINT"),
    ("refs", REFS),
)

SHADOWS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("network_message_id", "STRING"),
    ("shadow_server", "STRING"),
    ("primary_server", "STRING"),
    ("primary_database_id", "STRING"),
    ("primary_internal_id", "STRING"),
    ("attempts", "INT"),
    ("held_ms", "BIGINT"),
    ("discarded_ms", "BIGINT"),
    ("promoted_ms", "BIGINT"),
    ("refs", REFS),
)

PROMOTIONS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("shadow_server", "STRING"),
    ("primary_server", "STRING"),
    ("primary_database_id", "STRING"),
    ("cause", "STRING"),
    ("held_ms", "BIGINT"),
    ("not_before_ms", "BIGINT"),
    ("not_after_ms", "BIGINT"),
    ("expected", "BOOLEAN"),
    ("promoted_ms", "BIGINT"),
    ("timeliness", "STRING"),
    ("earliness", "STRING"),
    ("reason", "STRING"),
    ("early_reason", "STRING"),
    ("refs", REFS),
)

DISCARDS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("shadow_server", "STRING"),
    ("primary_server", "STRING"),
    ("held_ms", "BIGINT"),
    ("done_ms", "BIGINT"),
    ("reachable_ms", "BIGINT"),
    ("not_after_ms", "BIGINT"),
    ("discarded_ms", "BIGINT"),
    ("order_status", "STRING"),
    ("order_reason", "STRING"),
    ("deadline_status", "STRING"),
    ("deadline_reason", "STRING"),
    ("refs", REFS),
)

CLAIMS: Final[Columns] = (
    ("run", "STRING"),
    ("claim", "STRING"),
    ("status", "STRING"),
    ("requirements", "ARRAY<STRING>"),
    ("asked", "BIGINT"),
    ("violations", "BIGINT"),
    ("unknown", "BIGINT"),
    ("reason", "STRING"),
)

COUNTEREXAMPLES: Final[Columns] = (
    ("run", "STRING"),
    ("claim", "STRING"),
    ("which", "STRING"),
    ("subject", "STRING"),
    ("at_ms", "BIGINT"),
    ("detail", "STRING"),
    ("refs", REFS),
)

STORIES: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("at_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("place", "STRING"),
    ("what", "STRING"),
    ("ref", REF),
)

FAULT_WINDOWS: Final[Columns] = (
    ("run", "STRING"),
    ("fault", "STRING"),
    ("kind", "STRING"),
    ("cut_kind", "STRING"),
    ("direction", "STRING"),
    ("server", "STRING"),
    ("returns_with", "STRING"),
    ("links", f"ARRAY<{LINK}>"),
    ("slowed_ms", "BIGINT"),
    ("by_ms", "BIGINT"),
    ("intended_ms", "BIGINT"),
    ("applied_ms", "BIGINT"),
    ("applied_mono_ns", "BIGINT"),
    ("took_effect", "BOOLEAN"),
    ("reason", "STRING"),
    ("heal_intended_ms", "BIGINT"),
    ("healed_ms", "BIGINT"),
    ("banner_ms", "BIGINT"),
    ("over_ms", "BIGINT"),
)

TIMELINE_EVENTS: Final[Columns] = (
    ("run", "STRING"),
    ("lane", "STRING"),
    ("kind", "STRING"),
    ("at_ms", "BIGINT"),
    ("count", "BIGINT"),
    ("detail", "STRING"),
)

DELAYS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("recipient", "STRING"),
    ("phase", "STRING"),
    ("submitted_ms", "BIGINT"),
    ("acknowledged_ms", "BIGINT"),
    ("delivered_ms", "BIGINT"),
    ("delay_ms", "BIGINT"),
)

PROMOTION_DELAYS: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("shadow_server", "STRING"),
    ("primary_server", "STRING"),
    ("cause", "STRING"),
    ("not_before_ms", "BIGINT"),
    ("not_after_ms", "BIGINT"),
    ("promoted_ms", "BIGINT"),
    ("delay_ms", "BIGINT"),
    ("bound_ms", "BIGINT"),
)

LOG_DAMAGE: Final[Columns] = (
    ("run", "STRING"),
    ("file", "STRING"),
    ("server", "STRING"),
    ("damage", "STRING"),
    ("lines", "BIGINT"),
    ("first_line", "INT"),
    ("from_ms", "BIGINT"),
    ("to_ms", "BIGINT"),
)

TRANSITIONS: Final[Columns] = (
    ("run", "STRING"),
    ("database", "STRING"),
    ("epoch", "INT"),
    ("from", "STRING"),
    ("to", "STRING"),
    ("kind", "STRING"),
    ("cause", "STRING"),
    ("operation", "STRING"),
    ("mounted_ms", "BIGINT"),
    ("lossless", "BOOLEAN"),
    ("lost_deliveries", "BIGINT"),
    ("inside_from_ms", "BIGINT"),
    ("known_to_all_ms", "BIGINT"),
    ("requests", "BIGINT"),
    ("expected", "BIGINT"),
    ("resubmitted", "BIGINT"),
    ("missing", "BIGINT"),
    ("unknown", "BIGINT"),
    ("excused", "BIGINT"),
    ("outside", "BIGINT"),
)

RESUBMISSIONS: Final[Columns] = (
    ("run", "STRING"),
    ("database", "STRING"),
    ("epoch", "INT"),
    ("operation", "STRING"),
    ("server", "STRING"),
    ("message_id", "STRING"),
    ("brought_ms", "BIGINT"),
    ("inside", "BOOLEAN"),
    ("lost", "BOOLEAN"),
    ("resubmitted_ms", "BIGINT"),
    ("stood_in", "STRING"),
    ("status", "STRING"),
    ("reason", "STRING"),
    ("refs", REFS),
)

OPERATIONS: Final[Columns] = (
    ("run", "STRING"),
    ("operation", "STRING"),
    ("kind", "STRING"),
    ("what", "STRING"),
    ("database", "STRING"),
    ("to", "STRING"),
    ("planned_ms", "BIGINT"),
    ("asked_ms", "BIGINT"),
    ("took_effect", "BOOLEAN"),
    ("reason", "STRING"),
)

EXPOSURE: Final[Columns] = (
    ("run", "STRING"),
    ("message_id", "STRING"),
    ("from_ms", "BIGINT"),
    ("to_ms", "BIGINT"),
    ("in_transit_ms", "BIGINT"),
    ("servers", "ARRAY<STRING>"),
    ("cause", "STRING"),
)

# written where a plan holds something that makes Safety Nets be asked
OF_SAFETY_NETS: Final[dict[str, Columns]] = {
    "transitions": TRANSITIONS,
    "resubmissions": RESUBMISSIONS,
    "operations": OPERATIONS,
}

RESULT_TABLES: Final[dict[str, Columns]] = {
    "messages": MESSAGES,
    "attempts": ATTEMPTS,
    "deliveries": DELIVERIES,
    "shadows": SHADOWS,
    "promotions": PROMOTIONS,
    "discards": DISCARDS,
    "claims": CLAIMS,
    "counterexamples": COUNTEREXAMPLES,
    "stories": STORIES,
    "fault_windows": FAULT_WINDOWS,
    "timeline_events": TIMELINE_EVENTS,
    "delays": DELAYS,
    "promotion_delays": PROMOTION_DELAYS,
    "redundancy_exposure": EXPOSURE,
    "log_damage": LOG_DAMAGE,
    **OF_SAFETY_NETS,
}
