"""Resident memory of a node after 10,000 messages of 4 KiB went through it.

The node is the primary of every message: it received it, made it redundant at another node,
delivered it to a third, and was asked for its discard notifications. SESSIONS senders at a time.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from aiosmtplib import SMTP

from bench.loopback import Organisation, organisation, resident_mib
from bench.result import Result, alone

MESSAGES, SESSIONS, SIZE_BYTES = 10_000, 10, 4096
A_SESSION = 100
SENDER = "sender@outside.example"


def measure() -> Result:
    """MiB; aim: 60."""
    with (
        tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder,
        organisation(Path(folder)) as nodes,
    ):
        begun = time.monotonic()
        asyncio.run(send_all(nodes, MESSAGES))
        rate = MESSAGES / (time.monotonic() - begun)
        print(f"{rate:.0f} messages a second on the way", file=sys.stderr)
        return alone("node_memory_mib", resident_mib(nodes.pid("a")), "MiB", "aim: 60")


async def send_all(nodes: Organisation, messages: int, batch: str = "") -> None:
    """Through node `a`; a `batch` is of other messages than one of another name."""
    share = messages // SESSIONS
    await asyncio.gather(*(_send(nodes, f"{batch}{which}", share) for which in range(SESSIONS)))


async def _send(nodes: Organisation, which: str, count: int) -> None:
    filler = "x" * 70 + "\r\n"
    body = filler * (SIZE_BYTES // len(filler))
    for first in range(0, count, A_SESSION):
        client = SMTP(hostname="127.0.0.1", port=nodes.ports["a"], start_tls=False, timeout=60)
        async with client:
            for number in range(first, min(first + A_SESSION, count)):
                head = f"Message-ID: <b{which}.{number}@outside.example>\r\nSubject: bench\r\n"
                date = "Date: Mon, 05 Jan 2026 08:00:00 +0000\r\n\r\n"
                await client.sendmail(SENDER, [nodes.USER], head + date + body)
