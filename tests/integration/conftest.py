"""One Toxiproxy of the lab's image with two proxies, for what is measured on it."""

import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import closing

import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from lab.hosts.containers.images.ensure import Images
from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.program.errors import GroundError
from tests.integration.recording_server import RecordingServer, recording

PROXY, OTHER = "a--b--smtp", "b--a--smtp"
SPEED = 10.0


@pytest.fixture(scope="module")
def toxiproxy(lab_images: Images) -> Iterator[Toxiproxy]:
    testcontainers_config.ryuk_disabled = True
    port = _unused_port()
    command = ["-host=127.0.0.1", f"-port={port}"]
    container = (
        DockerContainer(lab_images.toxiproxy).with_command(command).with_kwargs(network_mode="host")
    )
    with container:
        client = Toxiproxy(f"http://127.0.0.1:{port}", SPEED)
        _wait_until_it_answers(client)
        yield client


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with recording() as one:
        yield one


@pytest.fixture
def ports(toxiproxy: Toxiproxy, server: RecordingServer) -> Iterator[dict[str, int]]:
    """Two proxies to the server; the ports that they listen on."""
    found = {name: _create(toxiproxy.url, name, server.port) for name in (PROXY, OTHER)}
    yield found
    for name in found:
        _request(toxiproxy.url, "DELETE", f"/proxies/{name}")


def _create(api: str, name: str, upstream: int) -> int:
    body = {"name": name, "listen": "127.0.0.1:0", "upstream": f"127.0.0.1:{upstream}"}
    listen = json.loads(_request(api, "POST", "/proxies", body))["listen"]
    return int(listen.rpartition(":")[2])


def _request(api: str, method: str, path: str, body: object = None) -> bytes:
    payload = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(api + path, payload, method=method)
    with urllib.request.urlopen(request, timeout=5) as answer:
        content: bytes = answer.read()
    return content


def _unused_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


def _wait_until_it_answers(client: Toxiproxy) -> None:
    for attempt in range(100):
        try:
            client.version()
            return
        except GroundError:
            if attempt == 99:
                raise
