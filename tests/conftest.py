"""What every test may ask for: a Docker engine, and the images of the lab.

Tests marked `engine` (or `scenario`, which need one too) are skipped where none answers, and
fail where CI is set: there nothing may be left out.
"""

import os
import sys
from collections.abc import Iterator

import docker
import hypothesis
import pytest

from lab.hosts.containers import engine, images
from lab.hosts.containers.images import Images

NEED_AN_ENGINE = ("engine", "scenario")
# how long an example takes says how busy the machine is, and no more
hypothesis.settings.register_profile("lab", deadline=None)
hypothesis.settings.load_profile("lab")

NO_ENGINE = "no Docker engine answers (make engine)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs an engine where none answers; asked only when something does."""
    concerned = [item for item in items if any(map(item.get_closest_marker, NEED_AN_ENGINE))]
    if not concerned or os.environ.get("CI") or engine.answers():
        return
    for item in concerned:
        item.add_marker(pytest.mark.skip(reason=NO_ENGINE))


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[docker.DockerClient]:
    """A client of the engine; the test fails where none answers."""
    client = engine.connect()
    yield client
    client.close()


@pytest.fixture(scope="session")
def lab_images(docker_engine: docker.DockerClient) -> Images:
    """The images of the sources as they are now, built where they are missing."""
    return images.ensure(docker_engine, lambda line: print(line, file=sys.stderr))
