"""The page of a sweep: its verdict.json and nothing else in, one self-contained page out.

Tables only, so it needs no script; the shade of a cell of coverage grows with its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_eval.report.render import templates
from spark_eval.sweep.combinations import never_at_all


def render(content: Mapping[str, Any]) -> str:
    """`content` is that of the sweep's verdict.json."""
    coverage = content["coverage"]
    return (
        templates()
        .get_template("sweep.html.j2")
        .render(
            verdict=content,
            never=list(never_at_all(content["combinations"])),
            kinds=sorted({kind for kinds in coverage.values() for kind in kinds}),
            most=max((n for kinds in coverage.values() for n in kinds.values()), default=1),
        )
    )
