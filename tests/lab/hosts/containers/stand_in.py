"""A node image whose servers only greet: the ground is tested without what stands on it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import docker

from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images.ensure import Images

GREETER = b"""
import signal, socket, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
listening = socket.create_server(("0.0.0.0", 2525))
while True:
    connection, _ = listening.accept()
    connection.sendall(b"220 stand-in ESMTP\\r\\n")
    connection.close()
"""
PLACE = "stand-in/nodes/shell"


@contextmanager
def stand_in(client: docker.DockerClient, made: Images) -> Iterator[Images]:
    """The same images, the node's programs replaced; the image goes afterwards."""
    tag = f"shadowlab-stand-in:{made.node.rpartition(':')[2]}"
    context = {
        "Dockerfile": f"FROM {made.node}\nCOPY stand-in /opt/shadowlab\n".encode(),
        f"{PLACE}/__init__.py": b"",
        f"{PLACE}/runner.py": GREETER,
        f"{PLACE}/external.py": GREETER,
    }
    image_build.build(client, tag, context, "Dockerfile")
    try:
        yield Images(tag, made.toxiproxy)
    finally:
        client.images.remove(tag, force=True)


def waiting(command: str) -> list[str]:
    """A program of this Python that says it is there, on stdout, and then does as told."""
    return [sys.executable, "-c", f"print('there', flush=True); {command}"]
