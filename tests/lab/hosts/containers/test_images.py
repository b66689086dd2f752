import io
import json
import shutil
import sys
import tarfile
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import aiosmtplib
import docker
import pytest
from docker.errors import APIError

from lab.hosts.containers.images import base as base_image
from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images import ensure as images
from lab.hosts.containers.images import node as node_image
from lab.hosts.containers.images import toxiproxy as toxiproxy_image
from lab.hosts.containers.images.ensure import Images
from lab.program.errors import GroundError
from lab.program.sources import ROOT

VERSIONS = {"attrs": "1.0"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout with the folders that go into the node image, and some that do not."""
    for name in (
        "lab/workload/program.py",
        "lab/hosts/engine.py",
        "nodes/core/node.py",
        "nodes/a.sql",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "nodes" / "image").mkdir()
    shutil.copy(ROOT / "nodes" / "image" / "Dockerfile", tmp_path / "nodes" / "image")
    return tmp_path


def tag_of(checkout: Path, base: str = "base", **versions: str) -> str:
    return node_image.tag_of(base, node_image.sources(checkout), VERSIONS | versions)


@pytest.mark.parametrize(
    "changed",
    ["lab/workload/program.py", "nodes/core/node.py", "nodes/a.sql", "nodes/image/Dockerfile"],
)
def test_a_changed_source_changes_the_tag(checkout: Path, changed: str) -> None:
    before = tag_of(checkout)
    (checkout / changed).write_text("FROM scratch\n")
    assert tag_of(checkout) != before


def test_a_new_a_renamed_and_a_removed_source_change_the_tag(checkout: Path) -> None:
    tags = [tag_of(checkout)]
    (checkout / "nodes" / "new.py").write_text("")
    tags.append(tag_of(checkout))
    (checkout / "nodes" / "new.py").rename(checkout / "nodes" / "other.py")
    tags.append(tag_of(checkout))
    (checkout / "nodes" / "core" / "node.py").unlink()
    tags.append(tag_of(checkout))
    assert len(set(tags)) == len(tags)


def test_another_base_or_another_version_of_a_library_changes_the_tag(checkout: Path) -> None:
    tags = [tag_of(checkout), tag_of(checkout, base="other"), tag_of(checkout, attrs="2.0")]
    assert len(set(tags)) == 3


def test_the_tag_stays_when_nothing_that_goes_in_changes(checkout: Path) -> None:
    before = tag_of(checkout)
    (checkout / "lab" / "hosts" / "engine.py").write_text("# what provisions stays outside\n")
    (checkout / "nodes" / "notes.txt").write_text("no source")
    assert tag_of(checkout) == before


def test_the_libraries_are_those_that_are_installed_here() -> None:
    versions = node_image.library_versions()
    assert versions == {name: version(name) for name in node_image.LIBRARIES}
    packed = node_image._libraries()
    source = Path(aiosmtplib.__file__)
    assert packed["libraries/aiosmtplib/__init__.py"] == source.read_bytes()
    assert f"libraries/aiosmtplib-{versions['aiosmtplib']}.dist-info/METADATA" in packed
    assert not [path for path in packed if ".." in path or path.endswith(".pyc")]


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_image, "LIBRARIES", ("attrs", "no-such-library"))
    with pytest.raises(GroundError, match="the library no-such-library is not installed"):
        node_image.library_versions()


def test_a_library_that_is_compiled_for_a_machine_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_image, "LIBRARIES", ("pydantic-core",))
    with pytest.raises(GroundError, match="no pure Python library"):
        node_image._libraries()


def test_the_constraints_name_versions_and_no_places() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and line.count("==") != 1] == []
    assert not any("/" in line for line in lines if not line.startswith("#"))


def test_the_bases_tag_hashes_its_list_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    before = base_image.tag()
    assert before == base_image.tag()
    monkeypatch.setattr(base_image, "PACKAGES", ("python3", "another"))
    assert base_image.tag() != before


def test_a_failing_program_is_named_with_its_last_word_and_its_log_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(image_build, "WORKSHOP", tmp_path)
    with pytest.raises(GroundError, match="no space left") as raised:
        image_build.call("thing:1", [sys.executable, "-c", "exit('no space left')"])
    assert str(tmp_path / "thing.log") in raised.value.hint
    assert "no space left" in (tmp_path / "thing.log").read_text()


class NoRegistry:
    """The part of a client that pulls; every pull is refused, as by an engine without a network."""

    def __init__(self) -> None:
        self.images = self

    def pull(self, tag: str) -> None:
        raise APIError("500 Server Error", explanation=f"no such host for {tag}\nmore")


def test_a_pull_that_fails_is_told_in_a_line_and_is_no_error() -> None:
    said: list[str] = []
    client: Any = NoRegistry()
    assert not image_build.pulled(client, "somewhere/image:1", said.append)
    assert said[-1].strip() == "no registry gave it: no such host for somewhere/image:1"


def test_one_lab_builds_at_a_time_and_the_other_says_that_it_waits() -> None:
    waits, done = threading.Event(), threading.Event()

    def second() -> None:
        with image_build.one_at_a_time(lambda _: waits.set()):
            done.set()

    with image_build.one_at_a_time(lambda _: None):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        assert not done.is_set()
    assert done.wait(10)
    thread.join()


def test_a_machine_without_go_fetches_one_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def call(_: str, command: list[str]) -> None:
        calls.append(command)
        (tmp_path / "compiler" / "go" / "bin").mkdir(parents=True)
        (tmp_path / "compiler" / "go" / "bin" / "go").touch()

    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(image_build, "WORKSHOP", tmp_path)
    monkeypatch.setattr(image_build, "call", call)
    found = {toxiproxy_image._compiler(lambda _: None) for _ in range(2)}
    assert found == {str(tmp_path / "compiler" / "go" / "bin" / "go")}
    assert [command[-1] for command in calls] == [toxiproxy_image.COMPILER]


@pytest.mark.engine
def test_an_image_that_is_there_is_not_built_again(
    docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    said: list[str] = []
    assert images.ensure(docker_engine, said.append) == lab_images
    assert said == []


@pytest.mark.engine
def test_the_node_image_holds_the_libraries_and_the_sources(
    docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    program = (
        "import json, pathlib, aiosmtpd, aiosmtplib, attr, sqlite3, ssl\n"
        "import lab.workload.program, nodes.core\n"
        "provisioning = pathlib.Path('/opt/shadowlab/lab/hosts').exists()\n"
        "print(json.dumps([nodes.core.__file__, provisioning]))"
    )
    said = docker_engine.containers.run(
        lab_images.node,
        ["python3", "-c", program],
        user="12345:12345",
        remove=True,
        network_mode="none",
    )
    assert json.loads(said) == ["/opt/shadowlab/nodes/core/__init__.py", False]


@pytest.mark.engine
def test_the_toxiproxy_image_is_of_the_pinned_version(
    docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    said = docker_engine.containers.run(
        lab_images.toxiproxy, ["-version"], remove=True, network_mode="none"
    )
    assert toxiproxy_image.VERSION in said.decode()


@pytest.mark.engine
def test_a_build_that_fails_is_a_ground_error_with_the_engines_cause(
    docker_engine: docker.DockerClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(image_build, "WORKSHOP", tmp_path)
    context = {"Dockerfile": b"FROM scratch\nCOPY missing /missing\n"}
    with pytest.raises(GroundError, match="missing") as raised:
        image_build.build(docker_engine, "shadowlab-broken:1", context, "Dockerfile")
    assert "\n" not in raised.value.cause
    assert (tmp_path / "shadowlab-broken.log").exists()


def test_a_build_context_holds_its_files_and_nothing_else() -> None:
    packed = image_build._tarred({"b": b"2", "a": b"1"}, executable=["b"])
    with tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
        assert [(entry.name, entry.mode & 0o111 != 0) for entry in archive] == [
            ("a", False),
            ("b", True),
        ]
