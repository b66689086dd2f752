"""faults.jsonl and operations.jsonl against the plan, and each fault's phases against each other.

A fault without evidence is a reason of its own in a verdict, and not named again here. Times are
those of the lab's clock: what began before it was planned, or healed before it began, did not.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval import schema
from spark_eval.fault_kinds import KEYS
from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.read.plan import NAMELESS
from spark_eval.spark.joins import joined, small

UNPLANNED = "names what plan.json does not have"
NO_PHASE = "a phase that there is not"
TWICE = "the same phase twice"
OTHERWISE = "not what plan.json says of it"
EARLY = "earlier than plan.json says"
OUT_OF_ORDER = "a phase that the one before it is not there for"
UNHEALED = "never healed, though the run went to its end"

PHASES = (
    "armed", "reached", "intended", "applied", "evidence", "heal-intended", "healed",
    "evidence-healed",
)  # fmt: skip
# what an intent says again of what is planned
REPEATED: schema.Columns = (
    ("kind", "STRING"),
    ("server", "STRING"),
    ("links", f"ARRAY<{schema.LINK}>"),
    *KEYS,
    ("database", "STRING"),
    ("to", "STRING"),
)
SAID: schema.Columns = (
    ("fault", "STRING"),
    ("operation", "STRING"),
    ("phase", "STRING"),
    ("at_ms", "BIGINT"),
    ("took_effect", "BOOLEAN"),
    *REPEATED,
)
FAULTS, OPERATIONS = "faults.jsonl", "operations.jsonl"
ROUNDED_MS = "1.0D"
"""Lab time is cut to whole milliseconds; whatever stands there can be subtracted from."""


def of_journals(made: DataFrame, plans: DataFrame, records: DataFrame) -> DataFrame:
    """Contradictions, as `found_in` gives them. `records` is
    `spark_eval.read.records.with_soundness`, `plans` that of `spark_eval.read.plan.parsed_plans`.
    """
    accounts = _planned(plans).unionByName(_written(records), allowMissingColumns=True)
    at = [F.expr(f"min(at_ms) FILTER (WHERE phase = '{phase}') AS `{phase}`") for phase in PHASES]
    together = accounts.groupBy("run", "file", "id").agg(
        F.expr("max(planned) AS planned"),
        F.expr("array_sort(collect_list(said)) AS lines"),
        F.expr("min(said) FILTER (WHERE phase = 'intended') AS intent"),
        F.expr("bool_or(took_effect) FILTER (WHERE phase = 'evidence') AS seen"),
        F.expr("min(line) AS first_line"),
        *at,
    )
    known = joined(together, small(made), "run").selectExpr(
        "*", f"file = '{FAULTS}' AS is_fault", "transform(lines, l -> l.phase) AS phases"
    )
    return found_in(known.where("first_line IS NOT NULL"), *_FINDINGS)


def _planned(plans: DataFrame) -> DataFrame:
    of_faults = _repeated({"database", "to"})
    faults = plans.selectExpr("run", "inline(plan.faults)").selectExpr(
        "run", f"'{FAULTS}' AS file", "id",
        f"struct(start_ms, IF(`when` IS NULL, end_ms, NULL) AS end_ms, {of_faults}) AS planned",
    )  # fmt: skip
    of_operations = _repeated({name for name, _ in REPEATED} - {"kind", "database", "to"})
    operations = plans.selectExpr("run", "inline(plan.operations)").selectExpr(
        "run", f"'{OPERATIONS}' AS file", "id",
        f"struct(at_ms AS start_ms, CAST(NULL AS BIGINT) AS end_ms, {of_operations}) AS planned",
    )  # fmt: skip
    return faults.unionByName(operations).fillna({"id": NAMELESS})


def _repeated(unknown: set[str]) -> str:
    return ", ".join(
        f"CAST(NULL AS {kind}) AS `{name}`" if name in unknown else f"`{name}`"
        for name, kind in REPEATED
    )


def _written(records: DataFrame) -> DataFrame:
    lines = records.where("sound AND kind IN ('faults', 'operations')").selectExpr(
        "run", "file", "line", f"from_json(text, '{schema.ddl(SAID)}') AS r"
    )
    repeated = ", ".join(f"r.`{name}` AS `{name}`" for name, _ in REPEATED)
    return lines.selectExpr(
        "run", "file", "coalesce(r.fault, r.operation) AS id", "line", "r.phase AS phase",
        "r.at_ms AS at_ms", "r.took_effect AS took_effect",
        f"struct(line, r.phase AS phase, {repeated}) AS said",
    )  # fmt: skip


def _line_of(condition: str) -> str:
    return f"get(filter(lines, l -> {condition}), 0).line"


def _follows(later: str, before: str) -> str:
    """SQL: the phase `later` is there, and the one before it is not, or was later."""
    return f"`{later}` IS NOT NULL AND coalesce(`{before}` > `{later}`, true)"


_OUT_OF_ORDER = {
    "applied": _follows("applied", "intended"),
    "evidence": f"seen AND {_follows('evidence', 'applied')}",
    "heal-intended": _follows("heal-intended", "intended"),
    "healed": f"applied IS NOT NULL AND {_follows('healed', 'heal-intended')}",
    "evidence-healed": _follows("evidence-healed", "healed"),
}
_OTHERWISE = " OR ".join(f"intent.`{name}` <> planned.`{name}`" for name, _ in REPEATED)
_TWICE = "filter(lines, (l, i) -> array_position(phases, l.phase) < i + 1)"
_EARLY = {
    "intended": f"intended < planned.start_ms - {ROUNDED_MS}",
    "heal-intended": f"ended AND `heal-intended` < planned.end_ms - {ROUNDED_MS}",
}
_FINDINGS = (
    finding("planned IS NULL", "file", "first_line", UNPLANNED),
    finding(f"exists(lines, l -> l.phase NOT IN {PHASES})", "file",
            _line_of(f"l.phase NOT IN {PHASES}"), NO_PHASE),
    finding(f"size({_TWICE}) > 0", "file", f"get({_TWICE}, 0).line", TWICE),
    finding(_OTHERWISE, "file", "intent.line", OTHERWISE),
    *(finding(said, "file", _line_of(f"l.phase = '{phase}'"), EARLY)
      for phase, said in _EARLY.items()),
    *(finding(said, "file", _line_of(f"l.phase = '{phase}'"), OUT_OF_ORDER)
      for phase, said in _OUT_OF_ORDER.items()),
    finding("ended AND is_fault AND intended IS NOT NULL AND `heal-intended` IS NULL", "file",
            "intent.line", UNHEALED),
)  # fmt: skip
