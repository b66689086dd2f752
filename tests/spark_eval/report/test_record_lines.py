"""Lines of the run folder beside their number; links to them and to parts of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_eval.report.links import Links, file_href
from spark_eval.report.record_lines import LONGEST, journal_lines, lines_shown


def test_shows_the_lines_that_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "ledger.jsonl").write_text("one\ntwo\n" + "x" * 2000 + "\n")
    shown = lines_shown(tmp_path, [("ledger.jsonl", 2), ("ledger.jsonl", 3), ("gone", 1)])
    assert shown["ledger.jsonl", 2] == "two"
    assert len(shown["ledger.jsonl", 3]) < LONGEST + 5
    assert len(shown) == 2


def test_reads_nothing_outside_of_the_run_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    folder = tmp_path / "run"
    folder.mkdir()
    assert lines_shown(folder, [("../secret", 1), (str(tmp_path / "secret"), 1)]) == {}


def test_finds_each_fault_in_its_journal_and_bears_with_damage(tmp_path: Path) -> None:
    (tmp_path / "faults.jsonl").write_text(
        '{"fault":"f1"}\n{"fau\n{"fault":"f2"}\n{"fault":"f1"}\n'
    )
    assert journal_lines(tmp_path, "faults.jsonl", "fault") == {"f1": 1, "f2": 3}


def test_a_journal_that_is_a_link_to_itself_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "faults.jsonl").symlink_to("faults.jsonl")
    assert journal_lines(tmp_path, "faults.jsonl", "fault") == {}


@pytest.mark.parametrize(
    ("file", "href"),
    [
        ("logs/a b/x#1.LOG", "./logs/a%20b/x%231.LOG"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
        ("//elsewhere/x", "./elsewhere/x"),
    ],
)
def test_a_link_to_a_file_stays_in_the_run_folder(file: str, href: str) -> None:
    assert file_href(file) == href


LINKS = Links({"no_loss": "#claim-no_loss", "f1": "#fault-f1", "SM-7": "#requirement-SM-7"})


@pytest.mark.parametrize(
    ("reason", "anchor"),
    [
        ("no_loss is violated: 102 of 465 checked", "#claim-no_loss"),
        ("fault f1 has no evidence that it took effect", "#fault-f1"),
        ("SM-7 is to be proven and is not asked", "#requirement-SM-7"),
    ],
)
def test_a_reason_is_a_link_to_what_it_is_about(reason: str, anchor: str) -> None:
    assert LINKS.line(reason) == f'<a href="{anchor}">{reason}</a>'


def test_what_is_not_on_the_page_is_no_link_and_markup_stays_text() -> None:
    assert LINKS.line("<b>the clock</b>") == "&lt;b&gt;the clock&lt;/b&gt;"
    assert "href" not in LINKS.names("f12 <i> no_loss_at_all")


def test_a_name_in_a_sentence_carries_what_it_stands_for() -> None:
    text = LINKS.names("due by SM-7, while f1 held")
    assert 'title="When the primary server returns with another database' in text
    assert '<a href="#fault-f1">f1</a>' in text


def test_the_name_of_a_server_is_not_broken_at_its_hyphen() -> None:
    text = Links({}, frozenset({"par-mbx1"})).names("primary par-mbx1, not par-mbx10")
    assert text == 'primary <span class="who">par-mbx1</span>, not par-mbx10'


def test_a_name_that_no_file_can_have_names_no_line(tmp_path: Path) -> None:
    """As a verdict.json that somebody wrote may say."""
    assert lines_shown(tmp_path, [("logs/" + "x" * 5000, 1), ("a" * 300, 2)]) == {}
