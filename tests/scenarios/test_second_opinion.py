"""Two opinions about the same records: the evaluation's, and DuckDB's (`bench.second_opinion`).

Every scenario of the library, seeds of the random ones (`make fuzz`: 100 of each), single faults,
nodes that break a promise, and runs that were spoiled afterwards, case by case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from bench.second_opinion import opinion, sources
from bench.second_opinion.lines import Lines
from bench.second_opinion.opinion import CLAIMS, Case
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios import spoiled
from tests.scenarios.batches import Judged
from tests.scenarios.judging import JudgedCase
from tests.scenarios.recorded import recorded, write_folder
from tests.scenarios.sets import EVERY_LOST_DISK, EVERY_SINGLE_FAULT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

# sets about which the second one has no opinion
NO_OPINION = {
    # how long a Safety Net may keep what is lost with a copy of a database; how much is lost where
    # most of it is sent to groups
    "no_loss": {"settings drawn", "groups", "members-changed"},
    # logs with holes: of lost disks
    "redundant_before_ack": {EVERY_LOST_DISK},
    # promotions before their time, of which no_early_promotion asks; contacts that a kill hid; a
    # server that logs another database id than it was answered with
    "promotion_on_time": {
        "asks-nobody-after-a-pause", "keeps-the-last-contact-in-memory", "waits-half-the-span",
        EVERY_SINGLE_FAULT, "sees-another-database-two-answers-late",
    },
}  # fmt: skip
# a group is nobody who could see a message, and who was in it when the second opinion does not say
TO_GROUPS = """
    SELECT DISTINCT run, message_id FROM promised JOIN (
        SELECT run, lower(named ->> '$.address') AS recipient FROM (
            SELECT run, unnest(from_json(plan -> '$.topology.groups', '["JSON"]')) AS named
            FROM plans
        )
    ) USING (run, recipient)
"""
# whose sender had its 250 from the Outbox, which the second opinion takes for a server's
FROM_OUTBOXES = """
    SELECT run, row ->> '$.message_id' FROM ledger
    WHERE row ->> '$.type' = 'message' AND row ->> '$.mail' = 'internal'
"""
# groups that one server expands: a hop to it within a boundary is no delivery, and who is outside
# may be in two of them that are expanded apart
HANDED_ON = f"""
    SELECT run, message_id FROM ({TO_GROUPS}) WHERE run IN (
        SELECT run FROM (
            SELECT run, unnest(from_json(plan -> '$.topology.groups', '["JSON"]')) AS named
            FROM plans
        ) WHERE named ->> '$.expansion_server' IS NOT NULL
    )
"""
# messages about which the second one has no opinion, by claim
NO_OPINION_OF = {
    "no_loss": TO_GROUPS,
    "redundant_before_ack": f"{FROM_OUTBOXES} UNION {HANDED_ON}",
    "no_visible_duplicate": HANDED_ON,
}
Opinion = Mapping[str, Counter[Case]]
LeftOut = Mapping[str, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Opinions:
    """By claim, how often each case was asked. `strict` is the second one's other reading;
    `left_out`: run and Message-Id of what the second one has no opinion about, by claim.
    """

    first: Opinion
    second: Opinion
    strict: Opinion
    left_out: LeftOut


def opinions_of(judged: Judged) -> Opinions:
    with duckdb.connect() as connection:
        sources.from_parquet(connection, judged.lines)
        opinion.judge(connection)
        loosely, strictly = (
            {name: Counter(opinion.cases(connection, name, strictly=way)) for name in CLAIMS}
            for way in (False, True)
        )
        left_out = {
            claim: frozenset(connection.execute(query).fetchall())
            for claim, query in NO_OPINION_OF.items()
        }
    return Opinions(cases_by_claim(judged.cases), loosely, strictly, left_out)


def cases_by_claim(cases: Iterable[JudgedCase]) -> Opinion:
    found: dict[str, Counter[Case]] = {name: Counter() for name in CLAIMS}
    for claim, *case in cases:
        found[claim][Case(*case)] += 1
    return found


@pytest.fixture(scope="module")
def opinions(judged: Judged) -> Opinions:
    """Of what both have an opinion about."""
    found = opinions_of(judged)
    first, second, strict = (
        _of_both(each, found.left_out) for each in (found.first, found.second, found.strict)
    )
    return Opinions(first, second, strict, found.left_out)


def _of_both(opinion: Opinion, left_out: LeftOut) -> Opinion:
    def has_one(claim: str, case: Case) -> bool:
        message_id = case.subject.partition(" to ")[0].partition(" at ")[0]
        is_left = (case.run, message_id) in left_out.get(claim, ())
        return not is_left and set_of(case) not in NO_OPINION.get(claim, set())

    return {
        claim: Counter({case: count for case, count in cases.items() if has_one(claim, case)})
        for claim, cases in opinion.items()
    }


def violated(cases: Counter[Case]) -> set[Case]:
    return {case for case in cases if case.status == "violated"}


def set_of(case: Case) -> str:
    """The name of the set that the case's run is in."""
    return case.run.rpartition("/")[0]


