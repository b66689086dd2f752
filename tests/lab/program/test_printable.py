"""Nothing of a file acts on the terminal that shows it: not its values, keys, words or name."""

from pathlib import Path

import pytest
from rich.console import Console

from lab.cli.__main__ import main
from lab.program.errors import ScenarioError, print_error
from lab.program.printable import code_point, printable, unprintable, visible
from lab.validation.yaml_document import parse_document
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write

ACTS = {
    "escape": "\x1b",
    "bell": "\x07",
    "delete": "\x7f",
    "a C1 control": "\x9b",
    "a bidirectional override": "\u202e",
    "an isolate": "\u2066",
    "a mark": "\u200f",
    "a line separator": "\u2028",
    "a byte that is no text": "\udcff",
}


@pytest.mark.parametrize("character", ACTS.values(), ids=ACTS)
def test_a_character_that_acts_is_shown_as_an_escape(character: str) -> None:
    assert unprintable(f"ab{character}c") == 2
    assert visible(f"ab{character}c").isprintable()
    assert printable(f"ab{character}c").isascii()


def test_what_people_write_is_shown_as_it_is() -> None:
    text = "Wähle 3 Server, naïve 東京 ✓"
    assert (printable(text), unprintable(text)) == (text, None)


def test_a_text_of_many_lines_is_shown_on_one() -> None:
    assert printable("a\n b\tc\r\nhint: d") == "a b c hint: d"


def test_the_middle_of_a_long_text_is_left_out() -> None:
    assert printable("a" * 500 + "b" * 500, 10) == "aaaaa … bbbbb"


@pytest.mark.parametrize(
    "character", [each for each in ACTS.values() if each not in "\udcff"], ids=lambda c: f"{ord(c)}"
)
def test_a_file_that_holds_one_is_refused_at_its_place(character: str) -> None:
    raw = f"version: 1\nsummary: a{character}b\n".encode()
    [mistake] = parse_document("x.yaml", raw).mistakes
    assert (mistake.place.line, mistake.place.column) == (2, 11)
    assert mistake.value == code_point(character)


ESCAPED = r'"\e[31m\u202e\n"'
PLACES = {
    "the summary": ("Nothing is wrong with this file.", ESCAPED),
    "a requirement": ("[SR-1, SM-7]", f"[{ESCAPED}]"),
    "a tag": ("[nightly]", f"[{ESCAPED}]"),
    "the topology": ("topology: pair", f"topology: {ESCAPED}"),
    "a key": ("settle:", f"{ESCAPED}:"),
    "a key deep inside": ("rate: 1/m", f"{ESCAPED}: 1"),
    "a server": ("kill: par-mbx1", f"kill: {ESCAPED}"),
    "a database": ("to: {database: DB1}", f"to: {{database: {ESCAPED}}}"),
    "an end of a link": ("site lyon", ESCAPED),
    "a tag of YAML": ("settle: 10m", "settle: !%1b%5b31m 10m"),
    "an alias": ("settle: 10m", "settle: *a\u200b"),
}


@pytest.mark.parametrize(("old", "new"), PLACES.values(), ids=PLACES)
def test_no_message_about_a_file_acts_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    path = write(tmp_path, changed(SCENARIO, old, new))
    assert main(["validate", str(path)]) == 4
    said = capsys.readouterr()
    assert [line for line in (said.out + said.err).splitlines() if not line.isprintable()] == []


def test_the_name_of_a_file_does_not_act_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    write(folder, "nothing: 1\n", name="\x1b[31m\u202ered\nhint: trust me")
    monkeypatch.chdir(tmp_path)
    calls = (["validate"], ["list"], ["plan", str(next(folder.glob("*.yaml")))], ["plan", "\x1b"])
    assert [main(call) for call in calls] == [4, 0, 4, 4]
    said = capsys.readouterr()
    lines = (said.out + said.err).split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert "hint: trust me" not in lines


def test_an_error_is_two_lines_whatever_it_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(ScenarioError("a\x1b[2J\nb", "c\u202e"))
    assert capsys.readouterr().err == "shadowlab: a\\x1b[2J b\nhint: c\\u202e\n"


def test_a_summary_is_shown_letter_by_letter(tmp_path: Path) -> None:
    console = Console(record=True, width=80)
    console.print(visible("[red]\x1b[31m"), markup=False, highlight=False)
    assert console.export_text() == "[red]\\x1b[31m\n"
