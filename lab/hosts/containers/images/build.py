"""What every image of the lab is made with: a folder, a log, a lock, the engine's builder.

A build context is put together in memory and sent to the engine, so it holds what goes into the
image and nothing else. Nothing here decides whether a build is needed.
"""

import fcntl
import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import docker
import requests
from docker.errors import DockerException, ImageNotFound

from lab.program.errors import GroundError

WORKSHOP = Path("build/images").absolute()
"""Compiled parts and logs of the builds, where one stands; `make clean` removes it."""
IMAGE_LABEL = "shadowlab.image"

Report = Callable[[str], None]


def fingerprint(parts: Mapping[str, bytes]) -> str:
    """Twelve hex digits over names and contents, whatever their order."""
    whole = hashlib.sha256()
    for name, content in sorted(parts.items()):
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()[:12]


def present(client: docker.DockerClient, tag: str) -> str | None:
    """The id of the image called `tag` where the engine has it."""
    try:
        return str(client.images.get(tag).id)
    except ImageNotFound:
        return None


def pulled(client: docker.DockerClient, tag: str, report: Report) -> bool:
    """Whether `tag` could be pulled; a registry out of reach is no error."""
    report(f"pulling {tag}")
    try:
        client.images.pull(tag)
    except (DockerException, requests.RequestException) as error:
        report(f"  no registry gave it: {first_line(error)}")
        return False
    return True


def build(
    client: docker.DockerClient,
    tag: str,
    context: Mapping[str, bytes],
    dockerfile: str,
    executable: Sequence[str] = (),
    **arguments: str,
) -> None:
    """Have the engine build `tag` from the files of `context` (path to content)."""
    log = log_path(tag)
    with log.open("a") as written:
        try:
            steps = client.api.build(
                fileobj=_tarred(context, executable),
                custom_context=True,
                decode=True,
                dockerfile=dockerfile,
                tag=tag,
                buildargs=dict(arguments),
                rm=True,
                forcerm=True,
                labels={IMAGE_LABEL: tag.partition(":")[0]},
            )
            for step in steps:
                written.write(str(step.get("stream", step.get("error", ""))))
                if "error" in step:
                    raise GroundError(f"image {tag}: {first_line(step['error'])}", f"see {log}")
        except (DockerException, requests.RequestException) as error:
            raise GroundError(f"image {tag}: {first_line(error)}", f"see {log}") from error


def call(what: str, command: Sequence[str], **environment: str) -> None:
    """Run a program for the image `what`, output to its log; GroundError with its last word."""
    log = log_path(what)
    with log.open("ab") as written:
        start = written.tell()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            check=False,
        )
    if done.returncode != 0:
        said = log.read_bytes()[start:].decode(errors="replace").strip().splitlines()
        cause = said[-1] if said else f"exit {done.returncode}"
        raise GroundError(f"image {what}: {Path(command[0]).name} failed: {cause}", f"see {log}")


def log_path(what: str) -> Path:
    """The log of the image `what`, its folder made."""
    WORKSHOP.mkdir(parents=True, exist_ok=True)
    return WORKSHOP / f"{what.partition(':')[0]}.log"


def first_line(said: object) -> str:
    """The first line of a complaint, for an error of the engine's own words."""
    text = str(getattr(said, "explanation", None) or said)
    return next((line.strip() for line in text.splitlines() if line.strip()), "no word why")


@contextmanager
def one_at_a_time(report: Report) -> Iterator[None]:
    """One lab builds images, the others wait; held by the kernel, so it ends with its holder."""
    path = Path(tempfile.gettempdir()) / f"shadowlab-images-{os.getuid()}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another lab that builds images")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tarred(context: Mapping[str, bytes], executable: Sequence[str]) -> io.BytesIO:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in sorted(context.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if name in executable else 0o644
            archive.addfile(entry, io.BytesIO(content))
    packed.seek(0)
    return packed