@pytest.mark.fuzz
@pytest.mark.parametrize("claim", CLAIMS)
def test_both_opinions_have_the_same_cases(claim: str, opinions: Opinions) -> None:
    assert opinions.second[claim] - opinions.first[claim] == Counter()
    assert opinions.first[claim] - opinions.second[claim] == Counter()


@pytest.mark.fuzz
@pytest.mark.parametrize("claim", CLAIMS)
def test_what_the_first_opinion_finds_is_found_by_the_strict_reading(
    claim: str, opinions: Opinions
) -> None:
    assert violated(opinions.first[claim]) <= violated(opinions.strict[claim])


@pytest.mark.parametrize("claim", CLAIMS)
def test_sound_runs_hold_by_the_strict_reading_too(claim: str, opinions: Opinions) -> None:
    found = violated(opinions.strict[claim])
    assert {case for case in found if set_of(case) in SCENARIOS} == set()


@pytest.mark.parametrize(("claim", "sets"), list(zip(CLAIMS, (6, 5, 10, 9), strict=True)))
def test_there_is_something_to_agree_about(claim: str, sets: int, opinions: Opinions) -> None:
    """Agreement about runs that hold would say little."""
    assert len(set(map(set_of, violated(opinions.first[claim])))) >= sets


@pytest.mark.parametrize("run", spoiled.RUNS, ids=str)
def test_a_spoiled_run_violates_what_was_spoiled(
    run: spoiled.SpoiledRun, opinions: Opinions
) -> None:
    found = {
        claim
        for claim in CLAIMS
        if any(set_of(case) == str(run) for case in violated(opinions.second[claim]))
    }
    assert (run.claim in found) if run.claim else not found


def test_a_run_folder_and_lines_are_the_same_record(tmp_path: Path) -> None:
    files = recorded("lossy-failover", 7)
    with duckdb.connect() as of_folder, duckdb.connect() as of_lines:
        sources.from_folders(of_folder, {"one": write_folder(tmp_path / "folder", files)})
        lines = Lines()
        for file, texts in files.items():
            lines.add("one", file, texts)
        lines.write(tmp_path / "lines.parquet")
        sources.from_parquet(of_lines, str(tmp_path / "lines.parquet"))
        for connection in (of_folder, of_lines):
            opinion.judge(connection)
        for table in ("tracking", "visible", "contacts", "lifecycle", "faults", "acknowledged"):
            rows = [
                c.execute(f"FROM {table} ORDER BY ALL").fetchall() for c in (of_folder, of_lines)
            ]
            assert rows[0] == rows[1], table
            assert rows[0], table
        assert opinion.counts(of_folder) == opinion.counts(of_lines)
