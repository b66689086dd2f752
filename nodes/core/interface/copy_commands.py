"""What Active Manager says to the servers of a mailbox database, over the `management` service; and
what a server that came anew asks those that have the other copies, over `replication`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class AskCopyStatus:
    """XCOPYSTATUS: where does your copy stand?"""

    database: str


@dataclass(frozen=True, slots=True)
class MountDatabase:
    """XMOUNT: your copy is active under `epoch`. A lagged one first replays what it keeps of before
    `before_ms` (SN-20); None: it drops all that it has not replayed.
    """

    database: str
    epoch: int
    before_ms: int | None = None


@dataclass(frozen=True, slots=True)
class DismountDatabase:
    """XDISMOUNT: your copy, active under `epoch`, takes no delivery any more."""

    database: str
    epoch: int


@dataclass(frozen=True, slots=True)
class NameActiveCopy:
    """XACTIVE: the copy on `server` is active under `epoch`."""

    database: str
    server: str
    epoch: int


@dataclass(frozen=True, slots=True)
class UpdateCopy:
    """XUPDATECOPY: send me everything that your copy has, if it is active."""

    database: str


CopyCommand: TypeAlias = (
    AskCopyStatus | MountDatabase | DismountDatabase | NameActiveCopy | UpdateCopy
)
