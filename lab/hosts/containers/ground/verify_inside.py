"""Runs inside a container, from its standard input: what can be reached and done from here, and
what not.

Argument: {"links": {name: "host:port"}, "forbidden": {name: "host:port"}, "patience_s": n}. Every
link must greet with a banner before patience ends; no forbidden address may accept a connection.
Prints what is wrong, one thing a line. Standard library only, and nothing of this project.
"""

import errno
import json
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def complaints(
    links: Mapping[str, str], forbidden: Mapping[str, str], patience_s: float
) -> Iterator[str]:
    """What is wrong with the view from here; nothing when all is well."""
    deadline = time.monotonic() + patience_s
    with ThreadPoolExecutor(16) as threads:
        silent = threads.map(lambda link: _missing(link[0], link[1], deadline), links.items())
        doors = threads.map(lambda door: _open(door[0], door[1]), forbidden.items())
        yield from (complaint for complaint in (*silent, *doors) if complaint)


def unconfined(status: Path = Path("/proc/self/status"), root: Path = Path("/")) -> Iterator[str]:
    """What a program here may do and should not be able to."""
    said = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    if said["Uid"].split()[0] == "0":
        yield "it runs as root"
    if int(said["CapEff"], 16) or int(said["CapPrm"], 16):
        yield f"it has capabilities: {said['CapEff'].strip()}"
    if said["NoNewPrivs"].strip() != "1":
        yield "it may gain rights"
    try:
        (root / "shadowlab-was-here").touch()
    except OSError as error:
        if error.errno != errno.EROFS:
            yield f"its root file system is not read-only: {error.strerror}"
    else:
        yield "its root file system can be written to"


def _missing(name: str, address: str, deadline: float) -> str | None:
    while True:
        seen = _greeting(address)
        if seen.startswith("220"):
            return None
        if time.monotonic() > deadline:
            return f"no banner from {name} through {address}: {seen}"
        time.sleep(0.05)


def _greeting(address: str) -> str:
    try:
        with socket.create_connection(_parts(address), timeout=2) as connection:
            connection.settimeout(2)
            return connection.recv(512).decode("ascii", "replace").strip() or "closed at once"
    except OSError as error:
        return str(error)


def _open(name: str, address: str) -> str | None:
    try:
        socket.create_connection(_parts(address), timeout=1).close()
    except OSError:
        return None
    return f"{name} is reached round the proxy, at {address}"


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    for complaint in (*unconfined(), *complaints(**json.loads(sys.argv[1]))):
        print(complaint)
