"""The files that every run folder has from its first moment: the plan, the scenario, who it is."""

from dataclasses import dataclass

from lab.plan.plan import Plan
from lab.record.file_list import FILE_LIST
from lab.record.folder import RunFolder


@dataclass(frozen=True, slots=True)
class Identity:
    """`run` is the run's name in every table, `host` where it runs, `scenario` as authored."""

    run: str
    host: str
    scenario: str | None


def open_record(folder: RunFolder, plan: Plan, identity: Identity) -> None:
    """Write plan.json, scenario.yaml and manifest.json, which says that a list of files follows."""
    folder.write_text("plan.json", plan.to_json())
    if identity.scenario is not None:
        folder.write_text("scenario.yaml", identity.scenario)
    folder.write_json("manifest.json", manifest_of_folder(plan, identity))


def manifest_of_folder(plan: Plan, identity: Identity) -> dict[str, object]:
    """What manifest.json of a run folder says."""
    return manifest(plan, identity) | {"file_list": FILE_LIST}


def manifest(plan: Plan, identity: Identity) -> dict[str, object]:
    """Who a run is, wherever its record lies."""
    return {
        "version": 1,
        "run": identity.run,
        "scenario": plan.scenario,
        "seed": plan.seed,
        "host": identity.host,
        "speed": plan.clock.speed,
        "origin": plan.clock.origin,
    }
