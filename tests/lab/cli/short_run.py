"""The folder of a short simulated run, below `runs/` of some folder, before it is judged."""

from pathlib import Path

from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.record.first_files import Identity, manifest
from lab.record.folder import json_text
from lab.run.simulated import SIMULATOR, run_name
from tests.lab.scenario.sample_scenario import SCENARIO, changed, checked

TEXT = changed(changed(SCENARIO, "rate: 10/m", "rate: 1/m"), "settle: 10m", "settle: 1m")


def short_plan(root: Path) -> Plan:
    [found] = checked(root, TEXT).scenarios
    return resolve(found.scenario, found.topology, 7)


def short_run(root: Path) -> Path:
    plan = short_plan(root)
    folder = root / "runs/sound/20260105T080000Z-7"
    folder.mkdir(parents=True)
    simulate(plan).write(folder)
    (folder / "plan.json").write_text(plan.to_json())
    named = manifest(plan, Identity(run_name(plan), SIMULATOR, None))
    (folder / "manifest.json").write_text(json_text(named))
    (folder / "host.json").write_text("{}")
    (folder / "scenario.yaml").write_text(TEXT)
    return folder
