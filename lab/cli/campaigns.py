"""Many runs: suite, repeat, sweep, and shrink for what failed in one."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.suite.folder import folder_for, require_usable
from lab.campaigns.suite.plan import NIGHTLY, Ask, chosen
from lab.campaigns.sweep.toward import Toward
from lab.cli.completion import scenario_names
from lab.cli.options import (
    Name,
    On,
    PerBatch,
    Run,
    Seed,
    checked_scenario,
    parsed_duration,
    require_seeds,
    resolved_plan,
)
from lab.cli.paths import new_folder, not_empty, path_of, smaller_scenario
from lab.cli.summary import print_line
from lab.program.errors import ScenarioError
from lab.program.java import require_java
from lab.program.progress import waiting
from lab.scenario.quantities import SEED_MAX
from lab.validation.library import RUNS, find_run
from lab.validation.validate import CheckedScenario


def suite(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="scenarios; by default all of the tag",
            callback=not_empty,
            autocompletion=scenario_names,
        ),
    ] = None,
    tag: Annotated[str, typer.Option(help="which scenarios", callback=not_empty)] = NIGHTLY,
    on: Annotated[On | None, typer.Option(help="by default both hosts, compared")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="by default runs/suites/<date>", show_default=False, parser=path_of),
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(help="how long a run may take, 45m; by default beyond its own")
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="for a program: stdout is one line of JSON with folder and code; suite.json in "
            "the folder has the rest",
        ),
    ] = False,
) -> None:
    """Run many scenarios one after the other; the same call goes on where it was interrupted."""
    from lab.campaigns.suite.suite import Means, Suite
    from lab.hosts.containers.engine import answers

    bound = None if at_most is None else parsed_duration("--at-most", at_most) / 1000
    ask = Ask(tuple(names or ()), tag, None if on is None else on.value)
    chosen(ask)
    named = None if folder is None else new_folder("--folder", folder)
    if named is not None:
        require_usable(named, ask)
    require_java()
    where = folder_for(ask, RUNS, named, datetime.now(UTC))
    means = Means(engine_answers=answers, at_most_seconds=bound, page_to_stderr=json, judges=True)
    code = Suite(ask, where, means).run()
    if json:
        print_line({"folder": str(where), "code": code, "suite": str(where / "suite.json")})
    raise typer.Exit(code)


def repeat(
    name: Name,
    times: Annotated[int, typer.Argument(min=1, max=1000, metavar="N", help="how often")],
    on: Annotated[On | None, typer.Option(help="as with run")] = None,
    seed: Seed = None,
    vary: Annotated[bool, typer.Option("--vary", help="each run with the next seed")] = False,
) -> None:
    """Run a scenario N times and print how stable it is."""
    from lab.campaigns.repeat import Repetition, stability

    scenario = checked_scenario(name)
    first = resolved_plan(scenario, seed).seed
    require_java()
    require_seeds("--vary", first, times if vary else 1)
    seeds = [first + number if vary else first for number in range(times)]
    host = None if on is None else on.value
    done, code = Repetition(str(scenario.path), seeds, host, judges=True).run()
    print(*stability(done), sep="\n")
    raise typer.Exit(code)


def sweep(
    name: Annotated[
        str | None,
        typer.Argument(
            help="a scenario's name or path",
            show_default=False,
            callback=not_empty,
            autocompletion=scenario_names,
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option(help="every scenario of it instead", show_default=False, callback=not_empty),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=SEED_MAX, help="how many")] = 1000,
    first: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="the first seed")] = 0,
    per_batch: PerBatch = 250,
    master: Annotated[str, typer.Option(help="Spark master")] = "local[*]",
    keep_records: Annotated[bool, typer.Option("--keep-records", help="for a look later")] = False,
    toward: Annotated[
        Toward | None,
        typer.Option(
            help="choose the seeds whose plans promise what was met least", show_default=False
        ),
    ] = None,
) -> None:
    """Simulate a scenario under many seeds, spread by Spark, and judge them all."""
    from lab.campaigns.sweep.sweep import Seeds, Sweep, sweep_all, sweep_folder
    from lab.campaigns.sweep.toward_coverage import CANDIDATES

    wanted = Seeds(first, seeds, min(per_batch, seeds))
    require_seeds("--seeds", first, seeds if toward is None else seeds * CANDIDATES)
    sweeps = []
    scenarios = _swept(name, tag)
    require_java()
    for scenario in scenarios:
        folder = sweep_folder(RUNS, scenario, wanted, toward)
        made = Sweep(scenario, wanted, folder, master, keep_records=keep_records, toward=toward)
        sweeps.append(made)
    raise typer.Exit(sweep_all(sweeps))


def _swept(name: str | None, tag: str | None) -> Sequence[CheckedScenario]:
    if (name is None) == (tag is None):
        raise ScenarioError("a sweep is of one scenario, or of all of a tag", "give NAME or --tag")
    return chosen(Ask(tag=tag)) if tag is not None else [checked_scenario(str(name))]


def exhaust(
    name: Name,
    pairs: Annotated[Pairs, typer.Option(help="of faults, beside every single one")] = Pairs.none,
    only: Annotated[
        str | None, typer.Option(help="these faults alone, kill@17: a run folder and its report")
    ] = None,
    seed: Seed = None,
    per_batch: PerBatch = 1000,
    master: Annotated[str, typer.Option(help="Spark master")] = "local[*]",
) -> None:
    """Simulate a small scenario with one thing going wrong at every event of it, and judge all."""
    from lab.campaigns.exhaust.exhaust import Exhaust, exhaust_folder, run_only
    from lab.campaigns.exhaust.search import Search
    from lab.run.outcome import RunOptions

    search = Search(resolved_plan(checked_scenario(name), seed), pairs)
    strikes = None if only is None else search.named(only)
    require_java()
    if strikes is not None:
        raise typer.Exit(run_only(search, strikes, RunOptions(runs=RUNS)))
    folder = exhaust_folder(RUNS, search, per_batch)
    command = f"shadowlab exhaust {shlex.quote(name)} --seed {search.plan.seed} --only "
    done = Exhaust(search, folder, master, per_batch, lambda run: command + shlex.quote(run))
    with waiting("exhausting"):
        code = done.run()
    raise typer.Exit(code)


def shrink(
    run: Run = str(RUNS / "latest"),
    out: Annotated[
        Path | None,
        typer.Option(help="the file to write, NAME.yaml", show_default=False, parser=path_of),
    ] = None,
) -> None:
    """Find the smallest scenario that still fails as a simulated run does, and write it."""
    from lab.campaigns.shrink.shrink import SHRUNK, shrink_run
    from lab.replay.run import read_simulated

    folder = find_run(run)
    plan = read_simulated(folder)
    target = smaller_scenario(out or RUNS / "shrunk" / f"{plan.scenario}-smaller.yaml", SHRUNK)
    with waiting("shrinking"):
        found = shrink_run(folder, target)
    print(f"shadowlab run {shlex.quote(str(target))} --on simulator --seed {found.seed}")
