"""`shadowlab`: what a person or a script asks of the lab.

Every command turns its words into one call and the outcome into an exit code: 0 pass, 1 fail,
2 unknown, 3 the lab could not do its work, 4 the scenario or the call is wrong. What fails is
said in one line with a hint below it on stderr; there is no traceback for anything expected.
What the containers need is imported only when a command needs containers.
"""

import os
import subprocess
import sys
from bdb import BdbQuit
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from typer.exceptions import TyperException
from typer.main import get_command

from lab.errors import (
    CALL_WRONG,
    FAIL,
    GROUND_FAILED,
    PASS,
    GroundError,
    LabError,
    ScenarioError,
    print_error,
)
from lab.plan import Plan, default_seed, resolve
from lab.plan_view import show
from lab.scenario_files import RUNS, find_run, find_scenario, load_scenario
from lab.schema import schema_text
from lab.validate import CheckedScenario, check, scenarios_folder
from lab.written_scenario import with_plain_faults

app = typer.Typer(
    help="A chaos-testing lab for mail transport.",
    add_completion=False,
    rich_markup_mode=None,
)

EVALUATION_CODES = (0, 1, 2, 3, 4)
INTERRUPTED = 130
STATE = Path(".shadowlab")

Name = Annotated[str, typer.Argument(help="a scenario's name or path", show_default=False)]
Seed = Annotated[int | None, typer.Option(min=0, max=2**53 - 1, help="by default the scenario's")]
Run = Annotated[str, typer.Argument(help="a run folder, or a scenario for its latest run")]


class Kind(StrEnum):
    """Which files a schema is for."""

    scenario = "scenario"
    topology = "topology"


class On(StrEnum):
    """Where a plan is run."""

    containers = "containers"
    simulator = "simulator"


@app.command()
def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="names, paths or folders; by default every scenario"),
    ] = None,
) -> None:
    """Report every mistake of scenario and topology files, each with its place."""
    paths = [_path(name) for name in names or [str(scenarios_folder())]]
    checked = check(paths)
    _print_all([str(found) for found in (*checked.warnings, *checked.mistakes)])
    if checked.mistakes:
        files = len({mistake.file for mistake in checked.mistakes})
        mistakes = _counted(len(checked.mistakes), "mistake")
        print(f"{mistakes} in {_counted(files, 'file')}", file=sys.stderr)
        raise typer.Exit(CALL_WRONG)
    print(f"{_counted(len(checked.scenarios), 'scenario')}, no mistakes")


@app.command()
def schema(
    kind: Annotated[Kind, typer.Argument(help="which files")] = Kind.scenario,
) -> None:
    """Print the JSON Schema that editors complete from."""
    print(schema_text(kind.value), end="")


@app.command()
def plan(
    name: Name,
    seed: Seed = None,
    json: Annotated[bool, typer.Option("--json", help="print plan.json")] = False,
    as_scenario: Annotated[
        bool,
        typer.Option("--as-scenario", help="print the scenario, what is drawn written out"),
    ] = False,
) -> None:
    """Print the resolved timeline, link by link, and how long it will take. Touches nothing."""
    scenario = _scenario(name)
    resolved = _plan(scenario, seed)
    if json:
        print(resolved.to_json(), end="")
        return
    if as_scenario:
        authored = scenario.text, scenario.scenario, scenario.topology
        print(with_plain_faults(*authored, resolved.seed), end="")
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 100
    show(resolved, console)


@app.command()
def run(
    name: Name,
    seed: Seed = None,
    on: Annotated[
        On | None, typer.Option(help="by default containers where a Docker engine answers")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="leave the lab standing")] = False,
) -> None:
    """Plan, provision, run, heal, collect and evaluate; print the verdict."""
    scenario = _scenario(name)
    resolved = _plan(scenario, seed)
    from lab.run_outcome import RunOptions

    options = RunOptions(runs=RUNS, state=STATE, scenario=scenario.text, keep=keep)
    if (on or _host_at_hand()) is On.containers:
        from lab.run import run as run_plan

        outcome = run_plan(resolved, options)
    elif keep:
        raise ScenarioError("--keep: a simulated lab leaves nothing standing", "--on containers")
    else:
        from lab.simulated_run import run_simulated

        outcome = run_simulated(resolved, options)
    raise typer.Exit(outcome.exit_code)


def _host_at_hand() -> On:
    from lab.hosts.containers.engine import answers

    if answers():
        return On.containers
    print("no Docker engine answers: this run is simulated", file=sys.stderr)
    return On.simulator


@app.command()
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

    scenario = _scenario(name)
    wanted = Seeds(first, seeds, min(per_batch, seeds))
    folder = sweep_folder(RUNS, scenario, wanted)
    raise typer.Exit(Sweep(scenario, wanted, folder, master, keep_records=keep_records).run())


@app.command()
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


@app.command()
def evaluate(run: Run = str(RUNS / "latest")) -> None:
    """Judge a run folder again, and print its verdict."""
    raise typer.Exit(_evaluation(find_run(run)))


@app.command()
def report(run: Run = str(RUNS / "latest")) -> None:
    """Write the report of a run folder again, from what its evaluation found."""
    raise typer.Exit(_evaluation(find_run(run), "--report-only"))


