"""The glossary has every word that a verdict, a journal or a coverage may say, and the page of
verdicts every claim.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from lab.campaigns.prove import verdict as prove_verdict
from lab.schedule.journal import Phase
from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED
from spark_eval.claims.catalogue import ALL
from spark_eval.judging import verdict
from spark_eval.judging.results import NOT_APPLICABLE
from spark_eval.results.counts import NO_DELIVERY, NO_PROMOTION
from spark_eval.results.coverage import PHASES
from tests.docs.pages import CODE, FENCED, named, read, rows, sections

PAGE = "docs/glossary.md"
# counts that say what they are by the words beside them
PLAIN = {
    "observed",
    "delay_seconds",
    "visible_duplicates",
    "promised_duplicates",
    "single_copies",
    "suppressed_duplicates",
}
SAID: Mapping[str, Collection[str]] = {
    "status of a claim": (HOLDS, VIOLATED, UNKNOWN, NOT_APPLICABLE),
    "status of a requirement": (verdict.PROVEN, verdict.NOT_ASKED, verdict.NOT_CHECKED),
    "status in a proof": (prove_verdict.PROVEN, prove_verdict.BELIEVED),
    "what became of a delivery": NO_DELIVERY.keys() - PLAIN,
    "what became of a promotion": NO_PROMOTION.keys() - PLAIN,
    "phase of a fault": (Phase.INTENDED, Phase.APPLIED, Phase.HEALED),
    "phase of a message's life": PHASES,
}


@pytest.mark.parametrize("kind", SAID)
def test_what_a_report_may_say_is_explained(kind: str) -> None:
    missing = {word for word in SAID[kind] if word.replace("_", " ") not in words()}
    assert missing == set(), f"no line in {PAGE}"


def test_no_word_has_two_lines_in_one_table() -> None:
    tables = read(PAGE).split("\n## ")
    for table in tables:
        terms = [term for cells in rows(table) for term in terms_of(cells[0])]
        assert len(terms) == len(set(terms)), sorted(terms)


def test_every_claim_has_a_line_in_the_page_of_verdicts() -> None:
    table = named(rows(sections("docs/verdict.md")["The claims"]))
    assert set(table) >= {claim.name for claim in ALL}


def words() -> set[str]:
    """The terms of every line, and what its explanation writes as code."""
    table = rows(FENCED.sub("", read(PAGE)))
    terms = {term for cells in table for term in terms_of(cells[0])}
    return terms | {code for cells in table for code in CODE.findall(cells[1])}


def terms_of(cell: str) -> list[str]:
    """`holds, violated` names two."""
    return [term.strip(" `") for term in cell.split(",")]
