"""A run, or one node of it, once more: replay."""

import sys
from bdb import BdbQuit
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lab.cli.evaluation import evaluation
from lab.cli.options import Run, counted
from lab.program.errors import FAIL, INTERRUPTED, PASS, GroundError, ScenarioError
from lab.program.printable import visible
from lab.record.folder import VERDICT
from lab.validation.library import RUNS, find_run


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
    waits: Annotated[
        bool, typer.Option("--waits", help="what --node waits for after the last input replayed")
    ] = False,
    record_only: Annotated[
        bool, typer.Option("--record-only", help="do not judge the replay and compare reports")
    ] = False,
) -> None:
    """Simulate a simulated run again, or drive one recorded node through what it heard; compare."""
    if node is None:
        if waits:
            raise ScenarioError("--waits wants --node NAME", "a server of the run with a core")
        raise typer.Exit(_replayed(find_run(run), judged=not record_only))
    if debug and until is None:
        raise ScenarioError("--debug wants --until LINE", "a line of the node's inputs.jsonl")
    raise typer.Exit(_replayed_node(find_run(run), node, until, debug=debug, waits=waits))


def _replayed(folder: Path, *, judged: bool) -> int:
    """Every file compared; the first difference of each on stdout."""
    from lab.replay.run import read_simulated, replay

    read_simulated(folder)

    def judge(scratch: Path) -> None:
        print("judging the replay", file=sys.stderr)
        evaluation(scratch, quiet=True)
        if not (scratch / VERDICT).is_file():
            hint = "--record-only compares what was recorded alone"
            raise GroundError("the replay could not be judged", hint)

    with TemporaryDirectory(prefix="shadowlab-replay-") as scratch:
        found = replay(folder, Path(scratch), judge if judged else None)
    for each in found:
        parted = f"recorded {each.recorded!r}, replayed {each.again!r}"
        print(f"{visible(each.file)}:{each.line}: {parted}")
    print(f"{counted(len(found), 'file')} of {folder} differ" if found else "the same bytes")
    return FAIL if found else PASS


def _replayed_node(
    folder: Path, server: str, until: int | None, *, debug: bool, waits: bool
) -> int:
    from lab.replay.node import replay_node
    from lab.replay.view import told, waited

    try:
        found = replay_node(folder, server, until, breakpoint if debug else None)
    except BdbQuit:
        return INTERRUPTED
    print("\n".join(map(visible, told(folder, server, found))))
    if waits:
        print("\n".join(map(visible, waited(server, found))))
    return PASS if found.divergence is None else FAIL
