"""One run, and down for whatever a run left.

What the containers need is imported only when a command needs containers.
"""

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.cli.by_hand import end, id_of_standing
from lab.cli.completion import run_names
from lab.cli.options import (
    STATE,
    AllowUnsafe,
    AsJson,
    Name,
    On,
    Seed,
    checked_scenario,
    print_all,
    resolved_plan,
)
from lab.cli.paths import announcement, not_empty, path_of
from lab.cli.summary import outcome, print_line
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.program.java import require_java
from lab.run.history import run_entries
from lab.run.judgement import is_there
from lab.validation.library import RUNS

if TYPE_CHECKING:
    from lab.hosts.containers.down import Removed


def run(
    name: Name,
    seed: Seed = None,
    on: Annotated[
        On | None, typer.Option(help="by default containers where a Docker engine answers")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="leave the lab standing")] = False,
    announce: Annotated[
        Path | None,
        typer.Option(
            help="a file for the run folder's path, as soon as it is there", parser=path_of
        ),
    ] = None,
    allow_unsafe: AllowUnsafe = False,
    json: AsJson = False,
) -> None:
    """Plan, provision, run, heal, collect and evaluate; print the verdict."""
    told = announcement(announce)
    scenario = checked_scenario(name, allow_unsafe=allow_unsafe)
    resolved = resolved_plan(scenario, seed)
    from lab.run.outcome import RunOptions

    options = RunOptions(
        runs=RUNS,
        state=STATE,
        scenario=scenario.text,
        keep=keep,
        announce=told,
        summary_to_stderr=json,
    )
    where, why = (on, "") if on else _host_at_hand(resolved)
    if where is On.containers and resolved.powerless:
        cause = (
            "--on containers: a container that is killed loses nothing, so it knows no power_loss"
        )
        raise ScenarioError(cause, "--on simulator, or write kill: in the scenario")
    if not is_there():
        require_java()
    print(f"seed {resolved.seed}, on {_in_words(where)}{why}", file=sys.stderr, flush=True)
    if where is On.containers:
        from lab.run.live import run as run_plan

        ended = run_plan(resolved, options)
    elif keep:
        raise ScenarioError("--keep: a simulated lab leaves nothing standing", "--on containers")
    else:
        from lab.run.simulated import run_simulated

        ended = run_simulated(resolved, options)
    if json:
        print_line(outcome(ended.folder, ended.exit_code))
    raise typer.Exit(ended.exit_code)


def _host_at_hand(plan: Plan) -> tuple[On, str]:
    """With the reason, where it is not containers."""
    from lab.hosts.containers.engine import answers

    if plan.powerless:
        return On.simulator, ", since only there a server can lose its power"
    return (On.containers, "") if answers() else (On.simulator, ", since no Docker engine answers")


def _in_words(host: On) -> str:
    return "the simulator" if host is On.simulator else host.value


def down(
    run: Annotated[
        str | None,
        typer.Argument(
            help="a run's id or folder, as up and list runs show it, of any checkout; by default "
            "every run of this checkout whose lab is not alive",
            callback=not_empty,
            autocompletion=run_names,
        ),
    ] = None,
    now: Annotated[
        bool, typer.Option("--now", help="a lab that up left standing is not settled and judged")
    ] = False,
) -> None:
    """Remove whatever a run left: containers, networks, volumes, keys, folders and processes.

    A lab that up left standing is healed, settles and is judged: its verdict is the exit code.
    Without a name the labs of other checkouts are left alone; named, one goes with its keys.
    """
    stood_by = id_of_standing(run) if run else None
    if stood_by is not None and not now:
        raise typer.Exit(end(stood_by))
    from lab.hosts.containers import down as take_down
    from lab.hosts.containers.engine import connect

    client = connect()
    if run is None:
        removed = take_down.down(client, None, STATE)
    else:
        recorded = {entry.folder: entry.run for entry in run_entries(RUNS) if entry.run}
        removed = take_down.down_named(client, stood_by or run, STATE, recorded)
    _print_removed(removed)


def _print_removed(removed: "Removed") -> None:
    """Names of what went to stdout; runs that were left alone are named on stderr."""
    from lab.hosts.containers.down import left_alone

    went = [each.name for each in fields(removed) if getattr(removed, each.name)]
    went = [name for name in went if name not in ("kept", "elsewhere")]
    for name in went:
        print(f"{name.replace('_', ' ')}: {', '.join(map(str, getattr(removed, name)))}")
    if not went:
        print("nothing was left")
    print_all(list(left_alone(removed)))
