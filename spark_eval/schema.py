"""Row types: every record of a run folder, and the record of a sweep.

Data and no judgement. A row type is a tuple of (name, Spark SQL type), so that this module needs no
Spark and the lab may read it too. Times named `_ms` are lab milliseconds since the start of lab
time, `mono_ns` is the host's monotonic clock.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from spark_eval.fault_kinds import KEYS

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

# of what was sent or is seen, but for the trace fields (Received, Return-Path, X-…) in front of it;
# digests are SHA-256 in hex, of which the first 16 digits count
DIGEST: Final[Columns] = (
    ("content_bytes", "BIGINT"),
    ("header_sha256", "STRING"),
    ("body_sha256", "STRING"),
)

# of a DSN, what it says of whom (RFC 3464); of another message it is empty
REPORTS: Final = (
    "reports",
    "ARRAY<STRUCT<recipient: STRING, action: STRING, status: STRING, reporting_mta: STRING>>",
)
# of a DSN, about which message it is
ABOUT: Final[Columns] = (("in_reply_to", "STRING"), ("references", "STRING"))

LEDGER: Final[Columns] = (
    ("type", "STRING"),
    ("message_id", "STRING"),
    ("mail", "STRING"),
    ("submitted_ms", "BIGINT"),
    ("date", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("size_bytes", "BIGINT"),
    ("hops", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("attempt", "INT"),
    ("server", "STRING"),
    ("started_ms", "BIGINT"),
    ("outcome", "STRING"),
    ("reply", "STRING"),
    ("reason", "STRING"),
    ("ended_ms", "BIGINT"),
    *DIGEST,
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

OPERATIONS: Final[Columns] = (
    ("operation", "STRING"),
    ("phase", "STRING"),
    ("at_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("reply", "STRING"),
    ("took_effect", "BOOLEAN"),
    ("reason", "STRING"),
)

# of strangers: a reply that one heard, or how its session ended
STRANGERS: Final[Columns] = (
    ("type", "STRING"),
    ("stranger", "STRING"),
    ("server", "STRING"),
    ("command", "STRING"),
    ("reply", "STRING"),
    ("outcome", "STRING"),
    ("sent_bytes", "BIGINT"),
    ("at_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
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
    ("server", "STRING"),
    # of copies of mailbox databases, of failovers, and of resubmit requests
    ("database", "STRING"),
    ("epoch", "INT"),
    ("last_log", "BIGINT"),
    ("kind", "STRING"),
    ("cause", "STRING"),
    ("to", "STRING"),
    ("request_id", "STRING"),
    ("safety_net", "STRING"),
    # of copies whose stay in a queue ended
    ("network_message_id", "STRING"),
    # of mistakes of a server's own
    ("reason", "STRING"),
    # of a promotion, how many messages
    ("count", "INT"),
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

COPIES: Final[Columns] = (
    ("database", "STRING"),
    ("state", "STRING"),
    ("epoch", "INT"),
    ("last_log", "BIGINT"),
    ("last_log_epoch", "INT"),
    ("last_log_ms", "BIGINT"),
    ("received", "BIGINT"),
    ("messages", "BIGINT"),
    ("content_sha256", "STRING"),
)

MAILBOXES: Final[Columns] = (
    ("mailbox", "STRING"),
    ("message_id", "STRING"),
    ("sender", "STRING"),
    ("submitted_ms", "BIGINT"),
    ("delivered_ms", "BIGINT"),
    ("size_bytes", "BIGINT"),
    ("server", "STRING"),
    *DIGEST,
    REPORTS,
    *ABOUT,
)

EXTERNAL: Final[Columns] = (
    ("message_id", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("received_ms", "BIGINT"),
    ("mono_ns", "BIGINT"),
    ("size_bytes", "BIGINT"),
    ("peer", "STRING"),
    *DIGEST,
    REPORTS,
    *ABOUT,
)

PLAN_SERVER: Final[Columns] = (
    ("name", "STRING"),
    ("fqdn", "STRING"),
    ("role", "STRING"),
    ("site", "STRING"),
    ("dag", "STRING"),
    ("domain", "STRING"),
    ("auto_activation", "STRING"),
    ("mount_dial", "STRING"),
    ("evidence", "ARRAY<STRING>"),
)

PLAN_FAULT: Final[Columns] = (
    ("id", "STRING"),
    ("kind", "STRING"),
    ("start_ms", "BIGINT"),
    ("end_ms", "BIGINT"),
    ("links", f"ARRAY<{LINK}>"),
    ("server", "STRING"),
    *KEYS,
    # instead of a time: from start_ms to until_ms, and end_ms is the latest that it may end
    ("when", "STRUCT<server: STRING, `at`: STRING, nth: INT, until_ms: BIGINT, for_ms: BIGINT>"),
)

PLAN_OPERATION: Final[Columns] = (
    ("id", "STRING"),
    ("kind", "STRING"),
    ("at_ms", "BIGINT"),
    ("database", "STRING"),
    ("to", "STRING"),
)

PLAN_MESSAGE: Final[Columns] = (
    ("message_id", "STRING"),
    ("at_ms", "BIGINT"),
    ("mail", "STRING"),
    ("sender", "STRING"),
    ("recipients", "ARRAY<STRING>"),
    ("via", "ARRAY<STRING>"),
    ("size_bytes", "BIGINT"),
    ("retry_ms", "BIGINT"),
)

PLAN_STRANGER: Final[Columns] = (
    ("id", "STRING"),
    ("kind", "STRING"),
    ("at_ms", "BIGINT"),
    ("server", "STRING"),
    ("certificate", "STRING"),
)

EXPECTED_PROMOTION: Final[Columns] = (
    ("of", "STRING"),
    ("cause", "STRING"),
    ("after_ms", "BIGINT"),
    ("within_ms", "BIGINT"),
)

EXPECTED_RESUBMISSION: Final[Columns] = (
    ("database", "STRING"),
    ("from", "STRING"),
)

EXPECT: Final[Columns] = (
    ("lost", "INT"),
    ("unprotected_loss", "ARRAY<INT>"),
    ("promotions", f"ARRAY<{struct(EXPECTED_PROMOTION)}>"),
    ("resubmissions", f"ARRAY<{struct(EXPECTED_RESUBMISSION)}>"),
    ("verdict", "STRING"),
)

TOPOLOGY: Final[Columns] = (
    ("name", "STRING"),
    ("accepted_domain", "STRING"),
    ("servers", f"ARRAY<{struct(PLAN_SERVER)}>"),
    (
        "databases",
        "ARRAY<STRUCT<name: STRING, "
        "copies: ARRAY<STRUCT<server: STRING, activation_preference: INT, "
        "replay_lag_time_ms: BIGINT>>, "
        "duplicate_detection_window_ms: BIGINT>>",
    ),
    ("mailboxes", "ARRAY<STRUCT<address: STRING, `database`: STRING>>"),
)

SETTINGS: Final[Columns] = (
    ("TransportConfig", "MAP<STRING, STRING>"),
    ("servers", "MAP<STRING, MAP<STRING, MAP<STRING, STRING>>>"),
    ("software", "MAP<STRING, BIGINT>"),
)

# what was sent is the ledger's to say; it is held against `messages`, which judge nothing
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
    ("faults", f"ARRAY<{struct(PLAN_FAULT)}>"),
    ("operations", f"ARRAY<{struct(PLAN_OPERATION)}>"),
    ("expect", struct(EXPECT)),
    ("strangers", f"ARRAY<{struct(PLAN_STRANGER)}>"),
    ("messages", f"ARRAY<{struct(PLAN_MESSAGE)}>"),
)

HOST: Final[Columns] = (
    ("clock_resolution_ms", "DOUBLE"),
    ("monotonic_zero_ns", "BIGINT"),
    # of the lab's run, before it is judged
    ("exit", "INT"),
)