@app.command()
def compare(
    run: Annotated[str, typer.Argument(help="a run folder, or a scenario for its latest run")],
    other: Annotated[str, typer.Argument(help="a run of the same plan, on another host or not")],
    out: Annotated[
        Path | None, typer.Option("--out", help="by default evaluation/compare of the second run")
    ] = None,
) -> None:
    """Tell whether two runs of one plan agree, but for what timing leaves open."""
    options = () if out is None else ("--out", str(out))
    folders = [str(find_run(name)) for name in (run, other)]
    raise typer.Exit(_program("spark_eval.compare", *folders, *options))


@app.command()
def replay(
    run: Run = str(RUNS / "latest"),
    node: Annotated[
        str | None, typer.Option("--node", help="one server: its inputs through the core again")
    ] = None,
    until: Annotated[
        int | None, typer.Option("--until", min=1, help="the last line of its inputs to replay")
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="drop into pdb before the input of --until")
    ] = False,
    record_only: Annotated[
        bool, typer.Option("--record-only", help="do not judge the replay and compare reports")
    ] = False,
) -> None:
    """Simulate a simulated run again, or drive one recorded node through what it heard; compare."""
    if node is None:
        raise typer.Exit(_replayed(find_run(run), judged=not record_only))
    if debug and until is None:
        raise ScenarioError("--debug wants --until LINE", "a line of the node's inputs.jsonl")
    raise typer.Exit(_replayed_node(find_run(run), node, until, debug))


@app.command()
def down(
    run: Annotated[str | None, typer.Argument(help="a run's id; by default every run's")] = None,
) -> None:
    """Remove whatever a run left: containers, networks, volumes, folders and processes."""
    from lab.hosts.containers.down import down as remove
    from lab.hosts.containers.engine import connect

    removed = remove(connect(), run, STATE)
    told = [(item.name, getattr(removed, item.name)) for item in fields(removed)]
    for kind, names in told:
        if names:
            print(f"{kind.replace('_', ' ')}: {', '.join(str(name) for name in names)}")
    if not any(names for _, names in told):
        print("nothing was left")


def main(arguments: list[str] | None = None) -> int:
    """The entry point: the exit code, with every expected failure said in two lines."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        result = get_command(app).main(
            words or ["--help"], prog_name="shadowlab", standalone_mode=False
        )
        sys.stdout.flush()
        if not words:
            return CALL_WRONG
        return result if isinstance(result, int) else PASS
    except LabError as error:
        return print_error(error)
    except TyperException as error:
        return _usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # whoever read stdout has gone (typer then exits by itself, with the 1 that means "fail"
        # here), and must not be written to again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GROUND_FAILED


def _usage(error: TyperException) -> int:
    said = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "shadowlab"
    return print_error(LabError(CALL_WRONG, said, f"{path} --help says how it is called"))


def _path(name: str) -> Path:
    return Path(name) if Path(name).exists() else find_scenario(name)


def _scenario(name: str) -> CheckedScenario:
    """The scenario of that name; its mistakes end the call, its warnings do not."""
    scenario, notes = load_scenario(name)
    _print_all(notes)
    if scenario is None:
        raise typer.Exit(CALL_WRONG)
    return scenario


def _plan(scenario: CheckedScenario, seed: int | None) -> Plan:
    if seed is None:
        own = default_seed(scenario.scenario.scenario)
        return resolve(scenario.scenario, scenario.topology, own, "scenario")
    return resolve(scenario.scenario, scenario.topology, seed, "argument")


def _evaluation(folder: Path, *options: str, quiet: bool = False) -> int:
    """Run the evaluation as a program; it prints its own verdict. Raises GroundError."""
    return _program("spark_eval", str(folder), *options, quiet=quiet)


def _program(module: str, *words: str, quiet: bool = False) -> int:
    """Run a program of the evaluation; its exit code means what ours mean. Raises GroundError."""
    said = subprocess.DEVNULL if quiet else None
    command = [sys.executable, "-m", module, *words]
    code = subprocess.run(command, check=False, stdout=said).returncode
    if code not in EVALUATION_CODES:
        raise GroundError(f"the evaluation ended with {code}", "see what it printed above")
    return code


def _replayed(folder: Path, *, judged: bool) -> int:
    """Every file compared; the first difference of each on stdout."""
    from lab.replay import read_simulated, replay

    read_simulated(folder)

    def judge(scratch: Path) -> None:
        print("judging the replay", file=sys.stderr)
        _evaluation(scratch, quiet=True)

    with TemporaryDirectory(prefix="shadowlab-replay-") as scratch:
        found = replay(folder, Path(scratch), judge if judged else None)
    for each in found:
        print(f"{each.file}:{each.line}: recorded {each.recorded!r}, replayed {each.again!r}")
    print(f"{_counted(len(found), 'file')} of {folder} differ" if found else "the same bytes")
    return FAIL if found else PASS


def _replayed_node(folder: Path, server: str, until: int | None, debug: bool) -> int:
    from lab.replay_node import replay_node
    from lab.replay_view import told

    try:
        found = replay_node(folder, server, until, breakpoint if debug else None)
    except BdbQuit:
        return INTERRUPTED
    print("\n".join(told(folder, server, found)))
    return PASS if found.divergence is None else FAIL


def _print_all(texts: list[str]) -> None:
    for text in texts:
        print(text, file=sys.stderr)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
