"""What claims say of runs that tests made up: a module has a claim asked of what its `runs()`
gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import pytest

from spark_eval.claims.claim import Claim
from spark_eval.judging.judge import histories_of, tallies
from spark_eval.judging.results import ClaimResult, result_of
from spark_eval.read.folder.files import FolderFiles

Results: TypeAlias = dict[str, ClaimResult]
"""By the name of a run in its module."""
Ask: TypeAlias = Callable[[Claim], Results]


@pytest.fixture(scope="module")
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """What a claim says of this module's runs, each read once."""
    folder, histories = tmp_path_factory.mktemp("claims"), {}
    for name, run in request.module.runs().items():
        run.name = name
        histories[name] = histories_of(FolderFiles(run.write(folder)))

    def asked(claim: Claim) -> Results:
        return {
            name: result_of(claim, tallies(each, [claim])[claim.name])
            for name, each in histories.items()
        }

    return asked


def assert_all_hold(ask: Ask, claims: Iterable[Claim], run: str) -> None:
    """Each of these of a run."""
    for claim in claims:
        result = ask(claim)[run]
        assert result.status == "holds", (claim.name, result.examples)


def assert_is_violated(ask: Ask, claim: Claim, detail: str, run: str) -> None:
    """By a counter-example that says so much."""
    result = ask(claim)[run]
    assert result.status == "violated"
    assert any(detail in each.detail for each in result.examples), result.examples
