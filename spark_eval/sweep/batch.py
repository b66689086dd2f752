"""One batch of a sweep, from its lines to a result a run: read, derive, judge, let go of it all.

The tables and claims are those of a single run. What a batch kept in memory is freed before the
next one, so a sweep takes as much memory as its largest batch. A seed whose record cannot be read
is a result too: the lab could not do its work there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_eval import claims, schema
from spark_eval.expected.tables import Tables
from spark_eval.judging.judge import judge
from spark_eval.judging.judged import Judgement
from spark_eval.judging.verdict import NOT_CHECKED, PASS
from spark_eval.next.cases.case import HOLDS, UNKNOWN
from spark_eval.next.judging.results import NOTHING_ASKED, ClaimResult
from spark_eval.program.exit_codes import CRASHED
from spark_eval.read.lines_table import LinesTable
from spark_eval.read.record import Record
from spark_eval.read.scope import NAMES, Scope, together
from spark_eval.results.coverage import coverage
from spark_eval.session import Purpose, suited_to
from spark_eval.spark.checkpoints import checkpoints_below
from spark_eval.spark.paths import to_read
from spark_eval.spark.released import released
from spark_eval.sweep.cause import cause
from spark_eval.sweep.folder import SweepFolder

Result = dict[str, Any]

NO_RECORD = "no plan of this seed can be read in the record: the lab could not simulate it"


def judge_batch(spark: SparkSession, sweep: SweepFolder, batch: str) -> list[Result]:
    """A result for every run of `batch`, in order of seeds, and their file.

    Runs are distinguished by name: a shrink asks many plans under one seed. A seed that was to be
    there and is not gets a result that says so. Raises `RunFolderError`.
    """
    rows = spark.read.schema(schema.ddl(schema.SWEEP_LINES))
    lines = rows.parquet(to_read(sweep.record(batch)))
    purpose = Purpose.LARGE if sweep.has_large_runs(batch) else Purpose.SWEEP
    with released(spark), checkpoints_below(spark, sweep.path), suited_to(spark, purpose):
        found = _results(_read(lines, sweep), _settings(lines, sweep))
    seen = {result["seed"] for result in found}
    found += [_unread(sweep, seed) for seed in sweep.seeds_of(batch) if seed not in seen]
    judged = sorted(found, key=lambda result: (result["seed"], result["run"]))
    sweep.write_result(batch, judged)
    return judged


def _read(lines: DataFrame, sweep: SweepFolder) -> Record:
    return Record(LinesTable(lines, sweep.origin_ms, max(sweep.per_batch, 1)))


def _settings(lines: DataFrame, sweep: SweepFolder) -> dict[str, dict[str, str]]:
    """By run: for each setting that is drawn, in which part of it the plan's value lies."""
    if not sweep.settings:
        return {}
    values = F.array(*(F.get_json_object("text", each.path) for each in sweep.settings))
    plans = lines.where("file = 'plan.json'").select("run", values.alias("drawn"))
    return {row["run"]: dict(_parts(sweep, row["drawn"])) for row in plans.collect()}


def _parts(sweep: SweepFolder, values: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    for setting, value in zip(sweep.settings, values, strict=True):
        part = setting.part_of(value)
        if part is not None:
            yield setting.name, part


def _results(record: Record, settings: Mapping[str, dict[str, str]]) -> list[Result]:
    """In any order; a run whose plan cannot be read is not among them."""
    planned = _planned(record).collect()
    seeds = {row["run"]: row["seed"] for row in planned}
    scopes = [Scope(*(row[name] for name in NAMES)) for row in planned]
    tables = Tables(record, together(scopes))
    with ThreadPoolExecutor(1) as pool:
        naming, covering = pool.submit(_servers, record), pool.submit(_coverage, tables)
        judgements = judge(tables, list(seeds), claims.ALL)
        names, faults = naming.result(), covering.result()
    return [
        _result(run, seed, judgements[run], names, faults.get(run, {}), settings.get(run, {}))
        for run, seed in seeds.items()
    ]


def _planned(record: Record) -> DataFrame:
    return record.runs.where("end_ms IS NOT NULL AND seed IS NOT NULL").select(
        "run", "seed", *NAMES
    )


def _servers(record: Record) -> list[str]:
    """The servers of all plans; they share a scenario, so these are few."""
    return sorted(row["server"] for row in record.servers.select("server").distinct().collect())


def _coverage(tables: Tables) -> dict[str, dict[str, dict[str, int]]]:
    """By run: phase to kind of fault to messages."""
    by_run: dict[str, dict[str, dict[str, int]]] = {}
    rows = coverage(tables).orderBy("run", "phase", "kind")
    for row in rows.collect():
        by_run.setdefault(row["run"], {}).setdefault(row["phase"], {})[row["kind"]] = row[
            "messages"
        ]
    return by_run


def _result(
    run: str,
    seed: int,
    judgement: Judgement,
    servers: Sequence[str],
    met: Mapping[str, Any],
    settings: Mapping[str, str],
) -> Result:
    verdict = judgement.verdict
    return {
        "run": run,
        "seed": seed,
        "verdict": verdict.verdict,
        "exit_code": verdict.exit_code,
        "reasons": list(verdict.reasons),
        "foretold": verdict.expected,
        "not_as_foretold": list(verdict.not_as_expected),
        "claims": [_claim(result, servers) for result in judgement.results.values()],
        "requirements": {
            name: status for name, status in verdict.requirements.items() if status != NOT_CHECKED
        },
        "settings": settings,
        "coverage": met,
    }


def _claim(result: ClaimResult, servers: Sequence[str]) -> Result:
    """`cause` is empty where the claim holds or had nothing to ask."""
    example = result.examples[0] if result.examples else None
    told = example.detail if example else "" if _is_quiet(result) else result.reason
    return {
        "name": result.name,
        "status": result.status,
        "asked": result.asked,
        "violations": result.violations,
        "unknown": result.unknown,
        "reason": result.reason,
        "cause": cause(told, servers),
        "example": example
        and {"subject": example.subject, "at_ms": example.at_ms, "detail": example.detail},
    }


def _is_quiet(result: ClaimResult) -> bool:
    return result.status == HOLDS or result.reason == NOTHING_ASKED


def _unread(sweep: SweepFolder, seed: int) -> Result:
    return {
        "run": f"{sweep.scenario}-{seed}",
        "seed": seed,
        "verdict": UNKNOWN,
        "exit_code": CRASHED,
        "reasons": [NO_RECORD],
        "foretold": PASS,
        "not_as_foretold": [],
        "claims": [],
        "requirements": {},
        "settings": {},
        "coverage": {},
    }
