"""What is taken down and what is left alone, with containers that only sleep."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import docker
import pytest

from lab.hosts.containers import down, engine, leftovers
from lab.hosts.containers.engine import ROLE_LABEL, STATE_LABEL
from lab.hosts.containers.images.ensure import Images
from lab.program import processes
from tests.lab.program.test_processes import SLEEP, running

pytestmark = pytest.mark.engine

RUN_LABEL = "shadowlab.run-of-the-down-tests"
RUNS = ("down-test-one", "down-test-two")


@pytest.fixture
def state_root(
    docker_engine: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A state root and a label of the tests' own: a lab that somebody keeps standing meanwhile
    is not theirs to remove. What a failing test leaves on the engine goes in the end."""
    monkeypatch.setattr(down, "RUN_LABEL", RUN_LABEL)
    root = tmp_path / "state"
    root.mkdir()
    yield root
    for run in RUNS:
        down.remove_from_engine(docker_engine, run)


def stand(
    client: docker.DockerClient, image: str, run: str, state_dir: Path, boxes: int = 1
) -> None:
    """A container, or several, on a network and with a volume with the run's labels."""
    labels = {RUN_LABEL: run, STATE_LABEL: str(state_dir), ROLE_LABEL: "server"}
    network = client.networks.create(f"{run}-net", labels=labels, internal=True)
    volume = client.volumes.create(f"{run}-vol", labels=labels)
    for number in range(boxes):
        client.containers.run(
            image,
            ["python3", "-c", SLEEP],
            name=f"{run}-box{number or ''}",
            labels=labels,
            network=network.name,
            volumes=[f"{volume.name}:/data"],
            detach=True,
        )


def left_of(client: docker.DockerClient, run: str) -> list[str]:
    """Names of all that the engine has of a run."""
    chosen: leftovers.Filters = {"label": f"{RUN_LABEL}={run}"}
    return [
        *(str(each.name) for each in client.containers.list(all=True, filters=chosen)),
        *(str(each.name) for each in client.networks.list(filters=chosen)),
        *(str(each.name) for each in client.volumes.list(filters=chosen)),
    ]


def dead_labs_record(state_dir: Path) -> None:
    """The record of a lab that was and is no more."""
    state_dir.mkdir()
    with running(SLEEP) as lab:
        processes.write(state_dir / down.LAB_RECORD, lab.pid)


def test_everything_of_a_run_whose_lab_is_dead_goes(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path
) -> None:
    dead_labs_record(state_root / RUNS[0])
    stand(docker_engine, lab_images.node, RUNS[0], state_root / RUNS[0])
    removed = down.down(docker_engine, None, state_root)
    assert left_of(docker_engine, RUNS[0]) == []
    assert f"{RUNS[0]}-box" in removed.containers
    assert f"{RUNS[0]}-net" in removed.networks
    assert f"{RUNS[0]}-vol" in removed.volumes
    assert not (state_root / RUNS[0]).exists()


def test_a_run_whose_lab_is_alive_is_left_alone_until_it_is_named(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path
) -> None:
    state_dir = state_root / RUNS[0]
    state_dir.mkdir()
    with running(SLEEP) as lab:
        processes.write(state_dir / down.LAB_RECORD, lab.pid)
        stand(docker_engine, lab_images.node, RUNS[0], state_dir)
        removed = down.down(docker_engine, None, state_root)
        assert RUNS[0] in removed.kept
        assert len(left_of(docker_engine, RUNS[0])) == 3
        removed = down.down(docker_engine, RUNS[0], state_root)
        assert removed.processes == (lab.pid,)
        assert lab.wait(10) != 0
    assert left_of(docker_engine, RUNS[0]) == []


