"""Message tracking logs: rows of any Exchange version, with this lab's custom-data taken apart.

Fields that a version does not have read as null. `mono_ns` and `database_id` come from custom-data
and are null for real servers, whose logs then leave more claims unknown. Times in custom-data go by
the clock that dates the row, and are corrected as its date is; but for `DeliveredAt` of HADISCARD,
which the primary server said.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.csv_log import IS_TRACKING, tracked
from spark_eval.read.names import PROBE_MARK, REF, message_id, short_name, without_probes

SAID_BY_PRIMARY = (
    f"{tracked('event-id')} = 'HADISCARD' OR try_element_at(custom, 'S:SafetyNet') = 'shadow'"
)


def _field(name: str) -> str:
    return f"nullif({tracked(name)}, '')"


def _custom(name: str) -> str:
    return f"try_element_at(custom, 'S:{name}')"


def _lab_ms(name: str) -> str:
    return f"unix_millis(try_to_timestamp({_custom(name)})) - origin_ms"


def tracking(parsed: DataFrame) -> DataFrame:
    """One row an event of a tracking log. `parsed` is from `csv_log.parse_rows`, as `clocks.placed`
    has placed it.
    """
    return without_probes(_events(parsed))


def probes(parsed: DataFrame) -> DataFrame:
    """The rows about probes, as those of `tracking`: a probe is in no question, but servers store
    it, hold its shadow, and say so.
    """
    return _events(parsed.where(f"startswith({_field('message-id')}, '{PROBE_MARK}')"))


def _events(parsed: DataFrame) -> DataFrame:
    return _with_custom(parsed).selectExpr(
        "run", "server", "at_ms", REF,
        "mono_ns",
        f"upper({_field('event-id')}) AS event",
        f"upper({_field('source')}) AS source",
        f"{_field('internal-message-id')} AS internal_id",
        f"{message_id(_field('message-id'))} AS message_id",
        f"{_field('network-message-id')} AS network_message_id",
        f"split(lower({_field('recipient-address')}), ';') AS recipients",
        f"try_cast({_field('recipient-count')} AS INT) AS recipient_count",
        f"{_field('recipient-status')} AS recipient_status",
        f"try_cast({_field('total-bytes')} AS BIGINT) AS size_bytes",
        f"replace(lower({_field('return-path')}), '<>', '') AS sender",
        f"{_field('source-context')} AS context",
        f"{short_name(_field('server-hostname'))} AS peer",
        f"{_field('reference')} AS reference",
        f"{_custom('DatabaseId')} AS database_id",
        f"{short_name(_custom('ShadowServer'))} AS shadow_server",
        f"try_cast({_custom('Attempts')} AS INT) AS attempts",
        f"lower({_custom('Outcome')}) AS outcome",
        f"{short_name(_custom('PrimaryServer'))} AS primary_server",
        f"{_custom('PrimaryDatabaseId')} AS primary_database_id",
        f"{_custom('PrimaryInternalId')} AS primary_internal_id",
        f"{_custom('Fork')} AS fork",
        f"{_custom('Destination')} AS destination",
        f"{_custom('SafetyNet')} AS safety_net",
        f"{_custom('CopyInternalId')} AS copy_internal_id",
        f"{_lab_ms('DeliveredAt')} - IF({SAID_BY_PRIMARY}, 0L, off_ms) AS delivered_at_ms",
        f"{_lab_ms('LastContact')} - off_ms AS last_contact_ms",
    )  # fmt: skip


def _with_custom(parsed: DataFrame) -> DataFrame:
    return parsed.where(f"sound AND {IS_TRACKING}").selectExpr(
        "*", f"str_to_map({_field('custom-data')}, ';(?=S:)', '=') AS custom"
    )
