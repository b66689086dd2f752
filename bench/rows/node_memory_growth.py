"""Does a node's memory stay flat? Resident memory after 50,000 messages beside that after 10,000.

The messages are those of `node_memory`. Lab time is fast, so that time-outs and heartbeats pass;
what a Safety Net keeps is on the disk.
"""

import asyncio
import tempfile
from pathlib import Path

from bench.loopback import organisation, resident_mib
from bench.result import Result, beside
from bench.rows.node_memory import MESSAGES, send_all

ALL = 50_000
SPEED = 20.0


def measure() -> Result:
    """MiB; aim of the ratio: 1.1."""
    with (
        tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder,
        organisation(Path(folder), speed=SPEED) as nodes,
    ):
        asyncio.run(send_all(nodes, MESSAGES, "early-"))
        early = resident_mib(nodes.pid("a"))
        asyncio.run(send_all(nodes, ALL - MESSAGES, "late-"))
        late = resident_mib(nodes.pid("a"))
    against = f"after {MESSAGES:,} of {ALL:,} messages; aim 1.1"
    return beside("node_memory_growth", late, early, "MiB", against)
