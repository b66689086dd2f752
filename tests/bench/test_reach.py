"""Which branches no run takes: read from a report, held against the sentences why."""

from pathlib import Path
from typing import Any

import pytest

from bench.reach import __main__ as reach_program
from bench.reach.__main__ import REASONS, ROOT, main, report
from bench.reach.branches import (
    Branch,
    Reach,
    Reason,
    by_file,
    outdated,
    reach_of,
    read_reasons,
    read_report,
    unexplained,
)
from bench.reach.visit import DATA
from bench.reach.visit import main as visit
from bench.reach.worlds import World, worlds
from lab.program.errors import ScenarioError

TEXT = """\
def answer(asked):
    if asked:
        return "yes"
    for each in range(3):
        print(each)
"""
NO = Branch("core/answer.py", "if asked:", 'return "yes"')
END = Branch("core/answer.py", "for each in range(3):", "exit")


@pytest.fixture
def found(tmp_path: Path) -> Reach:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "answer.py").write_text(TEXT)
    file: dict[str, Any] = {"missing_branches": [[2, 3], [4, -1]], "missing_lines": [3, 4]}
    return read_report({"files": {"core/answer.py": file}, "totals": {"num_branches": 4}}, tmp_path)


def reasons_of(tmp_path: Path, *branches: Branch, why: str = "A reader asks for it.") -> Path:
    path = tmp_path / "unreached.toml"
    path.write_text(
        "".join(
            f"[[branch]]\npath = {each.path!r}\nline = {each.line!r}\n"
            f"leads_to = {each.leads_to!r}\nwhy = {why!r}\n"
            for each in branches
        )
    )
    return path


def test_a_branch_is_its_line_and_where_it_leads_to(found: Reach) -> None:
    assert found.missing == {NO: 2, END: 4}
    assert found.lines == ("core/answer.py:3",)
    assert (found.branches, found.percent) == (4, 50.0)
    assert by_file(found.missing) == {"core/answer.py": 2}


def test_what_has_a_sentence_is_explained_and_a_sentence_too_many_is_outdated(
    found: Reach, tmp_path: Path
) -> None:
    gone = Branch("core/answer.py", "while asked:", "exit")
    reasons = read_reasons(reasons_of(tmp_path, NO, gone))
    assert reasons[0] == Reason(NO, "A reader asks for it.")
    assert unexplained(found, reasons) == [END]
    assert outdated(found, reasons) == [gone]


def test_a_reason_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no sentence says why"):
        read_reasons(reasons_of(tmp_path, NO, why="?"))


@pytest.mark.parametrize(
    ("known", "of", "code"),
    [((NO, END), 1000, 0), ((NO,), 1000, 1), ((NO, END, NO._replace(line="x")), 1000, 1),
     ((NO, END), 4, 1)],
)  # fmt: skip
def test_it_passes_where_nearly_all_is_taken_and_each_other_one_explained(
    known: tuple[Branch, ...],
    of: int,
    code: int,
    found: Reach,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(reach_program, "REASONS", reasons_of(tmp_path, *known))
    assert report(Reach(of, found.missing, ())) == code
    said = capsys.readouterr().out
    assert f"{of - 2} of {of} branches are taken" in said
    assert ("core/answer.py:4: for each in range(3):  ->  exit" in said) == (END not in known)


def test_what_a_run_takes_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = World("one-message-in", 1)
    monkeypatch.setattr("bench.reach.worlds.worlds", lambda seeds: [small] * seeds)
    visit(tmp_path, 1, 2, 2)
    assert [each.name for each in tmp_path.iterdir()] == [f"{DATA}.1"]
    found = reach_of(tmp_path, ROOT)
    assert found.branches > 1000
    assert 2 < found.percent < 80
    assert any(branch.path.startswith("nodes/store/") for branch in found.missing)


def test_every_scenario_is_visited_and_those_that_draw_again() -> None:
    one, three = list(worlds(1)), list(worlds(3))
    assert {each.scenario for each in one} > {"calm", "anything-goes"}
    assert len(three) > len(one)
    assert sum(each.scenario == "calm" for each in three) == 1
    assert sum(each.scenario == "anything-goes" for each in three) == 4


def test_what_is_no_number_of_seeds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["reach", "many"])
    with pytest.raises(ScenarioError, match="is no number of seeds"):
        main()


def test_the_sentences_are_sentences() -> None:
    read_reasons(REASONS)
