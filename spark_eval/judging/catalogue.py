"""A plain sentence for every requirement and claim, out of `requirements.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Sentences by id and by name; what has none reads as the empty text."""

    requirements: Mapping[str, str]
    claims: Mapping[str, str]

    def sentence(self, name: str) -> str:
        return self.requirements.get(name) or self.claims.get(name) or ""


def in_order(names: Iterable[str]) -> list[str]:
    """SM-2 before SM-10."""

    def place(name: str) -> tuple[str, int, str]:
        family, _, number = name.partition("-")
        return family, int(number) if number.isdigit() else 0, name

    return sorted(names, key=place)


@cache
def catalogue() -> Catalogue:
    text = (resources.files("spark_eval") / "requirements.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    sentences = {name: row["sentence"] for name, row in content["requirements"].items()}
    return Catalogue(sentences, content["claims"])
