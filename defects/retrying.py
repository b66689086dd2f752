"""Nodes that try again when they should not: too late, or too early (RT-5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Defect
from defects.settings import server
from nodes.core.config.config import ServerConfig
from nodes.core.config.retry import retry_interval_ms

CUT = "site-cut"
DAY_MS = 24 * 60 * 60_000


def _hardly_ever_again(config: ServerConfig) -> ServerConfig:
    return replace(
        config,
        queue_glitch_retry_interval_ms=DAY_MS,
        transient_failure_retry_interval_ms=DAY_MS,
        outbound_connection_failure_retry_interval_ms=DAY_MS,
    )


def _every_second(config: ServerConfig) -> ServerConfig:
    return replace(
        config,
        queue_glitch_retry_interval_ms=1_000,
        transient_failure_retry_interval_ms=1_000,
        outbound_connection_failure_retry_interval_ms=1_000,
    )


def _by_the_minute(config: ServerConfig) -> ServerConfig:
    glitch_ms = config.queue_glitch_retry_interval_ms
    return replace(
        config,
        transient_failure_retry_interval_ms=glitch_ms,
        outbound_connection_failure_retry_interval_ms=glitch_ms,
    )


def _every_third_time_early(decision: Any, config: ServerConfig, failures: int) -> int:
    wait_ms: int = decision(config, failures)
    return wait_ms // 2 if failures % 3 == 0 else wait_ms


PACED = ("retries_paced",)
DEFECTS = (
    Defect(
        "hardly-ever-tries-again",
        "What could not be delivered is tried again after a day.",
        "RT-5", CUT, ("drains_after_heal",), lambda: server(_hardly_ever_again),
    ),
    Defect(
        "tries-again-every-second",
        "What could not be delivered is tried again after a second, as often as need be.",
        "RT-5", CUT, PACED, lambda: server(_every_second),
    ),
    Defect(
        "tries-again-by-the-minute-for-ever",
        "However often a queue has failed, it waits as long as after the first time.",
        "RT-5", "outbound-mail-delayed", PACED, lambda: server(_by_the_minute),
    ),
    Defect(
        "waits-for-half-of-every-third-retry",
        "After every third failure in a row a queue is tried again in half the time.",
        "RT-5", CUT, PACED, lambda: decides(retry_interval_ms, _every_third_time_early),
    ),
)  # fmt: skip
