"""The tables that stay: each as `result_schema.py` says, written as Parquet below `evaluation/`.

Every figure of the report and every number of verdict.json comes from one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_eval import result_schema, schema
from spark_eval.claims.claim import ClaimResult
from spark_eval.places import to_read, to_write
from spark_eval.read.damage import log_damage
from spark_eval.read.lines import literal_rows
from spark_eval.read.run_folder import RunFolder
from spark_eval.safety_nets import of_safety_nets
from spark_eval.story.story import named_in, stories
from spark_eval.tables import Tables
from spark_eval.transforms.delays import delays, promotion_delays
from spark_eval.transforms.messages import messages
from spark_eval.transforms.timeline import timeline_events


def conform(rows: DataFrame, columns: schema.Columns) -> DataFrame:
    """The columns of a row type, in order, cast to its types."""
    return rows.selectExpr(*(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in columns))


def derived_tables(tables: Tables) -> dict[str, DataFrame]:
    """Every result table but those of the claims, and of Safety Nets where nobody can ask them."""
    record = tables.record
    made = {
        "messages": messages(
            tables.sent, tables.outcomes, tables.acknowledged, tables.copies, tables.deliveries
        ),
        "attempts": tables.attempts,
        "deliveries": tables.deliveries,
        "shadows": _shadows(tables.copies),
        "promotions": _promotions(tables.promotions),
        "discards": _discards(tables.discards),
        "fault_windows": tables.windows,
        "timeline_events": timeline_events(
            record.tracking, record.lifecycle, tables.promotions, record.runs
        ),
        "delays": delays(tables.deliveries, tables.windows),
        "promotion_delays": promotion_delays(tables.promotions),
        "log_damage": log_damage(record.damaged_lines),
    }
    if tables.resubmission is not None:
        made |= of_safety_nets(tables.resubmission)
    return {name: conform(rows, result_schema.RESULT_TABLES[name]) for name, rows in made.items()}


def claim_tables(
    spark: SparkSession, run: str, results: Mapping[str, ClaimResult]
) -> dict[str, DataFrame]:
    """`claims` and `counterexamples` of one run, from results by claim."""
    claims = [
        {
            "run": run,
            "claim": result.name,
            "status": result.status,
            "requirements": result.requirements,
            "asked": result.asked,
            "violations": result.violations,
            "unknown": result.unknown,
            "reason": result.reason,
        }
        for result in results.values()
    ]
    examples = [
        {
            "run": run,
            "claim": result.name,
            "which": example.which,
            "subject": example.subject,
            "at_ms": example.at_ms,
            "detail": example.detail,
            "refs": [{"file": file, "line": line} for file, line in example.refs],
        }
        for result in results.values()
        for example in result.examples
    ]
    return {
        "claims": literal_rows(spark, claims, result_schema.CLAIMS),
        "counterexamples": literal_rows(spark, examples, result_schema.COUNTEREXAMPLES),
    }


def story_table(
    spark: SparkSession, folder: RunFolder, results: Mapping[str, ClaimResult]
) -> DataFrame:
    """`stories`: every line about a message that a counter-example is about."""
    subjects = [example.subject for result in results.values() for example in result.examples]
    wanted = {name for name in map(named_in, subjects) if name is not None}
    rows = [
        {
            "run": folder.run,
            "message_id": line.message_id,
            "at_ms": line.at_ms,
            "mono_ns": line.mono_ns,
            "place": line.place,
            "what": line.what,
            "ref": {"file": line.file, "line": line.line},
        }
        for line in stories(folder, wanted)
    ]
    return literal_rows(spark, rows, result_schema.STORIES)


def write_tables(
    made: Mapping[str, DataFrame], folder: RunFolder, pool: ThreadPoolExecutor
) -> None:
    """One Parquet file a table, side by side; what was there is replaced."""

    def write(table: tuple[str, DataFrame]) -> None:
        name, rows = table
        rows.coalesce(1).write.mode("overwrite").parquet(
            to_write(folder.place(folder.evaluation / f"{name}.parquet"))
        )

    list(pool.map(write, made.items()))


def read_tables(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """What `write_tables` wrote, by explicit row types; without tables that a run does not have."""
    return {
        name: read_table(spark, folder, name)
        for name in result_schema.RESULT_TABLES
        if name not in result_schema.OF_SAFETY_NETS or (folder / f"{name}.parquet").exists()
    }


def read_table(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """One of them."""
    columns = schema.ddl(result_schema.RESULT_TABLES[name])
    return spark.read.schema(columns).parquet(to_read(folder / f"{name}.parquet"))


def _refs(*structs: str) -> str:
    return (
        f"filter(array({', '.join(f'{name}.ref' for name in structs)}), r -> r IS NOT NULL) AS refs"
    )


def _shadows(copies: DataFrame) -> DataFrame:
    return copies.selectExpr(
        "*", "server AS shadow_server", "claimed.attempts AS attempts",
        "discard.at_ms AS discarded_ms", "promoted.at_ms AS promoted_ms",
        _refs("claimed", "held", "discard", "promoted"),
    )  # fmt: skip


def _promotions(promotions: DataFrame) -> DataFrame:
    return promotions.where("promoted IS NOT NULL OR expected").selectExpr(
        "*", "server AS shadow_server", "promoted.at_ms AS promoted_ms", _refs("promoted", "held")
    )


def _discards(discards: DataFrame) -> DataFrame:
    asked = discards.where("order_status IS NOT NULL OR deadline_status IS NOT NULL")
    return asked.selectExpr(
        "*", "server AS shadow_server", "discard.at_ms AS discarded_ms", _refs("discard", "held")
    )
