"""The claims, one file each; `ALL` is the order of reports.

To add one: a module with `cases(tables)` and a `CLAIM`, a line here, and three tests: it holds, it
is violated with the right counter-example, it is unknown for lack of anything asked.
"""

from __future__ import annotations

from spark_eval.claims import (
    content_intact,
    delivered_in_time,
    discard_after_delivery,
    drains_after_heal,
    dsn_sent,
    dsn_suppressed,
    held_long_enough,
    no_crash,
    no_early_promotion,
    no_loss,
    no_phantom,
    no_visible_duplicate,
    nothing_left_over,
    one_active_copy,
    promotion_on_time,
    redundant_before_ack,
    resubmission_bounded,
    resubmission_complete,
    shadow_placement,
    strangers_learn_nothing,
)
from spark_eval.claims.claim import Claim

ALL: tuple[Claim, ...] = (
    no_loss.CLAIM,
    no_phantom.CLAIM,
    no_visible_duplicate.CLAIM,
    content_intact.CLAIM,
    delivered_in_time.CLAIM,
    one_active_copy.CLAIM,
    redundant_before_ack.CLAIM,
    shadow_placement.CLAIM,
    discard_after_delivery.CLAIM,
    promotion_on_time.CLAIM,
    no_early_promotion.CLAIM,
    resubmission_complete.CLAIM,
    resubmission_bounded.CLAIM,
    dsn_sent.CLAIM,
    dsn_suppressed.CLAIM,
    held_long_enough.CLAIM,
    drains_after_heal.CLAIM,
    nothing_left_over.CLAIM,
    strangers_learn_nothing.CLAIM,
    no_crash.CLAIM,
)
