"""The trade's words win over coined ones: in pages always, in the sources' prose more and more."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from tests.docs.pages import FENCED, ROOT, pages, read, rows, sections

GLOSSARY = "docs/glossary.md"
RULE = "Words that we do not use"
UNWANTED: Mapping[str, str] = {
    "foretell, foretold": r"\bforet(?:ell|ells|old|elling)\b",
    "tell, told (somebody of something)": r"\b(?:tell|tells|told|telling|tellings)\b",
    "errand": r"\berrands?\b",
    "talk, talks": r"\btalks?\b",
    "the night": r"\bthe night\b",
    "place in the protocol": r"\bplaces? in the protocol\b",
    "what lies about": r"\blies? about\b",
}
# of the rule's words those that have another, good meaning as well: only a person knows
BY_EYE = {"hands, eyes", "asked (of a claim)", "brought", "hold, stay (of Safety Net)"}
# how often docstrings and messages of a package still say it; may only shrink
STILL_SAID: Mapping[tuple[str, str], int] = {
    ("lab", "tell, told (somebody of something)"): 2,
    ("nodes", "tell, told (somebody of something)"): 2,
    ("spark_eval", "tell, told (somebody of something)"): 16,
}
CODE_OR_QUOTE = re.compile(r"`[^`]*`")


def test_every_word_of_the_rule_is_looked_for() -> None:
    rule = {cells[0] for cells in rows(sections(GLOSSARY)[RULE])}
    assert rule == {*UNWANTED, *BY_EYE}


@pytest.mark.parametrize("page", pages())
def test_a_page_says_none_of_them(page: str) -> None:
    prose = CODE_OR_QUOTE.sub("", FENCED.sub("", read(page).split(f"## {RULE}")[0]))
    found = [each for words in UNWANTED.values() for each in re.findall(words, prose, re.I)]
    assert found == [], f"{page} says {found}; {GLOSSARY} has better words"


@pytest.mark.parametrize("package", ["bench", "defects", "lab", "nodes", "spark_eval"])
def test_docstrings_and_messages_say_no_more_of_them_than_they_did(package: str) -> None:
    places = [
        (word, f"{path}:{line}")
        for path, line, prose in prose_of(package)
        for word, words in UNWANTED.items()
        for _ in re.findall(words, prose, re.I)
    ]
    said = Counter(word for word, _ in places)
    allowed = {word: count for (where, word), count in STILL_SAID.items() if where == package}
    more = {word: count for word, count in said.items() if count > allowed.get(word, 0)}
    where = "\n".join(place for word, place in places if word in more)
    assert more == {}, f"{package} may say {allowed}; {GLOSSARY} has better words\n{where}"
    gone = {word for word in allowed if not said[word]}
    assert gone == set(), f"{package} says this no more: take it out of the list"


def prose_of(package: str) -> Iterator[tuple[str, int, str]]:
    """File, line and text of docstrings and messages: each text with a space in it, without what is
    quoted as code.
    """
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                file = path.relative_to(ROOT).as_posix()
                yield file, node.lineno, CODE_OR_QUOTE.sub("", node.value)
