"""From tables to judgements: every claim asked of every run, and the verdict that they reach.

Claims are asked together, in a few Spark jobs side by side: planning one takes a core as long as
running it. A check that crashes makes its claim unknown and leaves the others alone. One run, a
night and a batch of a sweep are judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from spark_eval.as_tables.claims.claim import Claim, summarise
from spark_eval.as_tables.claims.mail import no_loss
from spark_eval.as_tables.claims.safety_net import resubmission_bounded
from spark_eval.as_tables.claims.shadow import no_early_promotion, promotion_on_time
from spark_eval.as_tables.expected.shadow_copies import FAR_ABOVE
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.fault_windows import downs
from spark_eval.as_tables.transforms.unexplained import unexplained
from spark_eval.judging import verdict
from spark_eval.judging.judged import Judgement
from spark_eval.next.judging.results import ClaimResult
from spark_eval.read.damage import log_damage
from spark_eval.sql.collected import Rows, collected
from spark_eval.sql.unions import union_of

JOBS = 2
"""Claims are asked in so many at once: with more of them, tables that claims share are read more
often than it saves.
"""


def judge(tables: Tables, runs: Sequence[str], checks: Sequence[Claim]) -> dict[str, Judgement]:
    """The judgement of each of `runs`; writes nothing."""
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(_asked, tables)
        found = check_claims(checks, tables, runs)
        asked = asking.result()
    return {run: _judgement(run, found, asked[run]) for run in runs}


def check_claims(
    checks: Sequence[Claim], tables: Tables, runs: Sequence[str]
) -> dict[str, dict[str, ClaimResult]]:
    """Results by claim and run; whatever a check raises becomes unknown, crashed."""
    each = -(-len(checks) // JOBS)
    groups = [checks[first : first + each] for first in range(0, len(checks), each)]
    found: dict[str, dict[str, ClaimResult]] = {}
    with ThreadPoolExecutor(JOBS) as pool:
        for checked in pool.map(lambda group: _checked(group, tables, runs), groups):
            found |= checked
    return found


def _checked(
    checks: Sequence[Claim], tables: Tables, runs: Sequence[str]
) -> dict[str, dict[str, ClaimResult]]:
    try:
        found = _together(checks, tables)
    except Exception:  # of one of them: which one shows when each is asked alone
        return {check.name: _alone(check, tables, runs) for check in checks}
    return {check.name: _of_all(check, found.get(check.name, {}), runs) for check in checks}


def _together(checks: Sequence[Claim], tables: Tables) -> dict[str, dict[str, ClaimResult]]:
    cases = [asked for check in checks if (asked := check.asked(tables)) is not None]
    rows = summarise(union_of(cases)).collect() if cases else []
    named = {check.name: check for check in checks}
    found: dict[str, dict[str, ClaimResult]] = {}
    for row in rows:
        found.setdefault(row["claim"], {})[row["run"]] = named[row["claim"]].result(row)
    return found


def _alone(check: Claim, tables: Tables, runs: Sequence[str]) -> dict[str, ClaimResult]:
    try:
        found = check.check(tables)
    except Exception as error:
        return {run: check.crashed(error) for run in runs}
    return _of_all(check, found, runs)


def _of_all(
    check: Claim, found: Mapping[str, ClaimResult], runs: Sequence[str]
) -> dict[str, ClaimResult]:
    return {run: found.get(run, check.nothing_asked()) for run in runs}


def _judgement(
    run: str, found: Mapping[str, Mapping[str, ClaimResult]], asked: verdict.Asked
) -> Judgement:
    results = {name: by_run[run] for name, by_run in found.items()}
    return Judgement(verdict.applied(results, asked), verdict.reach(results, asked))


def _asked(tables: Tables) -> dict[str, verdict.Asked]:
    """What each plan asks, with the evidence of its faults and operations."""
    known = tables.resubmission
    told = {
        "runs": tables.record.runs,
        "faults": tables.windows.select("run", "fault", "took_effect", "reason"),
        "damage": log_damage(unexplained(tables.record.damaged_lines, downs(tables.windows))),
    }
    if known is not None:
        told["operations"] = known.operations.select("run", "operation", "took_effect", "reason")
    none: dict[str, Rows] = {"operations": []}
    rows = none | collected(told)
    return {
        run["run"]: _asked_of(
            run,
            {row["fault"]: row for row in _of(run, rows["faults"])},
            {row["operation"]: row for row in _of(run, rows["operations"])},
            sorted(map(_damage, _of(run, rows["damage"]))),
        )
        for run in rows["runs"]
    }


def _of(run: Mapping[str, Any], rows: Rows) -> Rows:
    return [row for row in rows if row["run"] == run["run"]]


def _asked_of(
    run: Mapping[str, Any],
    faults: dict[str, Any],
    operations: dict[str, Any],
    damage: Sequence[str],
) -> verdict.Asked:
    expect = run["expect"] or {}
    return verdict.Asked(
        proves=tuple(run["proves"] or ()),
        faults={name: row["took_effect"] for name, row in sorted(faults.items())},
        operations={name: row["took_effect"] for name, row in sorted(operations.items())},
        needs=tuple(needed(expect)),
        unseen={name: row["reason"] or "" for name, row in (faults | operations).items()},
        too_coarse=_too_coarse(run),
        expected=expect.get("verdict") or verdict.PASS,
        damage=tuple(damage),
    )


def needed(expect: Mapping[str, Any]) -> Iterator[str]:
    """The claims that compare what `expect` says with what came; [] says something too."""
    if expect.get("lost") is not None or expect.get("unprotected_loss") is not None:
        yield no_loss.CLAIM.name
    if expect.get("promotions") is not None:
        yield no_early_promotion.CLAIM.name
    if expect.get("promotions"):
        yield promotion_on_time.CLAIM.name
    if expect.get("resubmissions") is not None:
        yield resubmission_bounded.CLAIM.name


def _damage(row: Mapping[str, Any]) -> str:
    where = f", {row['lines']}, first line {row['first_line']}" if row["first_line"] else ""
    return f"{row['file']} is damaged: {row['damage']}{where}"


def _too_coarse(row: Mapping[str, Any]) -> str:
    resolution = row["resolution_ms"]
    if resolution is None:
        return "host.json states no clock resolution, so no duration can be judged"
    shortest = min(row["heartbeat_ms"], row["span_ms"])
    if shortest >= FAR_ABOVE * resolution:
        return ""
    return (
        f"the lab's clock resolves {resolution:g} ms, too coarse to judge a duration of "
        f"{shortest} ms: {FAR_ABOVE} times the resolution is needed"
    )
