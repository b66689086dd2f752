"""The page of a run as HTML: it opens offline, its links lead somewhere, and it stays small."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.report.render import Facts, render
from spark_eval.results.exposure import NO_EXPOSURE
from tests.spark_eval.runs.evaluated import evaluated
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.report_rows import END_MS, SERVERS, lost, rows, storm
from tests.spark_eval.runs.run_builder import MINUTE, Run

MOST_BYTES = 2_000_000
LAB_TIME = re.compile(r"^(\d+:\d\d:\d\d(\.\d+)?|never|–)$")


class Page(HTMLParser):
    """Elements as (name, attributes), texts of cells, and what each anchor leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.cells: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.elements.append((tag, known))
        if tag == "td":
            self.cells.append((known.get("class", ""), ""))
        self._open.append(tag)

    def handle_data(self, data: str) -> None:
        if "td" in self._open and self.cells:
            kind, text = self.cells[-1]
            self.cells[-1] = (kind, text + data)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def ids(self) -> list[str]:
        return [known["id"] for _, known in self.elements if "id" in known]

    def hrefs(self) -> list[str]:
        return [known["href"] for _, known in self.elements if "href" in known]

    def counted(self, name: str) -> int:
        """How many the drawings' marks of that name stand for."""
        marked = [known for _, known in self.elements if known.get("data-name") == name]
        return sum(int(known["data-count"]) for known in marked)


def _failing() -> Run:
    """A promotion that never came and a delivery that was lost, after two faults."""
    faulty = new_database()
    run = faulty.run
    run.plan["proves"] = ["SM-7"]
    run.cut("par-mbx2", "lyo-mbx2", 9 * MINUTE, 11 * MINUTE, fault="f2")
    for event in ("RESUBMIT", "SEND"):
        run.remove("lyo-mbx1", event, faulty.queued)
    run.queues["lyo-mbx1"] = [
        row for row in run.queues["lyo-mbx1"] if row["message_id"] != faulty.queued.message_id
    ]
    run.mailboxes["DB1"] = [
        row for row in run.mailboxes["DB1"] if row["message_id"] != faulty.queued.message_id
    ]
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return evaluated(_failing().write(tmp_path_factory.mktemp("page"))).folder


@pytest.fixture(scope="module")
def text(folder: RunFolder) -> str:
    return (folder.path / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def verdict(folder: RunFolder) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder.path / "verdict.json").read_text())
    assert content["verdict"] == "fail"
    return content


def test_nothing_on_it_comes_from_elsewhere(text: str, page: Page) -> None:
    assert not re.search(r"\b(https?:)?//[a-z]", text.split("<script>")[0])
    assert not [known for _, known in page.elements if known.get("src")]
    assert not re.search(r"@import|url\(", text)


def test_each_link_leads_to_an_anchor_or_a_file_of_the_run(page: Page, folder: RunFolder) -> None:
    anchors = set(page.ids())
    links = page.hrefs()
    assert [href for href in links if href.startswith("./")]
    for href in links:
        there = href[1:] in anchors if href[0] == "#" else (folder.path / unquote(href)).is_file()
        assert there, href


def test_no_anchor_is_there_twice(page: Page) -> None:
    assert [name for name, count in Counter(page.ids()).items() if count > 1] == []


def test_each_reason_of_the_verdict_is_a_link(text: str, verdict: dict[str, Any]) -> None:
    head = text[text.index('<div class="verdict') : text.index("<h1>")]
    for reason in verdict["reasons"]:
        assert re.search(rf'<li><a href="#[^"]+">{re.escape(reason)}</a>', head), reason


def test_the_drawings_show_all_that_was_lost_or_never_promoted(
    page: Page, verdict: dict[str, Any]
) -> None:
    assert verdict["delivery"]["lost"] == page.counted("lost") == 1
    missing = verdict["promotion"]["missing"]
    # in the timeline and among the promotions
    assert page.counted("missing promotion (drawn when due)") == 2 * missing == 2


def test_the_first_start_of_a_server_is_no_restart(page: Page) -> None:
    assert page.counted("restart") == 1
    assert page.counted("new database") == 1


def test_verdict_reasons_counts_and_drawings_come_before_anything_else(text: str) -> None:
    body = text[text.index("<main>") :]
    order = (
        "FAIL",
        "no_loss is violated",
        ">lost</dt>",
        'id="chart-delays"',
        'id="chart-timeline"',
        'id="claims"',
    )
    assert [body.index(each) for each in order] == sorted(body.index(each) for each in order)


def test_every_line_of_the_record_that_is_named_is_a_link(text: str, page: Page) -> None:
    outside = re.sub(r"<a [^>]*>.*?</a>|<script.*?</script>|<[^>]*>", "", text, flags=re.DOTALL)
    assert not re.findall(r"[\w./-]+\.(?:jsonl|LOG):\d+", outside)
    assert [href for href in page.hrefs() if "ledger.jsonl" in href]


def test_the_line_that_shows_a_counter_example_stands_beside_its_number(
    text: str, folder: RunFolder, verdict: dict[str, Any]
) -> None:
    [example] = next(c for c in verdict["claims"] if c["name"] == "no_loss")["examples"]
    ref = example["refs"][0]
    line = (folder.path / ref["file"]).read_text().splitlines()[ref["line"] - 1]
    assert json.loads(line)["message_id"].strip("<>") in text.split('<code class="line"')[1]


def _listed(text: str) -> set[str]:
    shown = (name for name in Page(text).ids() if name.startswith("requirement-"))
    return {name.removeprefix("requirement-") for name in shown}


