"""manifest.json and host.json against plan.json, and what no host can have measured."""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.contradictions.made_by_lab import finding, found_in

OTHER_RUN = "not of the run that plan.json plans"
NO_RESOLUTION = "a clock resolution below 0"
NOT_ENDED = "the run did not go to its end"

_MOMENT = "try_to_timestamp({})"
_OTHER_RUN = " OR ".join(
    (
        "identity.scenario <> plan.scenario",
        "identity.seed <> plan.seed",
        "identity.speed <> plan.clock.speed",
        f"{_MOMENT.format('identity.origin')} <> {_MOMENT.format('plan.clock.origin')}",
    )
)


def of_whole_files(plans: DataFrame) -> DataFrame:
    """Contradictions, as `found_in` gives them. `plans` is that of
    `spark_eval.read.plan.parsed_plans`.
    """
    return found_in(
        plans,
        finding(
            f"size(plan.messages) > 0 AND ({_OTHER_RUN})", "'manifest.json'", "NULL", OTHER_RUN
        ),
        finding("resolution_ms < 0", "'host.json'", "NULL", NO_RESOLUTION),
        finding("`exit` <> 0", "'host.json'", "NULL", NOT_ENDED),
    )
