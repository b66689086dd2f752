"""Active Manager with a door."""

from __future__ import annotations

from defects.defect import Context
from defects.door import Door, behind
from nodes.core.active_manager import ActiveManager


def manager(make: type[Door]) -> Context:
    return behind(make, ActiveManager)
