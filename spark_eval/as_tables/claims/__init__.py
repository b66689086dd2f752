"""The claims, one file each; `ALL` is the order of reports.

To add one: a module with `cases(tables)` and a `CLAIM`, its import and its place here, and three
tests: it holds, it is violated with the right counter-example, it is unknown for lack of anything
asked.
"""

from __future__ import annotations

from spark_eval.as_tables.claims.claim import Claim
from spark_eval.as_tables.claims.mail import (
    answered_in_time,
    content_intact,
    deferred_for_cause,
    delay_dsn_sent,
    delivered_in_time,
    drains_after_heal,
    dsn_sent,
    dsn_suppressed,
    logged_once,
    no_loss,
    no_phantom,
    no_visible_duplicate,
    refused_for_cause,
    retries_paced,
    rows_fit,
    statuses_fit,
    traceable,
)
from spark_eval.as_tables.claims.node import (
    deferrals_logged,
    intake_logged,
    lifecycle_logged,
    no_crash,
    nothing_left_over,
    sessions_ended,
    steps_logged,
    strangers_learn_nothing,
)
from spark_eval.as_tables.claims.safety_net import (
    best_copy_mounted,
    copies_agree,
    copies_follow,
    copies_logged,
    failover_allowed,
    failover_on_time,
    one_active_copy,
    resubmission_bounded,
    resubmission_complete,
)
from spark_eval.as_tables.claims.shadow import (
    discard_after_delivery,
    heartbeats_paced,
    held_long_enough,
    no_early_promotion,
    promotion_on_time,
    redundant_before_ack,
    shadow_placement,
)

ALL: tuple[Claim, ...] = (
    no_loss.CLAIM,
    no_phantom.CLAIM,
    no_visible_duplicate.CLAIM,
    content_intact.CLAIM,
    delivered_in_time.CLAIM,
    retries_paced.CLAIM,
    deferred_for_cause.CLAIM,
    answered_in_time.CLAIM,
    refused_for_cause.CLAIM,
    one_active_copy.CLAIM,
    failover_on_time.CLAIM,
    failover_allowed.CLAIM,
    best_copy_mounted.CLAIM,
    copies_follow.CLAIM,
    copies_agree.CLAIM,
    redundant_before_ack.CLAIM,
    shadow_placement.CLAIM,
    discard_after_delivery.CLAIM,
    heartbeats_paced.CLAIM,
    promotion_on_time.CLAIM,
    no_early_promotion.CLAIM,
    resubmission_complete.CLAIM,
    resubmission_bounded.CLAIM,
    dsn_sent.CLAIM,
    delay_dsn_sent.CLAIM,
    dsn_suppressed.CLAIM,
    held_long_enough.CLAIM,
    drains_after_heal.CLAIM,
    nothing_left_over.CLAIM,
    rows_fit.CLAIM,
    statuses_fit.CLAIM,
    logged_once.CLAIM,
    traceable.CLAIM,
    strangers_learn_nothing.CLAIM,
    deferrals_logged.CLAIM,
    intake_logged.CLAIM,
    sessions_ended.CLAIM,
    lifecycle_logged.CLAIM,
    steps_logged.CLAIM,
    copies_logged.CLAIM,
    no_crash.CLAIM,
)
