"""`python -m tests.spark_eval.claims.altered CLAIM BEFORE AFTER [BEFORE AFTER …]`: which runs of a
claim's own tests notice when its text says AFTER for BEFORE, one change at a time.

An excuse that can be taken out and no run notices it has no test. Exits with 1 where a change goes
unnoticed.
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
from spark_eval.judging.judge import Histories, histories_of, tallies
from spark_eval.judging.results import ClaimResult, result_of
from spark_eval.read.folder.files import FolderFiles
from tests.spark_eval.claims.asked import BY_NAME

Runs = Mapping[str, Histories]


def main(words: Sequence[str]) -> int:
    if len(words) < 3 or len(words) % 2 == 0 or words[0] not in BY_NAME:
        print(__doc__, file=sys.stderr)
        return 2
    claim, changes = BY_NAME[words[0]], list(zip(words[1::2], words[2::2], strict=True))
    module = import_module(_module_of(claim))
    text = Path(str(module.__file__)).read_text("utf-8")
    strange = [before for before, _ in changes if text.count(before) != 1]
    if strange:
        print("\n".join(f"not once in the claim: {each}" for each in strange), file=sys.stderr)
        return 2
    noticed = list(_noticed(claim, text, changes))
    for (before, after), runs in zip(changes, noticed, strict=True):
        print(f"{before} -> {after}: {', '.join(runs) or 'NO RUN NOTICES'}")
    return int(not all(noticed))


def _module_of(claim: Claim) -> str:
    asked = claim.of_message or claim.of_server or claim.of_run
    assert asked is not None
    return str(asked.__module__)


def _noticed(claim: Claim, text: str, changes: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """Of each change, the runs of which the claim says something else."""
    runs = _runs(import_module(_tests_of(claim)))
    as_it_is = _told(claim, runs)
    for before, after in changes:
        other = _told(_claim_of(text.replace(before, after)), runs)
        yield [run for run in sorted(runs) if as_it_is[run] != other[run]]


def _tests_of(claim: Claim) -> str:
    room, _, name = _module_of(claim).removeprefix("spark_eval.").rpartition(".")
    return f"tests.spark_eval.{room}.test_{name}"


def _runs(tests: ModuleType) -> Runs:
    with TemporaryDirectory() as top:
        found = {}
        for name, run in tests.runs().items():
            run.name = name
            found[name] = histories_of(FolderFiles(run.write(Path(top))))
        return found


def _claim_of(text: str) -> Claim:
    names: dict[str, Any] = {"__name__": "altered"}
    exec(compile(text, "altered", "exec"), names)
    found = names["CLAIM"]
    assert isinstance(found, Claim)
    return found


def _told(claim: Claim, runs: Runs) -> Mapping[str, tuple[Any, ...]]:
    return {
        name: _words(result_of(claim, tallies(histories, [claim])[claim.name]))
        for name, histories in runs.items()
    }


def _words(result: ClaimResult) -> tuple[Any, ...]:
    examples = tuple(each.detail for each in result.examples)
    counts = result.asked, result.violations, result.unknown
    return result.status, *counts, result.reason, examples


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
