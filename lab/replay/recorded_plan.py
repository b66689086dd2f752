"""The plan of a record, which somebody else may have written: whatever is wrong has its place."""

from pathlib import Path

from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.program.given_json import read_text

PLAN = "plan.json"


def plan_of(folder: Path) -> Plan:
    """What plan.json of a run folder holds. Raises ScenarioError with the place of what is
    wrong."""
    try:
        return Plan.from_json(read_text(folder / PLAN))
    except ValueError as error:
        hint = "name a run folder; one of another version is replayed with that"
        raise ScenarioError(f"{folder / PLAN}: {error}", hint) from error
