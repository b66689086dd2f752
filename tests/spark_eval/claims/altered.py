"""`python -m tests.spark_eval.claims.altered CLAIM BEFORE AFTER [BEFORE AFTER …]`: which runs of a
claim's own tests notice when its text says AFTER for BEFORE, one change at a time.

An excuse that can be taken out and no run notices it has no test. All changes share a session, so
twenty take little longer than one. Exits with 1 where a change goes unnoticed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from spark_eval.claims.claim import Claim
from spark_eval.expected.tables import Tables
from spark_eval.next.judging.results import ClaimResult
from spark_eval.read.record import Record
from spark_eval.read.run_folder import RunFolder, open_run_folder
from spark_eval.read.source import Folders
from spark_eval.session import using_session
from tests.spark_eval.claims.asked import BY_NAME

Told = Mapping[str, tuple[Any, ...]]


def main(words: Sequence[str]) -> int:
    if len(words) < 3 or len(words) % 2 == 0 or words[0] not in BY_NAME:
        print(__doc__, file=sys.stderr)
        return 2
    claim, changes = BY_NAME[words[0]], list(zip(words[1::2], words[2::2], strict=True))
    text = Path(str(import_module(claim.cases.__module__).__file__)).read_text("utf-8")
    strange = [before for before, _ in changes if text.count(before) != 1]
    if strange:
        print("\n".join(f"not once in the claim: {each}" for each in strange), file=sys.stderr)
        return 2
    noticed = list(_noticed(claim, text, changes))
    for (before, after), runs in zip(changes, noticed, strict=True):
        print(f"{before} -> {after}: {', '.join(runs) or 'NO RUN NOTICES'}")
    return int(not all(noticed))


def _noticed(claim: Claim, text: str, changes: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """Of each change, the runs of which the claim says something else."""
    tests = import_module(f"tests.{_tests_of(claim)}")
    with TemporaryDirectory() as top, using_session("local[2]") as spark:
        tables = Tables(Record(Folders(spark, list(_folders(tests, Path(top))))))
        as_it_is = _told(claim, tables)
        for before, after in changes:
            other = _told(_claim_of(text.replace(before, after)), tables)
            runs = sorted(as_it_is.keys() | other.keys())
            yield [run for run in runs if as_it_is.get(run) != other.get(run)]


def _tests_of(claim: Claim) -> str:
    room, _, name = claim.cases.__module__.rpartition(".")
    return f"{room}.test_{name}"


def _folders(tests: ModuleType, top: Path) -> Iterator[RunFolder]:
    for name, run in tests.runs().items():
        run.name = name
        yield open_run_folder(run.write(top))


def _claim_of(text: str) -> Claim:
    names: dict[str, Any] = {"__name__": "altered"}
    exec(compile(text, "altered", "exec"), names)
    found = names["CLAIM"]
    assert isinstance(found, Claim)
    return found


def _told(claim: Claim, tables: Tables) -> Told:
    return {run: _words(result) for run, result in claim.check(tables).items()}


def _words(result: ClaimResult) -> tuple[Any, ...]:
    examples = tuple(each.detail for each in result.examples)
    counts = result.asked, result.violations, result.unknown
    return result.status, *counts, result.reason, examples


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
