"""The text of a file: what cannot be read is told with its place, and costs little."""

from pathlib import Path

import pytest

from lab.validation.mistakes import FilePosition
from lab.validation.yaml_document import BYTES_MAX, VALUES_MAX, parse_document, read_document
from tests.lab.scenario.sample_scenario import SCENARIO, checked

BOMB = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b", ".join([b"*%c" % (letter - 1)] * 10))
    for letter in range(ord("b"), ord("j"))
)

WRONG = {
    "empty": (b"", "1:1: the file, is empty | start from calm.yaml"),
    "only a comment": (b"# nothing\n", "1:1: the file, is empty | start from calm.yaml"),
    "nothing but null": (b"---\n", "1:1: the file, is empty | start from calm.yaml"),
    "null in so many words": (b"!!null\n", "1:1: the file, is empty | start from calm.yaml"),
    "not UTF-8": (
        b"version: 1\nsummary: caf\xe9\n",
        "2:13: the file, byte 0xe9, is not UTF-8 | save the file as UTF-8",
    ),
    "UTF-16": (
        "version: 1\n".encode("utf-16"),
        "1:1: the file, byte 0xff, is not UTF-8 | save the file as UTF-8",
    ),
    "a control character": (
        b"version: 1\nsummary: a\x07b\n",
        "2:11: the file, U+0007, acts on terminals and cannot be seen | remove it",
    ),
    "an anchor twice": (
        b"a: &x 1\nb: &x 2\nc: *x\nd: *x\n",
        "2:4: b, &x, is given twice | it stands at line 1 already; give each its own",
    ),
    "an anchor of a key twice": (
        b"&x a: 1\n&x b: 2\n",
        "2:1: the file, &x, is given twice | it stands at line 1 already; give each its own",
    ),
    "a bracket left open": (
        b"version: 1\ntags: [a, b\n",
        "3:1: the file, is not YAML: expected ',' or ']', but got '<stream end>'",
    ),
    "two colons": (
        b"version: 1\nsummary: a: b\n",
        "2:11: the file, is not YAML: mapping values are not allowed here",
    ),
    "indented by a tab": (
        b"clock:\n\tspeed: 60\n",
        "2:1: the file, is not YAML: found character '\\t' that cannot start any token",
    ),
    "two documents": (
        b"version: 1\n---\nversion: 1\n",
        "2:1: the file, is not YAML: but found another document",
    ),
    "an alias of nothing": (
        b"tags: *nothing\n",
        "1:7: the file, is not YAML: found undefined alias 'nothing'",
    ),
    "a key given twice": (
        b"version: 1\nsummary: a\nsummary: b\n",
        "3:1: the file, summary, is given twice | it stands first at line 2; keep one of them",
    ),
    "a key given twice deep inside": (
        b"faults:\n  - {at: 1m, for: 1m, at: 2m}\n",
        "2:23: faults[0], at, is given twice | it stands first at line 2; keep one of them",
    ),
    "a merge key": (
        b"a: &a {b: 1}\nc:\n  <<: *a\n",
        "3:3: c, <<, merge keys are not used here"
        " | write the keys out, or give the whole value an alias",
    ),
    "a tag": (b"a: !!python/none x\n", "1:4: a, tag:yaml.org,2002:python/none, tags are not"),
    "a list as a key": (b"? [a, b]\n: c\n", "1:3: the file, a key must be a word"),
    "an alias within its own anchor": (
        b"a: &a [*a]\n",
        "1:1: a, is nested deeper than 20, or contains itself",
    ),
    "an alias bomb": (BOMB, f"5:1: e, unfolds into more than {VALUES_MAX} values"),
    "nested too deep": (b"[" * 5000, "1:21: the file, is nested deeper than 20"),
    "too large": (b"#" * (BYTES_MAX + 1), "1:1: the file, is larger than 64 KiB"),
}


@pytest.mark.parametrize(("raw", "says"), WRONG.values(), ids=WRONG)
def test_a_text_that_cannot_be_read_is_told_with_its_place(raw: bytes, says: str) -> None:
    [mistake] = parse_document("x.yaml", raw).mistakes
    assert str(mistake).replace("\nhint: ", " | ").startswith(f"x.yaml:{says}")


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    [mistake] = read_document(tmp_path / "gone.yaml").mistakes
    assert "no such file" in mistake.rule


def test_every_key_given_twice_is_told(tmp_path: Path) -> None:
    twice = SCENARIO.replace("version: 1", "version: 1\nversion: 1").replace(
        "settle: 10m", "settle: 10m\nsettle: 11m"
    )
    assert [mistake.value for mistake in checked(tmp_path, twice).mistakes] == [
        "version",
        "settle",
    ]


def test_scalars_are_read_as_yaml_1_2_and_dates_stay_text() -> None:
    text = b"[yes, true, 010, 0x10, 1_000, 1.5, 00:02:00, 2026-01-05, ~, '3', 1..3]"
    assert parse_document("x", text).data == [
        "yes", True, 10, 16, 1000, 1.5, "00:02:00", "2026-01-05", None, "3", "1..3",
    ]  # fmt: skip


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    assert parse_document("x", "\ufeffversion: 1".encode()).data == {"version": 1}


def test_an_alias_stands_for_its_value_at_the_place_of_the_anchor() -> None:
    document = parse_document("x", b"a: &here {b: 1}\nc: *here\n")
    assert document.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert document.place(("c", "b")) == FilePosition(1, 14)


def test_columns_count_characters_not_bytes() -> None:
    document = parse_document("x", "{é: 1, b: 2}".encode())
    assert document.place(("b",), of_key=True) == FilePosition(1, 8)
