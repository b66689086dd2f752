"""What one connection over a link sees: a banner, or how it is denied one.

A probe opens the proxy port of a link, waits a bounded time for the first line and hangs up. It
distinguishes the five things that a cut can look like, and judges none of them.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from enum import StrEnum


class Seen(StrEnum):
    """The end of a probe."""

    BANNER = "banner"
    REFUSED = "refused"
    SILENT = "silent"
    RESET = "reset"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Probe:
    """What was seen; `text` is the banner, or the error in the system's words.

    `took_ms` is how long it took, in milliseconds of the host's clock.
    """

    seen: Seen
    text: str
    took_ms: float = 0.0


async def probe(host: str, port: int, wait_seconds: float) -> Probe:
    """Connect and wait for a line, both together no longer than `wait_seconds`."""
    began = time.monotonic()
    found = await _look(host, port, wait_seconds)
    return replace(found, took_ms=(time.monotonic() - began) * 1000)


async def _look(host: str, port: int, wait_seconds: float) -> Probe:
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(wait_seconds):
            reader, writer = await asyncio.open_connection(host, port)
            return _read_as(await reader.readline())
    except TimeoutError:
        return Probe(Seen.SILENT, f"no banner within {wait_seconds:.3g} s")
    except ConnectionResetError as error:
        return Probe(Seen.RESET, str(error))
    except (OSError, ValueError) as error:  # ValueError: a line without an end
        return Probe(Seen.REFUSED if writer is None else Seen.CLOSED, str(error))
    finally:
        if writer is not None:
            _hang_up(writer)


def _read_as(line: bytes) -> Probe:
    text = line.decode("utf-8", "replace").strip()
    return Probe(Seen.BANNER if text.startswith("220") else Seen.CLOSED, text)


def _hang_up(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        writer.write(b"QUIT\r\n")
    writer.close()