def test_each_requirement_that_the_run_answered_is_listed_with_its_sentence(
    text: str, verdict: dict[str, Any]
) -> None:
    told = verdict["requirements"].items()
    answered = {name for name, status in told if status in ("proven", "violated", "unknown")}
    assert _listed(text) == {*answered, "SM-7"}  # which it was there to prove
    assert "<dd>When the primary server returns with another database" in text
    assert "that no claim checks yet" not in text


def test_what_a_run_was_there_to_prove_is_listed_whatever_became_of_it() -> None:
    told = {"SM-7": "not asked", "SM-6": "not checked", "SR-1": "not asked", "SR-2": "not checked"}
    facts = _facts()
    facts = replace(facts, plan={**facts.plan, "proves": ["SM-7", "SM-6"]})
    reasons = [f"SM-7 is to be proven and is not asked, nor is {name}" for name in ("SR-1", "SR-2")]
    text = render(_verdict() | {"requirements": told, "reasons": reasons}, rows(), facts)
    assert _listed(text) == {"SM-7", "SM-6"}
    assert {href[1:] for href in Page(text).hrefs() if href[0] == "#"} <= set(Page(text).ids())


def test_times_in_tables_are_hours_minutes_and_seconds_on_one_line(page: Page, text: str) -> None:
    times = [cell.strip() for kind, cell in page.cells if "when" in kind and "jsonl" not in cell]
    assert len(times) > 10
    assert [cell for cell in times if not LAB_TIME.match(cell)] == []
    assert re.search(r"\.when, \.who \{[^}]*white-space: nowrap", text)


def test_servers_and_times_of_a_story_do_not_wrap(text: str) -> None:
    story = text[text.index('<details class="story"') :]
    row = story[story.index("<tr>") : story.index("</tr>")]
    assert re.search(r'class="mono when">[\d:.]+<.*class="who">', row, re.DOTALL)


def test_a_wide_table_scrolls_in_a_box_that_the_keyboard_reaches(page: Page) -> None:
    boxes = [known for _, known in page.elements if "scroll" in known.get("class", "").split()]
    assert boxes
    assert all(known.get("tabindex") == "0" for known in boxes)


def test_a_message_is_found_by_its_id(text: str, folder: RunFolder) -> None:
    carried = re.search(r'id="messages">(.*?)</script>', text, re.DOTALL)
    assert carried
    index = json.loads(carried[1])
    names = {entry[0] + index["tails"][entry[1]] for entry in index["messages"]}
    ledger = (folder.path / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    sent = [row for row in map(json.loads, ledger) if row["type"] == "message"]
    assert names == {row["message_id"] for row in sent}
    assert set(index["stories"].values()) <= set(Page(text).ids())


def _verdict() -> dict[str, Any]:
    return {
        "verdict": "fail", "foretold": "pass", "scenario": "storm", "seed": 7, "run": "storm-7",
        "not_as_foretold": [],
        "host": "containers", "claims": [], "requirements": {}, "reasons": [], "log_damage": [],
        "clocks_off": [], "safety_net": {}, "exposure": NO_EXPOSURE,
        "delivery": dict.fromkeys(
            ("expected", "delivered", "lost", "excused", "visible_duplicates",
             "promised_duplicates", "single_copies",
             "suppressed_duplicates", "rejected", "in_doubt"), 0,
        ),
        "promotion": dict.fromkeys(
            ("expected", "observed", "missing", "spurious", "early", "late"), 0
        ),
    }  # fmt: skip


def _facts() -> Facts:
    servers = [{"name": name, "role": "mailbox"} for name in SERVERS]
    plan = {"duration_ms": END_MS, "topology": {"servers": servers}}
    return Facts(plan=plan, host={}, has_scenario=False)


def test_as_much_as_a_page_may_hold_stays_small() -> None:
    text = render(_verdict() | {"claims": [_violated(lost(0)["message_id"])]}, storm(), _facts())
    assert "its story, the first 1000 of 4000 lines" in text
    assert len(text.encode()) < MOST_BYTES


def test_a_run_without_anything_has_a_page() -> None:
    assert "Nothing was delivered." in render(_verdict(), rows(), _facts())


def _violated(subject: str) -> dict[str, Any]:
    example = {"which": "first", "subject": subject, "at_ms": 0, "detail": "lost", "refs": []}
    return {
        "name": "no_loss", "status": "violated", "requirements": [], "asked": 1, "violations": 1,
        "unknown": 0, "reason": "", "examples": [example],
    }  # fmt: skip


def test_a_status_that_the_page_does_not_know_is_shown_as_it_is() -> None:
    claim = {
        "name": "a_new_claim", "status": "half true", "requirements": ["SM-7"], "asked": 0,
        "violations": 0, "unknown": 0, "reason": "", "examples": [],
    }  # fmt: skip
    assert "half true" in render(_verdict() | {"claims": [claim]}, rows(), _facts())


def _ratio(one: str, other: str) -> float:
    """Of contrast, as WCAG 2 counts it."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_marks_stand_out_from_the_page_in_both_themes(theme: int) -> None:
    style = Path("spark_eval/report/templates/report.css")
    text = (Path(__file__).resolve().parents[3] / style).read_text(encoding="utf-8")
    colours = dict(re.findall(r"--(\w+): (#\w{6})", text.split(":root {")[theme + 1].split("}")[0]))
    for name in ("ink", "quiet", "accent", "second", "alarm", "good", "late"):
        for behind in ("page", "panel"):
            assert _ratio(colours[name], colours[behind]) >= 4.5, (name, behind)
