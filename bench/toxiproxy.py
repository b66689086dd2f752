"""A Toxiproxy of its own for a measurement: the lab's image, its API published as the lab does it.

Every proxy of a mesh leads to one server on this machine that greets and says no more.
"""

import json
import secrets
import socketserver
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import docker

from lab.faults.observer.target import Wire
from lab.hosts.containers import down, engine
from lab.hosts.containers.ground.provision import TOXIPROXY_PORT
from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.plan.topology import Link, LinkName
from lab.program.errors import GroundError

ANSWERS_WITHIN_S = 15.0
ANY_PORT: Any = ("127.0.0.1", None)


@contextmanager
def standing(
    client: docker.DockerClient, image: str, links: Sequence[Link], speed: float
) -> Iterator[tuple[Toxiproxy, dict[LinkName, Wire]]]:
    """The client of its API and how each link is reached; the container goes on exit."""
    run_id = f"bench-{secrets.token_hex(4)}"
    try:
        container = client.containers.run(
            image,
            ["-host=0.0.0.0"],
            detach=True,
            name=f"shadowlab-{run_id}-toxiproxy",
            labels={engine.RUN_LABEL: run_id, engine.ROLE_LABEL: "toxiproxy"},
            ports={f"{TOXIPROXY_PORT}/tcp": ANY_PORT},
        )
        api, host, gateway = _addresses(container)
        proxies = Toxiproxy(api, speed)
        _wait_until_it_answers(proxies)
        with _greeting(gateway) as port:
            _create(api, links, f"{gateway}:{port}")
            yield proxies, {_name(each): Wire(each.proxy, f"{host}:{each.port}") for each in links}
    finally:
        down.remove_from_engine(client, run_id)


def _addresses(container: Any) -> tuple[str, str, str]:
    """Of the API for this machine, of the container, of this machine for the container."""
    container.reload()
    published = container.ports[f"{TOXIPROXY_PORT}/tcp"][0]
    network = next(iter(container.attrs["NetworkSettings"]["Networks"].values()))
    api = f"http://{published['HostIp']}:{published['HostPort']}"
    return api, network["IPAddress"], network["Gateway"]


def _wait_until_it_answers(proxies: Toxiproxy) -> None:
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    while time.monotonic() < deadline:
        with suppress(GroundError):
            proxies.version()
            return
        time.sleep(0.05)
    raise GroundError(f"Toxiproxy does not answer in {ANSWERS_WITHIN_S:.0f} s")


def _create(api: str, links: Sequence[Link], upstream: str) -> None:
    rows = [
        {"name": each.proxy, "listen": f"0.0.0.0:{each.port}", "upstream": upstream}
        for each in links
    ]
    body = json.dumps([{**row, "enabled": True} for row in rows]).encode()
    urllib.request.urlopen(f"{api}/populate", body, timeout=ANSWERS_WITHIN_S).close()


def _name(link: Link) -> LinkName:
    return LinkName(link.source, link.target, link.service)


class _Greeting(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):
            self.wfile.write(b"220 a server of the bench\r\n")
            self.rfile.read()


class _Greeters(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def _greeting(host: str) -> Iterator[int]:
    """The port of a server there."""
    with _Greeters((host, 0), _Greeting) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join(5)
