"""Defects of the settings that a server has for the sake of Exchange 2010 alone (SN-13, SN-18)."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from defects.defect import Context, Defect
from defects.door import behind
from defects.safety_nets import MINUTE_MS, WritesOtherwise
from defects.settings import transport
from nodes.core.config.config import NodeConfig, TransportConfig
from nodes.core.interface.queue_changes import Change, MoveToPrimarySafetyNet

SCENARIO, HELD = "dumpster-settings-ignored", ("held_long_enough",)
MESSAGE_BYTES = 4096


class GoesByTheSize(WritesOtherwise):
    """What does not fit into MaxDumpsterSizePerDatabase is kept for a minute."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._bytes = 0

    def written(self, change: Change) -> Change:
        if isinstance(change, MoveToPrimarySafetyNet):
            self._bytes += MESSAGE_BYTES
            if self._bytes > self.config.transport.max_dumpster_size_per_database_bytes:
                return replace(change, expires_ms=change.delivered_ms + MINUTE_MS)
        return change


def goes_by_the_time() -> Context:
    def shortened(config: TransportConfig) -> TransportConfig:
        hold_ms = min(config.safety_net_hold_time_ms, config.max_dumpster_time_ms)
        return replace(config, safety_net_hold_time_ms=hold_ms)

    return transport(shortened)


def shows(*settings: tuple[str, int]) -> Context:
    return patch.object(TransportConfig, "shown", property(lambda self: settings))


DEFECTS = (
    Defect(
        "goes-by-the-dumpster-size",
        "A Primary Safety Net drops what does not fit into MaxDumpsterSizePerDatabase.",
        "SN-13", SCENARIO, HELD, lambda: behind(GoesByTheSize),
    ),
    Defect(
        "goes-by-the-dumpster-time",
        "Safety Nets keep mail for MaxDumpsterTime, where that is shorter.",
        "SN-18", SCENARIO, HELD, goes_by_the_time,
    ),
    Defect(
        "shows-no-dumpster-settings",
        "No server says what MaxDumpsterSizePerDatabase and MaxDumpsterTime are.",
        "SN-18", SCENARIO, ("settings_shown",), shows,
    ),
)  # fmt: skip
