"""The two images that a lab runs on, there when `ensure` returns.

One lab builds at a time, whichever checkout it runs from. Every failure is a GroundError with its
cause in one line; the whole story is kept in build/images/.
"""

import sys
from dataclasses import dataclass

import docker
import requests
from docker.errors import DockerException

from lab.hosts.containers import engine
from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images import node as node_image
from lab.hosts.containers.images import toxiproxy as toxiproxy_image
from lab.hosts.containers.images.build import Report
from lab.program.errors import GroundError
from lab.program.outer_edge import guarded
from lab.program.progress import waiting


@dataclass(frozen=True, slots=True)
class Images:
    """Names of images that the engine has."""

    node: str
    toxiproxy: str


def ensure(client: docker.DockerClient, report: Report) -> Images:
    """Find, pull or build both images; `report` gets a line for each step that takes time."""
    try:
        with image_build.one_at_a_time(report):
            return Images(
                node=node_image.ensure(client, report),
                toxiproxy=toxiproxy_image.ensure(client, report),
            )
    except (DockerException, requests.RequestException, OSError) as error:
        cause = image_build.first_line(error)
        raise GroundError(f"images: {cause}", f"logs are in {image_build.WORKSHOP}") from error


def main() -> int:
    """`make images`: names of the images to stdout, progress to stderr. Raises GroundError."""
    client = engine.connect()
    with waiting("images"):
        made = ensure(client, lambda line: print(line, file=sys.stderr))
    print(made.node, made.toxiproxy, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
