"""Every defect, by what it breaks. Whoever adds a claim adds its defect here."""

from __future__ import annotations

from defects import (
    acknowledging,
    answering,
    ending_sessions,
    lost_senders,
    promoted_mail,
    promoting,
    reporting,
    safety_nets,
)
from defects.copies import (
    asked_resubmissions,
    asking_safety_nets,
    beyond_its_dag,
    changing_requests,
    dumpster,
    failing_over,
    lagging,
    moving,
    replicating,
    seeding,
    shipping,
    waiting,
)
from defects.defect import Defect
from defects.delivery import (
    altering,
    back_pressure,
    delivering,
    expanding,
    forgetting,
    redirecting,
    retrying,
    routing,
    showing,
    submitting,
)
from defects.discards import asking, dropping, leaving_out, letting_go, notifying
from defects.logs import lifecycle, messages, overstating, steps, tracking, twice
from defects.shadows import attempting, making, single_copies, watching

ALL: tuple[Defect, ...] = (
    *making.DEFECTS,
    *attempting.DEFECTS,
    *watching.DEFECTS,
    *single_copies.DEFECTS,
    *acknowledging.DEFECTS,
    *answering.DEFECTS,
    *lost_senders.DEFECTS,
    *notifying.DEFECTS,
    *asking.DEFECTS,
    *leaving_out.DEFECTS,
    *letting_go.DEFECTS,
    *dropping.DEFECTS,
    *promoting.DEFECTS,
    *promoted_mail.DEFECTS,
    *delivering.DEFECTS,
    *forgetting.DEFECTS,
    *altering.DEFECTS,
    *expanding.DEFECTS,
    *redirecting.DEFECTS,
    *back_pressure.DEFECTS,
    *showing.DEFECTS,
    *retrying.DEFECTS,
    *routing.DEFECTS,
    *submitting.DEFECTS,
    *reporting.DEFECTS,
    *safety_nets.DEFECTS,
    *dumpster.DEFECTS,
    *asking_safety_nets.DEFECTS,
    *asked_resubmissions.DEFECTS,
    *waiting.DEFECTS,
    *changing_requests.DEFECTS,
    *beyond_its_dag.DEFECTS,
    *failing_over.DEFECTS,
    *shipping.DEFECTS,
    *replicating.DEFECTS,
    *seeding.DEFECTS,
    *lagging.DEFECTS,
    *moving.DEFECTS,
    *tracking.DEFECTS,
    *messages.DEFECTS,
    *twice.DEFECTS,
    *overstating.DEFECTS,
    *lifecycle.DEFECTS,
    *steps.DEFECTS,
    *ending_sessions.DEFECTS,
)
BY_NAME = {defect.name: defect for defect in ALL}
