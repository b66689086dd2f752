"""How a container of the lab is confined: as whom it runs, and how much of the machine it may take.

Nobody is root in a container, whoever the lab runs as: a person's containers run as that person,
root's as an ordinary user that exists nowhere else, who is given the folders that containers see.
The root file system is read-only everywhere; what a program writes goes to its own folders, or to a
small `/tmp` in memory; what it says to its standard streams the engine keeps to a bound. The verify
play proves all of it. Nothing here starts a container.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ORDINARY = 10_001
TMP = "/tmp:size=16m,mode=1777"
MIB = 1024 * 1024

# Of each container: the newest 8 MiB at least, 16 MiB at most. What a node logs is in files of the
# run; here are its last words, which become stderr.log.
LOG_DRIVER = "json-file"
LOG_OPTIONS: Mapping[str, str] = {"max-size": "8m", "max-file": "2"}


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory_mib` counts what files in `/tmp` take, too; `processes` counts threads."""

    memory_mib: int
    processes: int

    @property
    def memory_bytes(self) -> int:
        return self.memory_mib * MIB


# Measured: at most 51 MiB and 9 threads in a server of the project's scenarios, 14 MiB and 10
# threads in Toxiproxy, 202 MiB in a workload with 100,000 messages, the most that a plan may have.
# A message may have 10 MiB; of those that come and wait a server has 384 MiB at the most, and of
# those that go out 16 MiB and one more for each peer (docs/node.md).
LIMITS: Mapping[str, Limits] = {
    "server": Limits(1024, 128),
    "workload": Limits(1024, 128),
    "toxiproxy": Limits(512, 256),
}


def user() -> tuple[int, int]:
    """User and group of every container."""
    return (os.getuid(), os.getgid()) if os.getuid() else (ORDINARY, ORDINARY)


def hand_over(path: Path) -> None:
    """Have a file, or a folder and all in it, belong to the containers' user. Raises OSError."""
    if os.getuid():
        return  # it belongs to that user already
    os.chown(path, *user())
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(Path(parent) / name, *user(), follow_symlinks=False)
