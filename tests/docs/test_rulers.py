"""No rulers: a part of a file that needs one is a file of its own, or needs no heading."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT
from tests.docs.test_rooms import OURS

RULER = re.compile(r"^\s*#\s*[-=]{4,}", re.MULTILINE)
SOURCES = {".py", ".toml", ".yaml", ".yml", ".j2", ".sh"}


def test_no_comment_is_a_ruler() -> None:
    below = [path for name in OURS for path in (ROOT / name).rglob("*")]
    sources = [path for path in [*ROOT.iterdir(), *below] if path.suffix in SOURCES]
    ruled = [
        str(path.relative_to(ROOT))
        for path in [ROOT / "Makefile", *sources]
        if RULER.search(path.read_text(encoding="utf-8"))
    ]
    assert len(sources) > 1000
    assert ruled == []
