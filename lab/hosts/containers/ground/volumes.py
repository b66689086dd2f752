"""A volume of its own for the data of a server whose plan says how large it is (TL-8): a file
system in a file, so that what fills it fills nothing else and meets the errors of a full disk.

To mount takes root, loop devices, and an engine that sees the mounts of this process. Where one is
missing there is no volume, and the server goes by the size alone that its configuration has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lab.plan.plan import Plan
from lab.program.errors import GroundError

ENGINE_RECORD = Path("/run/docker.pid")
OWN_MOUNTS = Path("/proc/self/mountinfo")
PROGRAMS = ("mkfs.ext4", "mount", "umount")
IMAGE = "volume.img"
PATIENCE_S = 30.0


def can_be_mounted() -> bool:
    """Whether this process may mount, and the engine would see it."""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS)) and _engine_sees_our_mounts()


def sizes(plan: Plan) -> dict[str, int]:
    """Bytes by server, of those that are to have a volume of their own."""
    found = {
        name: int(own["TransportService"]["QueueDatabaseVolumeSize"] or 0)
        for name, own in plan.settings.servers.items()
        if "TransportService" in own
    }
    return {name: size for name, size in found.items() if size}


def mount_all(plan: Plan, servers: Path) -> None:
    """Each in the folder `data` of its server, unless one is mounted there. Raises GroundError."""
    if not can_be_mounted():
        return
    mounted = set(mounted_below(servers))
    for server, size_bytes in sizes(plan).items():
        data = servers / server / "data"
        if data not in mounted:
            _make(servers / server / IMAGE, size_bytes)
            _run("mount", "-o", "loop,nodev,nosuid", str(servers / server / IMAGE), str(data))
            (data / "lost+found").rmdir()


def servers_with_one(state_dir: Path) -> list[str]:
    """Of a lab that stands, by name."""
    return sorted(place.parent.name for place in mounted_below(state_dir / "servers"))


def unmount_all(folder: Path) -> None:
    """Whatever is mounted below a folder. Raises GroundError."""
    for place in mounted_below(folder):
        _run("umount", str(place))


def mounted_below(folder: Path) -> Iterator[Path]:
    """Where this process sees something mounted; nothing where the system does not say."""
    try:
        lines = OWN_MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    real = Path(os.path.realpath(folder))
    for line in lines:
        place = Path(_unescaped(line.split(" ")[4]))
        if real in place.parents:
            yield folder / place.relative_to(real)


def _unescaped(name: str) -> str:
    """Blanks and their like stand as octal numbers there."""
    for code in ("040", "011", "012", "134"):
        name = name.replace(f"\\{code}", chr(int(code, 8)))
    return name


def _engine_sees_our_mounts() -> bool:
    """It is a process of this machine, and has no mounts of its own."""
    try:
        engine = ENGINE_RECORD.read_text(encoding="ascii").strip()
        own, its = (os.readlink(f"/proc/{each}/ns/mnt") for each in ("self", engine))
    except (OSError, UnicodeError):
        return False
    return own == its


def _make(image: Path, size_bytes: int) -> None:
    """A sparse file with an empty file system: without a journal, which a small one has no room
    for, and with nothing reserved.
    """
    with image.open("wb") as file:
        file.truncate(size_bytes)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", "-N", "512", str(image))


def _run(*command: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GroundError(f"{command[0]}: {error}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())
        raise GroundError(f"{' '.join(command)}: {said}", "make down")
