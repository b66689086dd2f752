"""Asking the servers of a lab that stands, each in its container, as an administrator who is logged
in there (`nodes.shell.ask`).
"""

from collections.abc import Mapping
from pathlib import Path

import docker
import requests
from docker.errors import DockerException
from docker.models.containers import Container

from lab.hosts.containers.engine import ROLE_LABEL, RUN_LABEL
from lab.hosts.containers.ground.inventory import CONFIG
from lab.hosts.containers.leftovers import known_runs, run_named
from lab.program.errors import GroundError, ScenarioError

SERVER = "server"
# of who does not know the verb, as a server outside
NOT_KNOWN = ("500", "502")
AWAY = "is not running"


def standing_run(
    client: docker.DockerClient, word: str, state_root: Path, recorded: Mapping[Path, str]
) -> str:
    """The id of the run that a person means. Raises ScenarioError, GroundError."""
    try:
        return run_named(word, known_runs(client, state_root, RUN_LABEL), recorded)
    except (DockerException, requests.RequestException, OSError) as error:
        raise GroundError(f"cannot look for {word}: {error}") from error


def ask_servers(
    client: docker.DockerClient, run_id: str, line: str, server: str | None = None
) -> dict[str, str]:
    """What each server of a run answers to that line, by name; of those that know the verb. Of one
    that is not running, that. Raises ScenarioError where the run has none, or none of that name,
    and GroundError.
    """
    try:
        labels = [f"{RUN_LABEL}={run_id}", f"{ROLE_LABEL}={SERVER}"]
        found = {
            str(each.attrs["Config"]["Hostname"]): each
            for each in client.containers.list(all=True, filters={"label": labels})
        }
        if not found or (server is not None and server not in found):
            hint = f"it has {', '.join(sorted(found))}" if found else "shadowlab up NAME"
            raise ScenarioError(f"{run_id} has no server {server or ''}".rstrip(), hint)
        asked = sorted(found) if server is None else [server]
        replies = {name: _said(found[name], line) for name in asked}
        return {name: said for name, said in replies.items() if not said.startswith(NOT_KNOWN)}
    except (DockerException, requests.RequestException) as error:
        raise GroundError(f"cannot ask {run_id}: {error}") from error


def _said(container: Container, line: str) -> str:
    if container.status != "running":
        return AWAY
    command = ["python3", "-m", "nodes.shell.ask", CONFIG, *line.split(" ")]
    output = container.exec_run(command, stderr=False).output
    return output.decode("ascii", "replace").strip() if isinstance(output, bytes) else ""
