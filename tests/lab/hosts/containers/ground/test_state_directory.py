"""Where a lab may keep what it mounts into containers."""

from pathlib import Path
from typing import Any

import pytest

from lab.hosts.containers.ground import provision
from lab.hosts.containers.images.ensure import Images
from lab.program.errors import GroundError
from tests.lab.plan.small_plan import small_plan


@pytest.mark.parametrize("name", ["a:b", "{{ user }}", "{% x %}"])
def test_a_path_that_engine_or_ansible_would_read_otherwise_is_refused(
    name: str, tmp_path: Path
) -> None:
    nobody: Any = None
    with pytest.raises(GroundError, match=r"has .* in its path"):
        provision.up(small_plan(), "r", tmp_path / name / "r", Images("n", "t"), nobody)
    assert not (tmp_path / name).exists()
