"""The requirements: every promise of the transport by its id, out of one table.

The table is a data file of the evaluation's package, where the report reads the same sentences; no
code of that package is imported. Here a slip in `proves:` is named instead of leaving a requirement
unchecked. What is promised is for people in docs/requirements.md.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

OWN = "own"
"""The source of what this project decided, where documents are silent or disagree."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A promise. `detail` and `missing` (what is not built yet) may be empty; `sources` are keys of
    the bibliography, entries of docs/exchange.md (F§…) or OWN; `checked_by` are names of claims.
    """

    name: str
    sentence: str
    detail: str
    sources: tuple[str, ...]
    missing: str
    checked_by: tuple[str, ...]

    @property
    def family(self) -> str:
        """`SM` of SM-6."""
        return self.name.partition("-")[0]


@dataclass(frozen=True, slots=True)
class RequirementTable:
    """`requirements.toml`: the titles of families, requirements by id, the bibliography by key."""

    families: Mapping[str, str]
    requirements: Mapping[str, Requirement]
    sources: Mapping[str, str]


@cache
def requirement_table() -> RequirementTable:
    """The whole table, in the order of the file."""
    text = (resources.files("spark_eval") / "requirements.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    rows, checks = content["requirements"], content["checks"]
    requirements = {name: _requirement(name, rows[name], checks) for name in rows}
    return RequirementTable(content["families"], requirements, content["sources"])


def _requirement(
    name: str, row: Mapping[str, Any], checks: Mapping[str, Iterable[str]]
) -> Requirement:
    return Requirement(
        name=name,
        sentence=row["sentence"],
        detail=row.get("detail", ""),
        sources=tuple(row["sources"]),
        missing=row.get("missing", ""),
        checked_by=tuple(claim for claim, checked in checks.items() if name in checked),
    )


REQUIREMENTS: frozenset[str] = frozenset(requirement_table().requirements)


def families() -> str:
    """The ids as a hint shows them: `SR-1 to SR-15, …`."""
    by_family: dict[str, list[str]] = {}
    for requirement in requirement_table().requirements.values():
        by_family.setdefault(requirement.family, []).append(requirement.name)
    return ", ".join(f"{names[0]} to {names[-1]}" for names in by_family.values())
