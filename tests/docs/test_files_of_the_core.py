"""docs/node.md names every file of the core but its data, each in its room, and no other."""

from __future__ import annotations

from collections.abc import Iterator

from tests.docs.pages import CODE, ROOT, rows, sections

CORE = ROOT / "nodes" / "core"
DATA = ("interface", "model")


def there() -> Iterator[str]:
    for path in CORE.rglob("*.py"):
        room, *_ = path.relative_to(CORE).parts
        if path.stem != "__init__" and room not in DATA:
            yield path.relative_to(CORE).with_suffix("").as_posix()


def named() -> Iterator[str]:
    for first, _ in rows(sections("docs/node.md")["The files of the core"]):
        words = CODE.findall(first)
        room = words.pop(0) if words[0].endswith("/") else ""
        yield from (f"{room}{word}" for word in words)


def test_every_file_is_named_once() -> None:
    assert sorted(named()) == sorted(there())
