"""Defects of the settings that a server shows, or has for the sake of Exchange 2010 alone (SR-13,
SN-13, SN-18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.defect import Context, Defect
from defects.door import behind
from defects.safety_nets import MINUTE_MS, WritesOtherwise
from defects.settings import transport
from nodes.core.config.config import NodeConfig, TransportConfig
from nodes.core.config.parameters import Value
from nodes.core.interface.queue_changes import Change, MoveToPrimarySafetyNet

SCENARIO = "dumpster-settings-ignored"
HELD, SHOWN = ("held_long_enough",), ("settings_shown",)
SECTION = "TransportConfig"
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


def shows(change: Callable[[Mapping[str, Value]], Mapping[str, Value]]) -> Context:
    """Of the organisation's parameters, what `change` makes of them."""
    kept: Any = vars(NodeConfig)["settings"]

    def shown(config: NodeConfig) -> Mapping[str, Mapping[str, Value]]:
        settings: Mapping[str, Mapping[str, Value]] = kept.__get__(config)
        return {**settings, SECTION: change(settings[SECTION])}

    return patch.object(NodeConfig, "settings", property(shown, kept.__set__))


def without_dumpster(settings: Mapping[str, Value]) -> Mapping[str, Value]:
    return {name: value for name, value in settings.items() if "Dumpster" not in name}


def contradictory(settings: Mapping[str, Value]) -> Mapping[str, Value]:
    """Its remote attempts are as they were."""
    return {**settings, "ShadowMessagePreferenceSetting": "LocalOnly"}


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
        "SN-18", SCENARIO, SHOWN, lambda: shows(without_dumpster),
    ),
    Defect(
        "starts-with-settings-that-contradict",
        "A server runs with LocalOnly and attempts at shadows in remote sites.",
        "SR-13", SCENARIO, SHOWN, lambda: shows(contradictory),
    ),
)  # fmt: skip
