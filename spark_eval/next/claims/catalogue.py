"""All claims, in the order of reports."""

from __future__ import annotations

from spark_eval.next.claims.claim import Claim
from spark_eval.next.claims.mail import (
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
from spark_eval.next.claims.safety_net import resubmission_bounded, resubmission_complete
from spark_eval.next.claims.shadow import (
    discard_after_delivery,
    discards_asked,
    heartbeats_paced,
    held_long_enough,
    no_early_promotion,
    promotion_on_time,
    redundant_before_ack,
    shadow_attempts,
    shadow_placement,
    shadowed_again,
)

ALL: tuple[Claim, ...] = (
    no_loss.CLAIM,
    no_phantom.CLAIM,
    no_visible_duplicate.CLAIM,
    content_intact.CLAIM,
    answered_in_time.CLAIM,
    refused_for_cause.CLAIM,
    dsn_sent.CLAIM,
    delay_dsn_sent.CLAIM,
    dsn_suppressed.CLAIM,
    drains_after_heal.CLAIM,
    resubmission_complete.CLAIM,
    resubmission_bounded.CLAIM,
    delivered_in_time.CLAIM,
    redundant_before_ack.CLAIM,
    shadow_placement.CLAIM,
    shadow_attempts.CLAIM,
    shadowed_again.CLAIM,
    discard_after_delivery.CLAIM,
    discards_asked.CLAIM,
    heartbeats_paced.CLAIM,
    held_long_enough.CLAIM,
    promotion_on_time.CLAIM,
    no_early_promotion.CLAIM,
    deferred_for_cause.CLAIM,
    retries_paced.CLAIM,
    rows_fit.CLAIM,
    statuses_fit.CLAIM,
    logged_once.CLAIM,
    traceable.CLAIM,
)
