"""The proof of the ground, looked at from inside every container of a lab at once.

Run by the verify play as a program: `python -m lab.hosts.containers.ground.verify STATE`. From each
server and from the traffic source, every link must greet with a banner through its proxy, and the
address of no other server may answer directly, in the same site neither. Each runs as an ordinary
user who gains no rights, on a root file system that nobody writes to, within its limits. What
is looked for stands in the inventory. Exit code 0, or 1 with all that is wrong on one line of
stderr.
"""

import json
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import DockerException, NotFound

from lab.hosts.containers import engine
from lab.hosts.containers.ground import inventory
from lab.hosts.containers.images.build import first_line
from lab.program.errors import GROUND_FAILED, LabError, print_error
from lab.program.outer_edge import guarded

LOOK = Path(__file__).with_name("verify_inside.py")
AT_ONCE = 16


def complaints(client: docker.DockerClient, hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong, seen from each inventory host that says what to look for."""
    lookers = [(name, host) for name, host in hosts.items() if "look" in host]
    confined = [(name, host) for name, host in hosts.items() if "confinement" in host]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = [
            *threads.map(lambda looker: _seen_from(client, *looker), lookers),
            *threads.map(lambda one: _said_by_engine(client, *one), confined),
        ]
        return [complaint for each in found for complaint in each]


def _said_by_engine(client: docker.DockerClient, name: str, host: Mapping[str, Any]) -> list[str]:
    """How a container is confined and should not be, by what the engine says of it."""
    try:
        attributes = client.containers.get(host["container"]).attrs
    except (DockerException, requests.RequestException) as error:
        return [f"{name} cannot be looked at: {first_line(error)}"]
    wanted, by_host = host["confinement"], attributes["HostConfig"]
    logged = by_host["LogConfig"]
    found = {
        "runs as": (attributes["Config"]["User"], host["user"]),
        "has a read-only root file system": (by_host["ReadonlyRootfs"], True),
        "has dropped": (by_host["CapDrop"], ["ALL"]),
        "has the memory limit": (by_host["Memory"], wanted["memory_bytes"]),
        "has the process limit": (by_host["PidsLimit"], wanted["processes"]),
        "is logged by": (logged["Type"], wanted["log_driver"]),
        "has the log options": (logged["Config"], wanted["log_options"]),
    }
    return [
        f"{name} {what} {is_}, not {should}"
        for what, (is_, should) in found.items()
        if is_ != should
    ]


def _seen_from(client: docker.DockerClient, name: str, host: Mapping[str, Any]) -> list[str]:
    """The complaints of one container, or why it cannot look."""
    try:
        container = client.containers.get(host["container"])
        if container.status != "running":
            code = container.attrs["State"]["ExitCode"]
            return [f"{name} ended with exit code {code}: {last_words(client, container.name)}"]
        program = ["python3", "-c", LOOK.read_text(encoding="utf-8"), json.dumps(host["look"])]
        code, output = container.exec_run(program)
    except (DockerException, requests.RequestException) as error:
        return [f"{name} cannot look round: {first_line(error)}"]
    assert isinstance(output, bytes), "exec_run streams only when asked to"
    said = output.decode("utf-8", "replace").splitlines()
    return [f"{name}: {line}" for line in (said if code == 0 else said[-1:])]


def last_words(client: docker.DockerClient, container: str | None) -> str:
    """The last line that a container wrote."""
    try:
        lines = client.containers.get(str(container)).logs(tail=1).decode("utf-8", "replace")
    except NotFound:
        return "there is no such container"
    return lines.strip() or "it said nothing"


def main(arguments: list[str]) -> int:
    """`STATE`: the state directory of a lab that stands."""
    hosts = inventory.hosts(inventory.read(Path(arguments[0]) / inventory.FILE))
    try:
        wrong = complaints(engine.connect(), hosts)
    except LabError as error:
        return print_error(error)
    if wrong:
        print("; ".join(wrong), file=sys.stderr)
    return GROUND_FAILED if wrong else 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
