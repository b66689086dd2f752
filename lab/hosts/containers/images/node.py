"""The node image: the base, a handful of pure Python libraries, and this project's own sources.

Its tag is a hash of all that goes in, so an unchanged image is never built twice and a changed one
never missed. The libraries are wheels of the versions in constraints.txt, fetched and unpacked out
here, since a build reaches no index. Of the lab only the rooms of the workload go in: that
program runs in a container too, and what provisions has no business there.
"""

import shutil
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import docker

from lab.hosts.containers.images import base as base_image
from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images.build import ROOT, WORKSHOP, Report
from lab.program.errors import GroundError

LIBRARIES = ("aiosmtpd", "aiosmtplib", "atpublic", "attrs")
NAME = "shadowlab-node"
OF_THE_LAB = ("plan", "program", "workload")
"""The rooms that the program in the workload container needs."""


def ensure(client: docker.DockerClient, report: Report) -> str:
    """The name of the node image for the sources as they are now, built where it is missing."""
    base = base_image.ensure(client, report)
    own = sources(ROOT)
    tag = tag_of(image_build.present(client, base) or base, own, library_versions(ROOT))
    if image_build.present(client, tag) is None:
        report(f"building {tag}")
        image_build.build(client, tag, own | _libraries(), "Dockerfile", BASE=base)
    return tag


def tag_of(base_id: str, own: Mapping[str, bytes], versions: Mapping[str, str]) -> str:
    """The image's name: a hash of base, Dockerfile, sources and the libraries' versions."""
    pins = "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))
    parts = dict(own) | {"base": base_id.encode(), "versions": pins.encode()}
    return f"{NAME}:{image_build.fingerprint(parts)}"


def sources(root: Path) -> dict[str, bytes]:
    """What goes in of a checkout at `root`: path in the build context to content."""
    found = [*(root / "lab").glob("*.py")]
    for room in OF_THE_LAB:
        found += (root / "lab" / room).glob("*.py")
    for pattern in ("*.py", "*.sql"):
        found += (root / "nodes").rglob(pattern)
    own = {f"sources/{path.relative_to(root)}": path.read_bytes() for path in found}
    return own | {"Dockerfile": (root / "nodes" / "image" / "Dockerfile").read_bytes()}


def library_versions(root: Path) -> dict[str, str]:
    """The pinned version of each library that goes in."""
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    missing = [name for name in LIBRARIES if name not in pins]
    if missing:
        raise GroundError(f"constraints.txt pins no version of {', '.join(missing)}")
    return {name: pins[name].strip() for name in LIBRARIES}


def _libraries() -> dict[str, bytes]:
    versions = library_versions(ROOT)
    wanted = [f"{name}=={version}" for name, version in versions.items()]
    folder = WORKSHOP / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "-d", str(folder)]
    image_build.call(NAME, [sys.executable, "-m", "pip", "download", *options, *wanted])
    return {name: content for wheel in folder.glob("*.whl") for name, content in _unpack(wheel)}


def _unpack(wheel: Path) -> list[tuple[str, bytes]]:
    if not wheel.name.endswith("-none-any.whl"):
        raise GroundError(f"{wheel.name} is no pure Python wheel and may not fit the image")
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/")]
        return [(f"libraries/{name}", packed.read(name)) for name in names]
