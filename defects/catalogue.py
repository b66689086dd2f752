"""Every defect, by what it breaks. Whoever adds a claim adds its defect here."""

from __future__ import annotations

from defects import (
    acknowledging,
    answering,
    delaying,
    delivering,
    discarding,
    ending_sessions,
    expiring,
    failing_over,
    making_shadows,
    promoting,
    retrying,
    safety_nets,
    tracing,
)
from defects.defect import Defect

ALL: tuple[Defect, ...] = (
    *making_shadows.DEFECTS,
    *acknowledging.DEFECTS,
    *answering.DEFECTS,
    *discarding.DEFECTS,
    *promoting.DEFECTS,
    *delivering.DEFECTS,
    *retrying.DEFECTS,
    *expiring.DEFECTS,
    *delaying.DEFECTS,
    *safety_nets.DEFECTS,
    *failing_over.DEFECTS,
    *tracing.DEFECTS,
    *ending_sessions.DEFECTS,
)
BY_NAME = {defect.name: defect for defect in ALL}
