"""Every defect, by what it breaks. Whoever adds a claim adds its defect here."""

from __future__ import annotations

from defects import (
    acknowledging,
    answering,
    delivering,
    discarding,
    ending_sessions,
    making_shadows,
    promoted_mail,
    promoting,
    reporting,
    retrying,
    safety_nets,
)
from defects.copies import failing_over, replicating
from defects.defect import Defect
from defects.logs import lifecycle, messages, steps, tracking, twice

ALL: tuple[Defect, ...] = (
    *making_shadows.DEFECTS,
    *acknowledging.DEFECTS,
    *answering.DEFECTS,
    *discarding.DEFECTS,
    *promoting.DEFECTS,
    *promoted_mail.DEFECTS,
    *delivering.DEFECTS,
    *retrying.DEFECTS,
    *reporting.DEFECTS,
    *safety_nets.DEFECTS,
    *failing_over.DEFECTS,
    *replicating.DEFECTS,
    *tracking.DEFECTS,
    *messages.DEFECTS,
    *twice.DEFECTS,
    *lifecycle.DEFECTS,
    *steps.DEFECTS,
    *ending_sessions.DEFECTS,
)
BY_NAME = {defect.name: defect for defect in ALL}
