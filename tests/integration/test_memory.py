"""A container that runs out of memory does not pass for one that a fault killed."""

from pathlib import Path

import docker
import pytest

from lab.hosts.containers.collect import Collection
from lab.hosts.containers.engine import RUN_LABEL
from lab.hosts.containers.ground.confinement import MIB
from lab.hosts.containers.images.ensure import Images
from lab.record.folder import RunFolder
from tests.lab.plan.small_plan import small_plan

pytestmark = pytest.mark.engine

LIMIT_MIB = 48
TAKES_TOO_MUCH = f"taken = bytearray({2 * LIMIT_MIB * MIB})"


def test_a_container_that_ran_out_of_memory_is_named_with_its_limit(
    tmp_path: Path, docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    folder = RunFolder(tmp_path / "runs" / "r", "some-run")
    container = docker_engine.containers.create(
        lab_images.node,
        ["python3", "-c", TAKES_TOO_MUCH],
        name=f"{folder.run_id}-par-mbx1",
        labels={RUN_LABEL: folder.run_id},
        mem_limit=LIMIT_MIB * MIB,
        memswap_limit=LIMIT_MIB * MIB,
    )
    try:
        container.start()
        container.wait(timeout=60)
        complaints: list[str] = []
        Collection(small_plan(), tmp_path, docker_engine, folder, complaints).collect()
    finally:
        container.remove(force=True)
    said = f"par-mbx1 ran out of memory and was killed: its limit is {LIMIT_MIB} MiB"
    assert said in complaints
