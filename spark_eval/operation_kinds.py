"""What a plan says of each kind of operation, and how pages say it.

One row a kind, so that a new one is a class of its keys here. Data and no judgement; it needs no
Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias


class Activation(NamedTuple):
    """Of another copy of a database, by Active Manager; `to` is None where that chooses."""

    database: str | None
    to: str | None

    def words(self, kind: str) -> str:
        return f"{kind} of {self.database}" + (f" to {self.to}" if self.to else "")


Keys: TypeAlias = Activation

KINDS: Final[Mapping[str, type[Keys]]] = {
    "failover": Activation,
    "switchover": Activation,
}
