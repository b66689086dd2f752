"""Many runs of one scenario: sweep, and shrink for what failed in one."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.arguments import Name, Run, checked_scenario
from lab.scenario_files import RUNS, find_run


def sweep(
    name: Name,
    seeds: Annotated[int, typer.Option(min=1, help="how many")] = 1000,
    first: Annotated[int, typer.Option(min=0, help="the first seed")] = 0,
    per_batch: Annotated[int, typer.Option(min=1, help="how many are judged together")] = 250,
    master: Annotated[str, typer.Option(help="Spark master")] = "local[*]",
    keep_records: Annotated[bool, typer.Option("--keep-records", help="for a look later")] = False,
) -> None:
    """Simulate a scenario under many seeds, spread by Spark, and judge them all."""
    from lab.sweep import Seeds, Sweep, sweep_folder

    scenario = checked_scenario(name)
    wanted = Seeds(first, seeds, min(per_batch, seeds))
    folder = sweep_folder(RUNS, scenario, wanted)
    raise typer.Exit(Sweep(scenario, wanted, folder, master, keep_records=keep_records).run())


def shrink(
    run: Run = str(RUNS / "latest"),
    out: Annotated[Path | None, typer.Option(help="the file to write", show_default=False)] = None,
    master: Annotated[str, typer.Option(help="Spark master")] = "local[*]",
) -> None:
    """Find the smallest scenario that still fails as a simulated run does, and write it."""
    from lab.shrink import shrink_run

    folder = find_run(run)
    name = f"{folder.resolve().parent.name}-smaller"
    target = out or RUNS / "shrunk" / f"{name}.yaml"
    found = shrink_run(folder, target, master)
    print(f"shadowlab run {target} --on simulator --seed {found.seed}")
