"""The base of the node image: Debian's python 3.11, pulled, or put together from packages.

The published image is preferred; where no registry answers, debootstrap makes a Debian with Python
and nothing else. The tag of what is made hashes the list of packages and the way it is made, so it
is made once. Making it needs root on a Debian machine, and says so.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import docker

from lab.hosts.containers import engine
from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images.build import Report
from lab.program.errors import GroundError

PUBLISHED = "python:3.11-slim-bookworm"
SUITE = "bookworm"
PACKAGES = ("python3",)
BARE = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/info",
    "usr/share/locale",
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
)
"""Emptied after installation: nothing in a container reads it."""


def tag() -> str:
    """The name of the base that is made from packages."""
    recipe = {"suite": SUITE, "packages": " ".join(PACKAGES), "emptied": " ".join(BARE)}
    hashed = image_build.fingerprint({name: text.encode() for name, text in recipe.items()})
    return f"shadowlab-base:{SUITE}-{hashed}"


def ensure(client: docker.DockerClient, report: Report) -> str:
    """The name of a base that the engine has: found, pulled or made, in this order."""
    for name in (PUBLISHED, tag()):
        if image_build.present(client, name):
            return name
    if image_build.pulled(client, PUBLISHED, report):
        return PUBLISHED
    _make(client, report)
    return tag()


def _make(client: docker.DockerClient, report: Report) -> None:
    if shutil.which("debootstrap") is None:
        engine.require_debian_root("the base image has to be made with debootstrap")
        engine.install_packages("debootstrap")
    engine.require_debian_root("the base image has to be made with debootstrap, as root")
    report(f"making {tag()} from packages (about a minute)")
    _remove_unfinished()
    folder = Path(tempfile.mkdtemp(prefix="base-", dir=image_build.log_path(tag()).parent))
    try:
        _debootstrap(folder)
        _import(client, folder)
    finally:
        _remove(folder)


def _debootstrap(folder: Path) -> None:
    options = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
    image_build.call(tag(), ["debootstrap", *options, SUITE, str(folder)])
    for name in BARE:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True, exist_ok=True)


def _import(client: docker.DockerClient, folder: Path) -> None:
    repository, _, version = tag().partition(":")
    changes = ['CMD ["python3"]', f"LABEL {image_build.IMAGE_LABEL}={repository}"]
    packing = subprocess.Popen(
        ["tar", "--numeric-owner", "--one-file-system", "-C", str(folder), "-c", "."],
        stdout=subprocess.PIPE,
    )
    assert packing.stdout is not None
    with packing, packing.stdout as packed:
        client.api.import_image(src=packed, repository=repository, tag=version, changes=changes)
    if packing.returncode != 0 or image_build.present(client, tag()) is None:
        raise GroundError(f"image {tag()}: the engine did not take it in")


def _remove_unfinished() -> None:
    """What a killed build left: found by its folder's name, under the lock of all builds."""
    for folder in image_build.log_path(tag()).parent.glob("base-*"):
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a half-made system; first what debootstrap may have left mounted in it."""
    mounts = re.findall(r"^\S+ \S+ \S+ \S+ (\S+)", Path("/proc/self/mountinfo").read_text(), re.M)
    for mount in sorted((m for m in mounts if m.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", mount], check=True)
    shutil.rmtree(folder)
