"""The plan and the host's measurements as tables: what was asked, and of what.

Every default is written out in a plan; the few that this page repeats serve small hand-made plans
for the logs of real servers (F§3.1, F§3.2, F§3.3). Durations are lab milliseconds.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval import schema
from spark_eval.fault_kinds import KINDS, is_one_of
from spark_eval.read import scope
from spark_eval.sql.strict import DAMAGED, one_value, parsed

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

# column, parameter, type, Exchange's default
TRANSPORT_CONFIG = (
    ("enabled", "ShadowRedundancyEnabled", "BOOLEAN", "true"),
    ("reject", "RejectMessageOnShadowFailure", "BOOLEAN", "false"),
    ("preference", "ShadowMessagePreferenceSetting", "STRING", "PreferRemote"),
    ("max_remote", "MaxRetriesForRemoteSiteShadow", "INT", "4"),
    ("max_local", "MaxRetriesForLocalSiteShadow", "INT", "2"),
    ("heartbeat_ms", "ShadowHeartbeatFrequency", "BIGINT", str(2 * MINUTE_MS)),
    ("span_ms", "ShadowResubmitTimeSpan", "BIGINT", str(3 * HOUR_MS)),
    ("auto_discard_ms", "ShadowMessageAutoDiscardInterval", "BIGINT", str(2 * DAY_MS)),
    ("hold_ms", "SafetyNetHoldTime", "BIGINT", str(2 * DAY_MS)),
    ("max_bytes", "MaxReceiveSize", "BIGINT", str(10 * 1024 * 1024)),
)

# column, section, parameter, Exchange's default (in ms, or a count)
SERVER_CONFIG = (
    ("timeout_ms", "SendConnector", "ConnectionInactivityTimeOut", 10 * MINUTE_MS),
    ("session_ms", "ReceiveConnector", "ConnectionTimeout", 10 * MINUTE_MS),
    ("max_hops", "ReceiveConnector", "MaxHopCount", 60),
    ("glitches", "TransportService", "QueueGlitchRetryCount", 4),
    ("glitch_ms", "TransportService", "QueueGlitchRetryInterval", MINUTE_MS),
    ("transients", "TransportService", "TransientFailureRetryCount", 6),
    ("transient_ms", "TransportService", "TransientFailureRetryInterval", 5 * MINUTE_MS),
    ("outage_ms", "TransportService", "OutboundConnectionFailureRetryInterval", 10 * MINUTE_MS),
    ("expiration_ms", "TransportService", "MessageExpirationTimeout", 2 * DAY_MS),
    ("delay_ms", "TransportService", "DelayNotificationTimeout", 4 * HOUR_MS),
    ("page", "TransportService", "DiscardNotificationsPerAnswer", 200),
    ("window_ms", "MailboxDatabase", "DuplicateDetectionWindow", 7 * DAY_MS),
)


# what nobody named can have no evidence
NAMED = (
    "coalesce(NOT exists(plan.faults, f -> f.id IS NULL), true) "
    "AND coalesce(NOT exists(plan.operations, o -> o.id IS NULL), true)"
)
NAMELESS = "?"
# what is of no kind that the table knows would excuse nothing, and be passed over
_IS_KNOWN = f"coalesce(f.{is_one_of(tuple(KINDS))}, false)"
KNOWN = f"coalesce(NOT exists(plan.faults, f -> NOT {_IS_KNOWN}), true)"
# what manifest.json repeats of the plan
IDENTITY = (
    ("scenario", "STRING"),
    ("seed", "BIGINT"),
    ("speed", "DOUBLE"),
    ("origin", "STRING"),
)


def parsed_plans(texts: DataFrame) -> DataFrame:
    """One row a run: `run`, `plan` (null where the file is no JSON), `host` and `identity`, of
    manifest.json, `resolution_ms`, `zero_ns`, the monotonic clock at the start of lab time, `exit`
    of the lab's run, and `damaged`: which of the files hold something else than they should, and
    read as null in it.

    `texts` has the whole of the files, as `Source.plans` gives it.
    """
    by_run = texts.groupBy("run").agg(
        F.expr("max(value) FILTER (WHERE file = 'plan.json') AS plan"),
        F.expr("max(value) FILTER (WHERE file = 'manifest.json') AS manifest"),
        F.expr("max(value) FILTER (WHERE file = 'host.json') AS host"),
    )
    read = by_run.selectExpr(
        "run",
        f"{parsed('plan', schema.PLAN)} AS plan",
        "get_json_object(manifest, '$.host') AS host",
        f"from_json(manifest, '{schema.ddl(IDENTITY)}') AS identity",
        f"{parsed('host', schema.HOST)} AS measured",
        f"coalesce({one_value('plan')}, plan IS NULL) AS whole_plan",
        f"coalesce({one_value('host')}, host IS NULL) AS whole_host",
    )
    damaged = (
        f"IF(whole_plan AND plan.{DAMAGED} IS NULL AND {NAMED} AND {KNOWN}, NULL, 'plan.json')",
        f"IF(whole_host AND measured.{DAMAGED} IS NULL, NULL, 'host.json')",
    )
    return read.selectExpr(
        "run",
        "plan",
        "host",
        "identity",
        "measured.clock_resolution_ms AS resolution_ms",
        "measured.monotonic_zero_ns AS zero_ns",
        "measured.`exit` AS `exit`",
        f"filter(array({', '.join(damaged)}), f -> f IS NOT NULL) AS damaged",
    )


# a simulator has no wall clock: its monotonic one is lab time, whatever speed the plan names
WALL_SPEED = "IF(host <=> 'simulator', 1.0D, coalesce(plan.clock.speed, 1.0D))"


def runs(plans: DataFrame) -> DataFrame:
    """One row a run with the organisation's settings flattened out; `speed` is lab milliseconds for
    each of the clock that servers wait and log by; `is_made`: the lab made its record, and what a
    server of the lab logs is there; and what its plan may hold (`read.scope`).
    """
    config = "plan.settings.TransportConfig"
    settings = [
        f"coalesce(try_cast(try_element_at({config}, '{name}') AS {kind}), "
        f"CAST('{default}' AS {kind})) AS {column}"
        for column, name, kind, default in TRANSPORT_CONFIG
    ]
    return plans.selectExpr(
        "run",
        "plan.scenario AS scenario",
        "plan.seed AS seed",
        "host",
        "plan.proves AS proves",
        f"{WALL_SPEED} AS speed",
        "plan.duration_ms AS end_ms",
        "plan.topology.accepted_domain AS accepted_domain",
        "plan.expect AS expect",
        "resolution_ms",
        "zero_ns",
        "coalesce(CAST(ceil(least(resolution_ms, 1e15D)) AS BIGINT), 0L) AS finest_ms",
        "coalesce(size(plan.messages) > 0, false) AS is_made",
        *scope.COLUMNS,
        *settings,
    )


def servers(plans: DataFrame) -> DataFrame:
    """One row a server: its place in the topology and the settings that intervals need."""
    exploded = plans.selectExpr(
        "run", "plan.settings.servers AS s", "inline(plan.topology.servers)"
    )
    settings = [
        f"coalesce(try_cast(try_element_at(try_element_at(try_element_at(s, name), '{section}'), "
        f"'{parameter}') AS BIGINT), {default}L) AS {column}"
        for column, section, parameter, default in SERVER_CONFIG
    ]
    own = (
        "try_element_at(try_element_at(try_element_at(s, name), 'TransportService'), "
        "'ShadowMessagePreference')"
    )
    return exploded.selectExpr(
        "run", "lower(name) AS server", "fqdn", "role", "site", "dag", "domain",
        "coalesce(auto_activation, 'Unrestricted') AS auto_activation",
        f"nullif({own}, '') AS own_preference", *settings,
    )  # fmt: skip


def databases(plans: DataFrame) -> DataFrame:
    """`run`, `database`, `server` (of the copy that is active at the start: the first), `copies`
    (how many), `window_ms` (DD-2).
    """
    exploded = plans.selectExpr("run", "inline(plan.topology.databases)")
    active = exploded.selectExpr(
        "run", "name AS database", "lower(try_element_at(copies, 1).server) AS server",
        "size(copies) AS copies", "duplicate_detection_window_ms AS own_ms",
    )  # fmt: skip
    # plans of before, and hand-made ones, give servers the window
    window = servers(plans).select("run", "server", "window_ms")
    known = active.join(window, ["run", "server"], "left")
    return known.withColumn("window_ms", F.expr("coalesce(own_ms, window_ms)")).drop("own_ms")


def database_copies(plans: DataFrame) -> DataFrame:
    """`run`, `database`, `server`, `preference`, `is_lagged`: every copy of every database."""
    named = plans.selectExpr("run", "inline(plan.topology.databases)")
    each = named.selectExpr("run", "name AS database", "inline(copies)")
    lag = "coalesce(replay_lag_time_ms > 0, false) AS is_lagged"
    preferred = "activation_preference AS preference"
    return each.selectExpr("run", "database", "lower(server) AS server", preferred, lag)


def mailboxes(plans: DataFrame) -> DataFrame:
    """`run`, `mailbox` (lower case), `database`."""
    exploded = plans.selectExpr("run", "inline(plan.topology.mailboxes)")
    return exploded.selectExpr("run", "lower(address) AS mailbox", "`database`")


def planned_faults(plans: DataFrame) -> DataFrame:
    """One row a fault as planned; times are intents and judge nothing."""
    exploded = plans.selectExpr("run", "inline(plan.faults)")
    return exploded.withColumnRenamed("id", "fault").fillna({"fault": NAMELESS})


def expected_promotions(plans: DataFrame) -> DataFrame:
    """`expect.promotions`, one row each, with its `pos`: `of`, `cause`, `after_ms`, `within_ms`."""
    return plans.selectExpr("run", "posexplode(plan.expect.promotions)").selectExpr(
        "run", "pos", "col.*"
    )


def expected_resubmissions(plans: DataFrame) -> DataFrame:
    """`expect.resubmissions`, one row each: `run`, `database`, `safety_net` (primary, shadow)."""
    exploded = plans.selectExpr("run", "inline(plan.expect.resubmissions)")
    return exploded.selectExpr(
        "run", "`database`", "substring_index(`from`, '-', 1) AS safety_net"
    ).distinct()


def operations(plans: DataFrame) -> DataFrame:
    """One row an operation as planned: `operation`, `kind`, `at_ms`, `database`, `to`."""
    exploded = plans.selectExpr("run", "inline(plan.operations)")
    return exploded.withColumnRenamed("id", "operation").fillna({"operation": NAMELESS})


def strangers(plans: DataFrame) -> DataFrame:
    """One row a client without the right to what it asks: `stranger`, `kind`, `server`."""
    exploded = plans.selectExpr("run", "inline(plan.strangers)")
    return exploded.selectExpr("run", "id AS stranger", "kind", "lower(server) AS server")