def test_a_neighbour_from_another_checkout_is_left_alone(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / RUNS[1]
    elsewhere.mkdir(parents=True)
    with running(SLEEP) as lab:
        processes.write(elsewhere / down.LAB_RECORD, lab.pid)
        stand(docker_engine, lab_images.node, RUNS[1], elsewhere)
        assert down.down(docker_engine, None, state_root).kept == (RUNS[1],)
    assert down.down(docker_engine, None, state_root).elsewhere == (elsewhere,)
    assert len(left_of(docker_engine, RUNS[1])) == 3
    assert elsewhere.exists()


def test_a_named_run_of_another_checkout_goes_with_its_keys(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / RUNS[1]
    elsewhere.mkdir(parents=True)
    (elsewhere / "server.key").touch()
    (tmp_path / "elsewhere" / "other").touch()
    stand(docker_engine, lab_images.node, RUNS[1], elsewhere)
    removed = down.down(docker_engine, RUNS[1], state_root)
    assert removed.state_dirs == (str(elsewhere),)
    assert left_of(docker_engine, RUNS[1]) == []
    assert [path.name for path in elsewhere.parent.iterdir()] == ["other"]


def test_what_a_checkout_that_is_gone_left_goes_too(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path, tmp_path: Path
) -> None:
    stand(docker_engine, lab_images.node, RUNS[1], tmp_path / "gone" / RUNS[1])
    down.down(docker_engine, None, state_root)
    assert left_of(docker_engine, RUNS[1]) == []


@pytest.mark.parametrize("name", [None, RUNS[0]])
def test_who_takes_down_what_somebody_else_does_has_nothing_to_complain_of(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path, name: str | None
) -> None:
    dead_labs_record(state_root / RUNS[0])
    for number in range(300):
        (state_root / RUNS[0] / f"{number}" / "logs").mkdir(parents=True)
    stand(docker_engine, lab_images.node, RUNS[0], state_root / RUNS[0], boxes=4)
    with ThreadPoolExecutor(3) as threads:
        done = [threads.submit(down.down, engine.connect(), name, state_root) for _ in range(3)]
    assert [each.exception() for each in done] == [None] * 3
    assert left_of(docker_engine, RUNS[0]) == []
    assert not (state_root / RUNS[0]).exists()


def test_naming_a_run_touches_no_other(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path
) -> None:
    for run in RUNS:
        down.claim(state_root / run)
        stand(docker_engine, lab_images.node, run, state_root / run)
    down.down(docker_engine, RUNS[0], state_root)
    assert left_of(docker_engine, RUNS[0]) == []
    assert len(left_of(docker_engine, RUNS[1])) == 3
    assert (state_root / RUNS[1]).exists()


def test_programs_that_a_killed_lab_left_running_are_ended(
    docker_engine: docker.DockerClient, state_root: Path
) -> None:
    dead_labs_record(state_root / RUNS[0])
    with ExitStack() as stack:
        mine = stack.enter_context(running(SLEEP, SHADOWLAB_RUN=RUNS[0]))
        other = stack.enter_context(running(SLEEP, SHADOWLAB_RUN=RUNS[1]))
        removed = down.down(docker_engine, RUNS[0], state_root)
        assert removed.processes == (mine.pid,)
        assert other.poll() is None


def test_a_pid_that_now_belongs_to_another_program_is_not_touched(
    docker_engine: docker.DockerClient, state_root: Path
) -> None:
    state_dir = state_root / RUNS[0]
    state_dir.mkdir()
    with running(SLEEP) as stranger:
        path = state_dir / down.LAB_RECORD
        processes.write(path, stranger.pid)
        path.write_text(path.read_text().replace('"start_ticks": ', '"start_ticks": 1'))
        removed = down.down(docker_engine, RUNS[0], state_root)
        assert removed.processes == ()
        assert stranger.poll() is None


def test_where_nothing_is_left_nothing_is_removed_and_it_says_so(
    docker_engine: docker.DockerClient, state_root: Path
) -> None:
    removed = down.down(docker_engine, "never-was", state_root)
    assert removed == down.Removed()
    assert down.describe(removed) == ["nothing to remove"]


def test_a_lab_takes_itself_down_and_lives_on(
    docker_engine: docker.DockerClient, lab_images: Images, state_root: Path
) -> None:
    down.claim(state_root / RUNS[0])
    stand(docker_engine, lab_images.node, RUNS[0], state_root / RUNS[0])
    removed = down.down(docker_engine, RUNS[0], state_root)
    assert removed.processes == ()
    assert removed.state_dirs == (str(state_root / RUNS[0]),)


def test_the_state_directory_is_the_owners_alone(state_root: Path) -> None:
    down.claim(state_root / RUNS[0])
    assert (state_root / RUNS[0]).stat().st_mode & 0o777 == 0o700
