"""Two opinions about the same records: the evaluation's, and DuckDB's (`bench.second_opinion`).

Every scenario of the library, some seeds of the random ones, nodes that break a promise, and runs
that were spoiled afterwards, case by case. SHADOWLAB_FUZZ / 100 is the number of seeds of each
random scenario (3 by default; `make fuzz`: 100).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from bench.second_opinion import opinion, sources
from bench.second_opinion.opinion import CLAIMS, Case
from lab.planning.resolve import default_seed
from tests import broken_nodes
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.second_opinion import spoiled
from tests.second_opinion.first_opinion import cases_by_claim
from tests.second_opinion.recorded import Files, recorded, write_folder, write_lines

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

RANDOM = (
    "anything-goes", "around-the-span", "cuts-only", "failovers", "one-server-at-a-time",
)  # fmt: skip
SEEDS = range(1, 1 + int(os.environ.get("SHADOWLAB_FUZZ", "300")) // 100)
AT_ONCE = 100
Opinion = Mapping[str, Counter[Case]]


@dataclass(frozen=True, slots=True)
class Opinions:
    """By claim, how often each case was asked. `strict` is the second one's other reading."""

    first: Opinion
    second: Opinion
    strict: Opinion


def library() -> Iterator[tuple[str, Files]]:
    for name in SCENARIOS:
        yield name, recorded(name, default_seed(name))


def broken() -> Iterator[tuple[str, Files]]:
    for run in broken_nodes.RUNS:
        with run.broken():
            yield f"{run.broken.__name__} in {run.scenario}", recorded(run.scenario, 1)


def spoiled_runs() -> Iterator[tuple[str, Files]]:
    for run in spoiled.RUNS:
        yield name_of(run), run.spoil(recorded(run.scenario, run.seed))


def name_of(run: spoiled.SpoiledRun) -> str:
    return f"{run.spoil.__name__} in {run.scenario}"


def of_random_scenarios() -> Iterator[tuple[str, Files]]:
    for seed in SEEDS:
        for name in RANDOM:
            yield f"{name}-{seed}", recorded(name, seed)


def opinions_of(spark: SparkSession, folder: Path, runs: Mapping[str, Files]) -> Opinions:
    path = folder / "lines.parquet"
    write_lines(path, runs)
    with duckdb.connect() as connection:
        sources.from_parquet(connection, str(path))
        opinion.judge(connection)
        loosely, strictly = (
            {name: Counter(opinion.cases(connection, name, strictly=way)) for name in CLAIMS}
            for way in (False, True)
        )
    return Opinions(cases_by_claim(spark, path), loosely, strictly)


@pytest.fixture(scope="module")
def opinions(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Opinions:
    runs = dict(library()) | dict(broken()) | dict(spoiled_runs())
    return opinions_of(spark, tmp_path_factory.mktemp("opinions"), runs)


def violated(cases: Counter[Case]) -> set[Case]:
    return {case for case in cases if case.status == "violated"}


@pytest.mark.parametrize("claim", CLAIMS)
def test_both_opinions_have_the_same_cases(claim: str, opinions: Opinions) -> None:
    assert opinions.second[claim] - opinions.first[claim] == Counter()
    assert opinions.first[claim] - opinions.second[claim] == Counter()


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_the_first_opinion_finds_is_found_by_the_strict_reading(
    claim: str, opinions: Opinions
) -> None:
    assert violated(opinions.first[claim]) <= violated(opinions.strict[claim])


@pytest.mark.parametrize("claim", CLAIMS)
def test_sound_runs_hold_by_the_strict_reading_too(claim: str, opinions: Opinions) -> None:
    assert {case for case in violated(opinions.strict[claim]) if case.run in SCENARIOS} == set()


@pytest.mark.parametrize(("claim", "runs"), list(zip(CLAIMS, (6, 5, 10, 9), strict=True)))
def test_there_is_something_to_agree_about(claim: str, runs: int, opinions: Opinions) -> None:
    """Agreement about runs that hold would say little."""
    assert len({case.run for case in violated(opinions.first[claim])}) >= runs


@pytest.mark.parametrize("run", spoiled.RUNS, ids=name_of)
def test_a_spoiled_run_violates_what_was_spoiled(
    run: spoiled.SpoiledRun, opinions: Opinions
) -> None:
    found = {
        claim
        for claim in CLAIMS
        if any(case.run == name_of(run) for case in violated(opinions.second[claim]))
    }
    assert (run.claim in found) if run.claim else not found


@pytest.mark.fuzz
def test_both_have_the_same_opinion_of_random_scenarios(
    spark: SparkSession, tmp_path: Path
) -> None:
    runs = of_random_scenarios()
    while some := dict(islice(runs, AT_ONCE)):
        found = opinions_of(spark, tmp_path, some)
        assert found.second == found.first
        for claim in CLAIMS:
            assert violated(found.first[claim]) <= violated(found.strict[claim])


def test_a_run_folder_and_lines_are_the_same_record(tmp_path: Path) -> None:
    files = recorded("lossy-failover", 7)
    with duckdb.connect() as of_folder, duckdb.connect() as of_lines:
        sources.from_folders(of_folder, {"one": write_folder(tmp_path / "folder", files)})
        write_lines(tmp_path / "lines" / "lines.parquet", {"one": files})
        sources.from_parquet(of_lines, str(tmp_path / "lines" / "*.parquet"))
        for connection in (of_folder, of_lines):
            opinion.judge(connection)
        for table in ("tracking", "visible", "contacts", "lifecycle", "faults", "acknowledged"):
            rows = [
                c.execute(f"FROM {table} ORDER BY ALL").fetchall() for c in (of_folder, of_lines)
            ]
            assert rows[0] == rows[1], table
            assert rows[0], table
        assert opinion.counts(of_folder) == opinion.counts(of_lines)
