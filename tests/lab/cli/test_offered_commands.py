"""What is offered for a shell is what is meant, whatever a file or a sender is called."""

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.campaigns.sweep.sweep import replay_command
from spark_eval.report.render import TEMPLATES

ROOT = Path(__file__).resolve().parents[3]
SAFE = {  # a run's id is one plain word (RUN_ID), the others are numbers and names of ours
    *("run", "ground.run_id", "seed", "found.seed", "search.plan.seed", "done.code", "ROWS"),
    *("self._log(attempt)", "metadata.version('shadowlab')"),
}
HOSTILE = ["a b", "<a b'$(x)@y>", "it's", "$HOME", "a;b", "`x`", '"', "*"]


def offered(tree: ast.AST) -> Iterator[str]:
    """What stands unquoted in a text after the name of our program."""
    for text in ast.walk(tree):
        begun = False
        for part in text.values if isinstance(text, ast.JoinedStr) else []:
            if isinstance(part, ast.Constant):
                begun = begun or "shadowlab " in str(part.value)
            elif begun and isinstance(part, ast.FormattedValue):
                said = ast.unparse(part.value)
                if not said.startswith(("shlex.quote(", "shlex.join(")):
                    yield said


def test_every_command_in_a_text_quotes_what_it_is_given() -> None:
    found = {
        (str(path.relative_to(ROOT)), said)
        for room in ("lab", "spark_eval")
        for path in (ROOT / room).rglob("*.py")
        for said in offered(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {each for each in found if each[1] not in SAFE} == set()


@pytest.mark.parametrize("word", HOSTILE)
def test_a_scenario_is_one_word_of_the_command_that_runs_it_again(word: str) -> None:
    assert shlex.split(replay_command(word, "7"))[2] == word


def test_the_report_and_its_search_box_quote_what_they_show() -> None:
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    assert """return "'" + word.replaceAll("'", "'\\\\''") + "'";""" in script
    assert 'run() + " " + quoted(name)' in script
    assert 'return quoted(parts.join("/"))' in script
    for word in HOSTILE:  # as the script does it
        assert shlex.split("'" + word.replace("'", "'\\''") + "'") == [word]
    page = (TEMPLATES / "report.html.j2").read_text(encoding="utf-8")
    [command] = [line for line in page.splitlines() if "shadowlab run {{" in line]
    assert command.count("{{") == command.count("| quoted")
