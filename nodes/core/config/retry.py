"""When a queue whose next hop failed is tried again (RT-5, F§3.2): glitches, then transient
failures, then outages.
"""

from __future__ import annotations

from nodes.core.config.config import ServerConfig


def retry_interval_ms(config: ServerConfig, failures: int) -> int:
    """Milliseconds to wait after the `failures`-th failure in a row (1 is the first)."""
    if failures <= config.queue_glitch_retry_count:
        return config.queue_glitch_retry_interval_ms
    if failures <= config.queue_glitch_retry_count + config.transient_failure_retry_count:
        return config.transient_failure_retry_interval_ms
    return config.outbound_connection_failure_retry_interval_ms
