"""What claims say of runs that tests made up: a module has a claim asked of what its `runs()`
gives.

The runs of all modules are one batch: what claims ask of a run is derived for all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from pyspark.sql import SparkSession

from spark_eval.as_tables.claims.claim import Claim
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.next.judging.results import ClaimResult
from spark_eval.read.record import Record
from spark_eval.read.run_folder import RunFolder, open_run_folder
from spark_eval.read.source import Folders
from spark_eval.spark.released import released

Results: TypeAlias = dict[str, ClaimResult]
"""By the name of a run in its module."""
Ask: TypeAlias = Callable[[Any], Results]

HERE = Path(__file__).parent


class Batch:
    """Runs of modules, and each claim's results, asked when somebody wants them."""

    def __init__(self, spark: SparkSession, folder: Path, modules: Iterable[ModuleType]) -> None:
        self._names: dict[str, list[str]] = {}
        folders = [run for module in modules for run in self._written(module, folder)]
        self._tables = Tables(Record(Folders(spark, folders)))
        self._found: dict[str, Results] = {}

    def _written(self, module: ModuleType, folder: Path) -> Iterator[RunFolder]:
        runs = module.runs()
        self._names[module.__name__] = list(runs)
        for name, run in runs.items():
            run.name = _name(module, name)
            yield open_run_folder(run.write(folder))

    def ask(self, module: ModuleType, claim: Claim) -> Results:
        if claim.name not in self._found:
            self._found[claim.name] = claim.check(self._tables)
        found = self._found[claim.name]
        return {
            name: found.get(_name(module, name), claim.nothing_asked())
            for name in self._names[module.__name__]
        }


def _name(module: ModuleType, run: str) -> str:
    return f"{module.__name__.rpartition('.')[-1]}-{run}"


# claims of the judge of tables, and what they are split into besides
SPLIT = {
    "discard_after_delivery": ("discards_asked",),
    "shadow_placement": ("shadow_attempts", "shadowed_again"),
}


class Histories:
    """The same runs, asked by the judge of histories."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, dict[str, Results]] = {}

    def ask(self, module: ModuleType, claim: Claim) -> Results:
        from spark_eval.next.claims.catalogue import ALL
        from spark_eval.next.judging.judge import histories_of, tallies
        from spark_eval.next.judging.results import result_of
        from spark_eval.next.read.files import FolderFiles

        if module.__name__ not in self._found:
            self._found[module.__name__] = {}
            for name, run in module.runs().items():
                run.name = _name(module, name)
                found = tallies(histories_of(FolderFiles(run.write(self._folder))))
                for old, new in SPLIT.items():
                    for part in new:
                        if part in found:
                            found[old].add(found[part])
                for each in ALL:
                    results = self._found[module.__name__].setdefault(each.name, {})
                    results[name] = result_of(each, found[each.name])
        return self._found[module.__name__][claim.name]


@pytest.fixture(scope="package")
def batch(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Batch]:
    items = (item for item in request.session.items if item.path.is_relative_to(HERE))
    modules = dict.fromkeys(item.module for item in items if isinstance(item, pytest.Function))
    asking = [module for module in modules if hasattr(module, "runs")]
    with released(spark):
        yield Batch(spark, tmp_path_factory.mktemp("claims"), asking)


@pytest.fixture(scope="module")
def ask_histories(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """What a claim that has no twin among the tables says of this module's runs."""
    histories = Histories(tmp_path_factory.mktemp("claims"))
    return lambda claim: histories.ask(request.module, claim)


@pytest.fixture(
    scope="module", params=[pytest.param("tables", marks=pytest.mark.spark), "histories"]
)
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """What a claim says of this module's runs, by either judge."""
    if request.param == "histories":
        histories = Histories(tmp_path_factory.mktemp("claims"))
        return lambda claim: histories.ask(request.module, claim)
    batch = request.getfixturevalue("batch")
    return lambda claim: batch.ask(request.module, claim)
