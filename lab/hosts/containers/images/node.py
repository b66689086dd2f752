"""The node image: the base, a handful of pure Python libraries, and this project's own sources.

Its tag is a hash of all that goes in, so an unchanged image is never built twice and a changed one
never missed. The libraries are copied from where this program has its own, in the same versions,
since a build reaches no index. Of the lab only the rooms of the workload go in: that program runs
in a container too, and what provisions has no business there.
"""

from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import docker

from lab.hosts.containers.images import base as base_image
from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images.build import Report
from lab.program.errors import GroundError
from lab.program.sources import ROOT

LIBRARIES = ("aiosmtpd", "aiosmtplib", "atpublic", "attrs")
NAME = "shadowlab-node"
OF_THE_LAB = ("plan", "program", "workload")
"""The rooms that the program in the workload container needs."""


def ensure(client: docker.DockerClient, report: Report) -> str:
    """The name of the node image for the sources as they are now, built where it is missing."""
    base = base_image.ensure(client, report)
    own = sources(ROOT)
    tag = tag_of(image_build.present(client, base) or base, own, library_versions())
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
    """What goes in of the sources at `root`: path in the build context to content."""
    found = [*(root / "lab").glob("*.py")]
    for room in OF_THE_LAB:
        found += (root / "lab" / room).glob("*.py")
    for pattern in ("*.py", "*.sql"):
        found += (root / "nodes").rglob(pattern)
    own = {f"sources/{path.relative_to(root)}": path.read_bytes() for path in found}
    return own | {"Dockerfile": (root / "nodes" / "image" / "Dockerfile").read_bytes()}


def library_versions() -> dict[str, str]:
    """The version of each library that goes in. Raises GroundError."""
    return {name: _installed(name).version for name in LIBRARIES}


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        hint = "install shadowlab again (in a clone: make venv)"
        raise GroundError(f"the library {name} is not installed", hint) from error


def _libraries() -> dict[str, bytes]:
    return {path: content for name in LIBRARIES for path, content in _files(_installed(name))}


def _files(library: Distribution) -> list[tuple[str, bytes]]:
    """Path in the build context and content of each file; scripts and compiled files stay out."""
    if "Tag: py3-none-any" not in (library.read_text("WHEEL") or ""):
        raise GroundError(f"{library.name} is no pure Python library and may not fit the image")
    inside = [path for path in library.files or () if path.parts[0] != ".."]
    kept = [path for path in inside if path.suffix != ".pyc"]
    return [(f"libraries/{path}", Path(str(path.locate())).read_bytes()) for path in kept]
