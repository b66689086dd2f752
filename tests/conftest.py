"""What every test may ask for: a Docker engine, and the images of the lab.

Tests marked `engine` (or `scenario`, which need one too) are skipped where none answers, and
fail where CI is set: there nothing may be left out. They run one after the other in one worker;
the files of the other worker give way to it, since load would blur the time of a lab.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import docker
import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

from lab.hosts.containers import engine
from lab.hosts.containers.images import ensure as images
from lab.hosts.containers.images.ensure import Images

NEED_AN_ENGINE = ("engine", "scenario")
LABS = (
    "tests/lab/hosts/containers/",
    "tests/integration/",
    "tests/scenarios/test_on_containers.py",
)
# what asks for the Spark session of the tests: a session's first minutes are its slowest
SESSION = (
    "tests/spark_eval/compare/",
    "tests/spark_eval/spark/",
    "tests/spark_eval/test_program.py",
    "tests/spark_eval/test_serving.py",
    "tests/bench/test_multiplied.py",
)
# what asks for the batch of simulated runs, which is made and judged once
BATCH = (
    "tests/scenarios/test_on_simulator.py",
    "tests/scenarios/test_same_bytes.py",
    "tests/scenarios/test_second_opinion.py",
)
# how long an example takes says how busy the machine is, and no more
hypothesis.settings.register_profile("lab", deadline=None)
hypothesis.settings.load_profile("lab")

NO_ENGINE = "no Docker engine answers (make engine)"


def pytest_configure() -> None:
    """Hear signals that nohup or a shell's background had this process ignore: tests send some."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts Spark by asking for a session. Put the longest work first, and leave out
    what needs an engine where none answers (nobody is asked when nothing does).
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
            if not item.nodeid.startswith(SESSION):
                raise pytest.UsageError(f"{item.nodeid} needs the session outside of {SESSION}")
    items.sort(key=_turn)
    concerned = [item for item in items if _needs_an_engine(item)]
    for item in concerned:
        if not _is_beside_labs(item):
            raise pytest.UsageError(f"{item.nodeid} needs an engine outside of {LABS}")
    if not concerned or os.environ.get("CI") or engine.answers():
        return
    for item in concerned:
        item.add_marker(pytest.mark.skip(reason=NO_ENGINE))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    return TogetherInOneWorker(config, log)


class TogetherInOneWorker(LoadFileScheduling):  # type: ignore[misc]
    """Whole files to any worker; everything with labs on containers to one of them, what asks for
    a Spark session to one, and what asks for the batch to one.
    """

    def _split_scope(self, nodeid: str) -> str:
        together = {"labs": LABS, "session": SESSION, "batch": BATCH}
        found = (name for name, paths in together.items() if nodeid.startswith(paths))
        return next(found, None) or super()._split_scope(nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give way to a lab on containers that another worker runs meanwhile."""
    if "PYTEST_XDIST_WORKER" in os.environ and hasattr(os, "SCHED_IDLE"):
        policy = os.SCHED_OTHER if _is_beside_labs(item) else os.SCHED_IDLE
        with suppress(PermissionError):  # only root comes back from idle
            os.sched_setscheduler(0, policy, os.sched_param(0))


def _turn(item: pytest.Item) -> tuple[bool, bool, bool]:
    """The longest work first."""
    is_in_session = item.nodeid.startswith(SESSION)
    return not _is_beside_labs(item), not is_in_session, not item.get_closest_marker("spark")


def _needs_an_engine(item: pytest.Item) -> bool:
    return any(map(item.get_closest_marker, NEED_AN_ENGINE))


def _is_beside_labs(item: pytest.Item) -> bool:
    return item.nodeid.startswith(LABS)


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
