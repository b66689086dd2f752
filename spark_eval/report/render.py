"""verdict.json and rows in, one self-contained HTML page out.

The page opens offline: style, script and the charts' library are written into it, once. Without a
script all figures are still there as tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from spark_eval.report import charts, words
from spark_eval.report.rows import ReportRows, Rows
from spark_eval.story.story import named_in

# servers that have a lane: those of the organisation
OWN = ("mailbox", "active_manager")
TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the page tells of the run besides the judgement: plan.json and host.json as read."""

    plan: Mapping[str, Any]
    host: Mapping[str, Any]
    has_scenario: bool

    @property
    def end_ms(self) -> int:
        return int(self.plan.get("duration_ms") or 1)

    @property
    def lanes(self) -> list[str]:
        servers = self.plan.get("topology", {}).get("servers", [])
        return [str(server["name"]).lower() for server in servers if server["role"] in OWN]


def read_facts(folder: Path) -> Facts:
    """Files that are missing or damaged leave their part of the page empty."""
    return Facts(
        plan=_object(folder / "plan.json"),
        host=_object(folder / "host.json"),
        has_scenario=(folder / "scenario.yaml").is_file(),
    )


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def render(verdict: Mapping[str, Any], rows: ReportRows, facts: Facts) -> str:
    """`verdict` is the content of verdict.json."""
    template = templates().get_template("report.html.j2")
    return template.render(
        verdict=verdict,
        rows=rows,
        stories=_stories(verdict, rows.stories),
        facts=facts,
        asked=_asked(facts.plan),
        figures=_figures(rows, facts),
        plotly=_plotly(),
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        script=(TEMPLATES / "report.js").read_text(encoding="utf-8"),
    )


def _stories(verdict: Mapping[str, Any], told: Rows) -> dict[str, Rows]:
    """The lines of each message that a counter-example is about, by the example's subject."""
    by_message: dict[str, Rows] = {}
    for row in told:
        by_message.setdefault(row["message_id"], []).append(row)
    subjects = [each["subject"] for claim in verdict["claims"] for each in claim["examples"]]
    named = {subject: named_in(subject) for subject in subjects}
    return {
        subject: by_message[message_id]
        for subject, message_id in named.items()
        if message_id is not None and message_id in by_message
    }


def templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["lab_time"] = words.lab_time
    environment.filters["lab_moment"] = words.lab_moment
    environment.filters["span"] = words.span
    environment.filters["clock_off"] = words.clock_off
    environment.filters["fault"] = words.fault
    environment.filters["evidence"] = words.evidence
    return environment


def _asked(plan: Mapping[str, Any]) -> dict[str, Any]:
    topology = plan.get("topology", {})
    return {
        "summary": plan.get("summary", ""),
        "proves": plan.get("proves", []),
        "topology": topology.get("name", ""),
        "servers": len(topology.get("servers", [])),
        "sites": len(topology.get("sites", [])),
        "messages": len(plan.get("messages", [])),
        "speed": plan.get("clock", {}).get("speed"),
        "origin": plan.get("clock", {}).get("origin"),
    }


def _figures(rows: ReportRows, facts: Facts) -> str:
    """JSON for a script element: `<` is escaped, so nothing in it can end the element."""
    figures = {"timeline": charts.timeline(rows, facts.lanes, facts.end_ms)}
    if rows.delays:
        figures["delays"] = charts.delays(rows, facts.end_ms)
    if rows.promotions:
        figures["promotions"] = charts.promotions(rows)
    return json.dumps(figures, separators=(",", ":")).replace("<", "\\u003c")


def _plotly() -> str:
    library = resources.files("plotly") / "package_data" / "plotly.min.js"
    return library.read_text(encoding="utf-8").replace("</script", "<\\/script")
