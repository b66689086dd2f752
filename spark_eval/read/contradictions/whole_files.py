"""manifest.json and host.json against plan.json, and what no host can have measured."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.read.contradictions.made_by_lab import found
from spark_eval.read.csv_rows import epoch_ms_of
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading

OTHER_RUN = "not of the run that plan.json plans"
NO_RESOLUTION = "a clock resolution below 0"
NOT_ENDED = "the run did not go to its end"


def of_whole_files(heading: Heading) -> Iterator[Damage]:
    if heading.is_made and _is_another_run(heading):
        yield found("manifest.json", None, OTHER_RUN)
    if (heading.host.clock_resolution_ms or 0) < 0:
        yield found("host.json", None, NO_RESOLUTION)
    if heading.host.exit not in (None, 0):
        yield found("host.json", None, NOT_ENDED)


def _is_another_run(heading: Heading) -> bool:
    plan, manifest = heading.plan, heading.manifest
    pairs = (
        (manifest.scenario, plan.scenario),
        (manifest.seed, plan.seed),
        (manifest.speed, plan.clock.speed),
        (epoch_ms_of(manifest.origin or ""), epoch_ms_of(plan.clock.origin or "")),
    )
    return any(mine is not None and theirs is not None and mine != theirs for mine, theirs in pairs)
