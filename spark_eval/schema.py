"""Row types: every record of a run folder, and every table that the evaluation writes.

Data and no judgement. A row type is a tuple of (name, Spark SQL type), so that this module needs no
Spark and the lab may read it too. Times named `_ms` are lab milliseconds since the start of lab
time, `mono_ns` is the host's monotonic clock.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Columns: TypeAlias = tuple[tuple[str, str], ...]


def ddl(columns: Columns) -> str:
    """`a STRING, b BIGINT`: what `from_json` and readers take."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns)


def struct(columns: Columns) -> str:
    """The same as a nested type: `STRUCT<a: STRING, b: BIGINT>`."""
    return "STRUCT<" + ", ".join(f"`{name}`: {kind}" for name, kind in columns) + ">"


LINK: Final = "STRUCT<`from`: STRING, `to`: STRING, service: STRING>"
REF: Final = "STRUCT<file: STRING, line: INT>"
REFS: Final = f"ARRAY<{REF}>"

# ---------------------------------------------------------------- records of a run folder

LEDGER: Final[Columns] = (
    ("type", "STRING"),
    ("message_id", "STRING"),
    ("mail", "STRING"),
    ("submitted_ms", "BIGINT"),
    ("date", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("size_bytes", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("attempt", "INT"),
    ("server", "STRING"),
    ("started_ms", "BIGINT"),
    ("outcome", "STRING"),
    ("reply", "STRING"),
    ("reason", "STRING"),
    ("ended_ms", "BIGINT"),
)

FAULTS: Final[Columns] = (
    ("fault", "STRING"),
    ("phase", "STRING"),
    ("at_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("took_effect", "BOOLEAN"),
    ("reason", "STRING"),
    ("exit_code", "INT"),
    ("banner_ms", "BIGINT"),
    ("banner_mono_ns", "BIGINT"),
    ("started_mono_ns", "BIGINT"),
)

LIFECYCLE: Final[Columns] = (
    ("event", "STRING"),
    ("at_ms", "BIGINT"),
    ("date", "STRING"),
    ("mono_ns", "BIGINT"),
    ("ahead_ms", "BIGINT"),
    ("database_id", "STRING"),
    ("event_id", "INT"),
    ("primary", "STRING"),
)

QUEUES: Final[Columns] = (
    ("queue", "STRING"),
    ("message_id", "STRING"),
    ("network_message_id", "STRING"),
    ("internal_id", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("primary", "STRING"),
    ("primary_database_id", "STRING"),
    ("shadow_server", "STRING"),
    ("entered_ms", "BIGINT"),
    ("delivered_ms", "BIGINT"),
    ("expires_ms", "BIGINT"),
    ("state", "STRING"),
)

MAILBOXES: Final[Columns] = (
    ("mailbox", "STRING"),
    ("message_id", "STRING"),
    ("submitted_ms", "BIGINT"),
    ("delivered_ms", "BIGINT"),
    ("size_bytes", "BIGINT"),
    ("server", "STRING"),
)

EXTERNAL: Final[Columns] = (
    ("message_id", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("received_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("size_bytes", "BIGINT"),
    ("peer", "STRING"),
)

PLAN_SERVER: Final[Columns] = (
    ("name", "STRING"),
    ("fqdn", "STRING"),
    ("role", "STRING"),
    ("site", "STRING"),
    ("dag", "STRING"),
    ("domain", "STRING"),
)

PLAN_MESSAGE: Final[Columns] = (
    ("message_id", "STRING"),
    ("at_ms", "BIGINT"),
    ("mail", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
)

PLAN_FAULT: Final[Columns] = (
    ("id", "STRING"),
    ("kind", "STRING"),
    ("start_ms", "BIGINT"),
    ("end_ms", "BIGINT"),
    ("cut_kind", "STRING"),
    ("links", f"ARRAY<{LINK}>"),
    ("server", "STRING"),
    ("returns_with", "STRING"),
    ("latency_ms", "BIGINT"),
    ("jitter_ms", "BIGINT"),
    ("bytes_per_second", "BIGINT"),
    ("by_ms", "BIGINT"),
    # instead of a time: from start_ms to until_ms, and end_ms is the latest that it may end
    ("when", "STRUCT<server: STRING, `at`: STRING, nth: INT, until_ms: BIGINT, for_ms: BIGINT>"),
)

EXPECTED_PROMOTION: Final[Columns] = (
    ("of", "STRING"),
    ("cause", "STRING"),
    ("after_ms", "BIGINT"),
    ("within_ms", "BIGINT"),
)

EXPECT: Final[Columns] = (
    ("lost", "INT"),
    ("unprotected_loss", "ARRAY<INT>"),
    ("promotions", f"ARRAY<{struct(EXPECTED_PROMOTION)}>"),
    ("verdict", "STRING"),
)

TOPOLOGY: Final[Columns] = (
    ("name", "STRING"),
    ("accepted_domain", "STRING"),
    ("servers", f"ARRAY<{struct(PLAN_SERVER)}>"),
    ("databases", "ARRAY<STRUCT<name: STRING, copies: ARRAY<STRUCT<server: STRING>>>>"),
    ("mailboxes", "ARRAY<STRUCT<address: STRING, `database`: STRING>>"),
)

SETTINGS: Final[Columns] = (
    ("TransportConfig", "MAP<STRING, STRING>"),
    ("servers", "MAP<STRING, MAP<STRING, MAP<STRING, STRING>>>"),
)

PLAN: Final[Columns] = (
    ("version", "INT"),
    ("scenario", "STRING"),
    ("summary", "STRING"),
    ("proves", "ARRAY<STRING>"),
    ("seed", "BIGINT"),
    ("clock", "STRUCT<origin: STRING, speed: DOUBLE>"),
    ("duration_ms", "BIGINT"),
    ("workload_end_ms", "BIGINT"),
    ("last_heal_ms", "BIGINT"),
    ("settle_ms", "BIGINT"),
    ("topology", struct(TOPOLOGY)),
    ("settings", struct(SETTINGS)),
    ("messages", f"ARRAY<{struct(PLAN_MESSAGE)}>"),
    ("faults", f"ARRAY<{struct(PLAN_FAULT)}>"),
    ("expect", struct(EXPECT)),
)

HOST: Final[Columns] = (
    ("clock_resolution_ms", "DOUBLE"),
    ("monotonic_zero_ns", "BIGINT"),
)

# ---------------------------------------------------------------- the record of a sweep

# one row a line of a run's files; plan.json, manifest.json and host.json are one row each, and an
# empty file is one of line 0; `fields` is the `#Fields:` line of a log
SWEEP_LINES: Final[Columns] = (
    ("run", "STRING"),
    ("seed", "BIGINT"),
    ("file", "STRING"),
    ("line", "INT"),
    ("text", "STRING"),
    ("fields", "STRING"),
)

# ---------------------------------------------------------------- tables of the evaluation

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
    "log_damage": LOG_DAMAGE,
}
