"""verdict.json and rows in, one self-contained HTML page out.

The page opens offline and needs no script: drawings are SVG, every figure is in a table too. Its
one small script finds messages by their id.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2

from spark_eval.judging.catalogue import catalogue, in_order
from spark_eval.read.folder.given_json import read_json
from spark_eval.read.rows import grouped
from spark_eval.report.delay_chart import delays
from spark_eval.report.drawing import Drawing
from spark_eval.report.exposure_chart import exposure
from spark_eval.report.links import Links, file_href, links_of
from spark_eval.report.message_index import message_index
from spark_eval.report.promotion_chart import promotions
from spark_eval.report.record_lines import Line, journal_lines, lines_shown
from spark_eval.report.rows import MOST_MESSAGES, ReportRows, Rows
from spark_eval.report.timeline_chart import timeline
from spark_eval.story import words
from spark_eval.story.row import inner, number, objects, said, text, texts, whole
from spark_eval.story.story import named_in

# servers that have a lane: those of the organisation
OWN = ("mailbox", "active_manager")
# what a run says of a requirement; of the others it says nothing
ANSWERED = ("violated", "unknown", "proven")
# of all stories together
MOST_STORY_LINES = 1000
TEMPLATES = Path(__file__).with_name("templates")
# what a page meets in a file that is not as it was left
MISSHAPEN = (
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, jinja2.TemplateError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """What the page shows of the run besides the judgement: plan.json and host.json as read, the
    lines that counter-examples name, and where faults and operations are in their journals.
    """

    plan: Mapping[str, Any]
    host: Mapping[str, Any]
    has_scenario: bool
    lines: Mapping[Line, str] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)

    @property
    def end_ms(self) -> int:
        return whole(self.plan, "duration_ms") or 1

    @property
    def servers(self) -> list[str]:
        return [said(server, "name").lower() for server in self._servers]

    @property
    def lanes(self) -> list[str]:
        own = (server for server in self._servers if text(server, "role") in OWN)
        return [said(server, "name").lower() for server in own]

    @property
    def _servers(self) -> list[Mapping[str, Any]]:
        return objects(inner(self.plan, "topology"), "servers")


def read_facts(folder: Path, verdict: Mapping[str, Any]) -> Facts:
    """Files that are missing or damaged leave their part of the page empty."""
    named = [
        (ref["file"], ref["line"])
        for claim in verdict["claims"]
        for example in claim["examples"]
        for ref in example["refs"]
        if ref["line"]
    ]
    return Facts(
        plan=_object(folder / "plan.json"),
        host=_object(folder / "host.json"),
        has_scenario=(folder / "scenario.yaml").is_file(),
        lines=lines_shown(folder, named),
        faults=journal_lines(folder, "faults.jsonl", "fault"),
        operations=journal_lines(folder, "operations.jsonl", "operation"),
    )


def length_ms(folder: Path) -> int:
    """Of its lab time, as the plan says."""
    return Facts(plan=_object(folder / "plan.json"), host={}, has_scenario=False).end_ms


def _object(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def render(verdict: Mapping[str, Any], rows: ReportRows, facts: Facts) -> str:
    """`verdict` is the content of verdict.json."""
    asked = _asked(facts.plan)
    requirements = _of_the_run(verdict["requirements"], asked["proves"])
    links = links_of(
        [*requirements],
        [claim["name"] for claim in verdict["claims"]],
        [row["fault"] for row in rows.faults],
        [row["operation"] for row in rows.operations],
        facts.servers,
    )
    stories = _stories(verdict, rows.stories)
    anchors = {name: f"story-{number}" for number, name in enumerate(stories, start=1)}
    return (
        templates(links)
        .get_template("report.html.j2")
        .render(
            verdict=verdict,
            rows=rows,
            stories=stories,
            anchors=anchors,
            most_lines=MOST_STORY_LINES // max(len(stories), 1),
            named={subject: _named(subject) for subject in _subjects(verdict)},
            facts=facts,
            asked=asked,
            requirements=requirements,
            charts=_charts(rows, facts),
            index=message_index(rows.messages, anchors, whole=len(rows.messages) < MOST_MESSAGES),
            script=(TEMPLATES / "report.js").read_text(encoding="utf-8"),
        )
    )


def _of_the_run(requirements: Mapping[str, str], proves: Collection[str]) -> dict[str, str]:
    """What a run answered of them, and those that it was there to prove."""
    return {
        name: status
        for name, status in requirements.items()
        if name in proves or status in ANSWERED
    }


def _subjects(verdict: Mapping[str, Any]) -> list[str]:
    return [each["subject"] for claim in verdict["claims"] for each in claim["examples"]]


def _named(subject: str) -> str:
    """The Message-Id in a counter-example's subject, or nothing."""
    return named_in(subject) or ""


def _stories(verdict: Mapping[str, Any], lines: Rows) -> dict[str, Rows]:
    """The lines of each message that a counter-example is about, in the order of the examples."""
    by_message = grouped(lines, lambda row: str(row["message_id"]))
    named = dict.fromkeys(_named(subject) for subject in _subjects(verdict))
    return {name: by_message[name] for name in named if name in by_message}


class Compiled(jinja2.BytecodeCache):
    """What templates are compiled to, for the next page of this process."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        if bucket.key in self._known:
            bucket.bytecode_from_string(self._known[bucket.key])

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self._known[bucket.key] = bucket.bytecode_to_string()


COMPILED = Compiled()


def templates(links: Links | None = None) -> jinja2.Environment:
    """The pages' templates; `links` are the anchors of the page that is made, none by default."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=COMPILED,
    )
    known = links or Links({})
    environment.filters |= {
        "quoted": shlex.quote,
        "lab_time": words.lab_time,
        "lab_moment": words.lab_moment,
        "span": words.span,
        "clock_off": words.clock_off,
        "fault": words.fault,
        "evidence": words.evidence,
        "file_href": file_href,
        "sentence": catalogue().sentence,
        "in_order": in_order,
        "linked": known.names,
        "named": known.name,
        "line_linked": known.line,
    }
    environment.globals["style"] = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    return environment


def _asked(plan: Mapping[str, Any]) -> dict[str, Any]:
    topology, clock = inner(plan, "topology"), inner(plan, "clock")
    return {
        "summary": text(plan, "summary") or "",
        "proves": texts(plan, "proves"),
        "topology": text(topology, "name") or "",
        "servers": len(objects(topology, "servers")),
        "sites": len(objects(topology, "sites")),
        "messages": len(objects(plan, "messages")),
        "speed": number(clock, "speed"),
        "origin": text(clock, "origin"),
    }


def _charts(rows: ReportRows, facts: Facts) -> dict[str, Drawing]:
    """Lab time is at the same place in all of them."""
    made = {"timeline": timeline(rows, facts.lanes, facts.end_ms)}
    if rows.delays or rows.undelivered:
        made["delays"] = delays(rows, facts.end_ms)
    if rows.exposure:
        made["exposure"] = exposure(rows, facts.end_ms)
    if rows.promotions:
        made["promotions"] = promotions(rows, facts.end_ms)
    widest = max(drawing.label_ch for drawing in made.values())
    return {name: replace(drawing, label_ch=widest) for name, drawing in made.items()}
