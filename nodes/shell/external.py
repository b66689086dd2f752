"""A server outside the organisation: plain SMTP that knows nothing of shadow redundancy (TP-1).

`python3 -m nodes.shell.external CONFIG`. Each message it accepts is a line of `received.jsonl`,
durable before its 250.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from nodes.shell.clock import POLL_S, LabClock
from nodes.shell.lines import LineFile
from nodes.shell.smtp_server import MAX_MESSAGE_BYTES, header_of


class Received:
    """Handler of aiosmtpd: takes everything for its domain."""

    def __init__(self, folder: Path, clock: LabClock, domain: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = LineFile(folder / "received.jsonl")
        self._clock = clock
        self._domain = domain.lower()

    async def handle_RCPT(
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        if address.rpartition("@")[2].lower() != self._domain:
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        header = header_of(content)
        line = {
            "message_id": header.message_id,
            "recipients": list(envelope.rcpt_tos),
            "received_ms": self._clock.since_start_ms(self._clock.now_ms()),
            "mono_ns": time.monotonic_ns(),
            "size_bytes": len(content),
            "peer": session.host_name or "",
        }
        self._file.append(json.dumps(line))
        self._file.sync()
        return f"250 2.0.0 {header.message_id} accepted"


class ExternalSession(SMTP):
    """The library's time-out counts wall seconds, which lab time outruns: off."""

    def _reset_timeout(self, duration: float | None = None) -> None:
        if self._timeout_handle is None:
            self._timeout_handle = asyncio.get_running_loop().call_later(0, int)


async def _live(document: dict[str, Any]) -> None:
    clock = LabClock.from_config(document["LabClock"])
    handler = Received(Path(document["Data"]), clock, document["Domain"])
    host, _, port = document["Listen"]["smtp"].rpartition(":")
    loop = asyncio.get_running_loop()

    def session() -> ExternalSession:
        return ExternalSession(
            handler,
            hostname=document["Fqdn"],
            ident="ESMTP",
            data_size_limit=MAX_MESSAGE_BYTES,
            loop=loop,
        )

    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    listener = await loop.create_server(session, host, int(port))
    while not clock.is_started() and not stopped.is_set():
        await asyncio.sleep(POLL_S)
    await stopped.wait()
    listener.close()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.external CONFIG", file=sys.stderr)
        return 64
    try:
        asyncio.run(_live(json.loads(Path(arguments[0]).read_text())))
    except (KeyError, ValueError) as error:
        print(f"{arguments[0]}: {type(error).__name__}: {error}", file=sys.stderr)
        return 64
    except OSError as error:
        print(f"cannot start: {error}", file=sys.stderr)
        return 69
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
