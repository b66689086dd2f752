"""A lab to work at: up, what is done by hand in it, and the verdict at its end.

What the containers need is imported only when a command needs containers.
"""

import sys
from collections.abc import Collection
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.cli.completion import run_names
from lab.cli.options import STATE, AllowUnsafe, Name, Seed, checked_scenario, resolved_plan
from lab.cli.paths import not_empty
from lab.program.errors import LabError, ScenarioError
from lab.program.java import require_java
from lab.run.history import run_entries
from lab.standing.control import ask, control_folders
from lab.validation.library import RUNS

COUNT_MAX = 1000
Standing = Annotated[
    str,
    typer.Argument(
        help="a lab that stands: the id that up prints, its run folder, or as much of the id as "
        "no other one begins with",
        callback=not_empty,
        autocompletion=run_names,
    ),
]


def up(
    name: Name,
    seed: Seed = None,
    allow_unsafe: AllowUnsafe = False,
    attached: Annotated[
        bool, typer.Option("--attached", help="stay in the terminal until it is taken down")
    ] = False,
    detaching: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Leave a scenario's lab standing, without its faults and with mail that goes on, to work at.

    do, heal and send act on it; down takes it down and judges what was done.
    """
    scenario = checked_scenario(name, allow_unsafe=allow_unsafe)
    plan = resolved_plan(scenario, seed)
    require_java()
    if not attached and not detaching:
        from lab.standing.detached import begin

        unsafe = ["--allow-unsafe"] if allow_unsafe else []
        printed, code = begin(["up", name, "--seed", str(plan.seed), *unsafe, "--detaching"])
        print(*printed, sep="\n", end="\n" if printed else "")
        raise typer.Exit(code or 0)
    from lab.hosts.containers.host import ContainerHost
    from lab.run.outcome import RunOptions, say_to_stderr
    from lab.standing.detached import let_the_terminal_go
    from lab.standing.hand_scenario import HandScenario
    from lab.standing.lab import stand
    from lab.standing.reach import how_to_reach

    def stands(folder: Path, *reached: Any) -> None:
        print(*how_to_reach(*reached), sep="\n", flush=True)
        if detaching:
            let_the_terminal_go(folder)

    hand = HandScenario(scenario, plan.seed)
    options = RunOptions(runs=RUNS, state=STATE, scenario=hand.checked.text)
    raise typer.Exit(stand(hand, options, ContainerHost(STATE), stands, say_to_stderr))


def do(
    run: Standing,
    entry: Annotated[
        str,
        typer.Argument(
            help="a fault or an operation as in a scenario file, without at, such as "
            "'kill: par-mbx1, for: 5m'; a fault without for lasts until it is healed",
            callback=not_empty,
        ),
    ],
) -> None:
    """Break something in a lab that stands, or ask something of its servers, now."""
    answer = ask(state_of(run), {"op": "do", "entry": entry})
    print(*answer["words"], sep="\n")


def heal(
    run: Standing,
    fault: Annotated[
        str, typer.Argument(help="the id that do printed, such as f1", callback=not_empty)
    ],
) -> None:
    """End a fault in a lab that stands before its time."""
    ask(state_of(run), {"op": "heal", "fault": fault})
    print(f"{fault} is healed")


def send(
    run: Standing,
    entry: Annotated[
        str,
        typer.Argument(
            help="what is sent, in the words of an entry of workload, such as "
            "'to: {database: DB1}, size: 1MiB'; by default inbound mail to any mailbox"
        ),
    ] = "",
    count: Annotated[int, typer.Option(min=1, max=COUNT_MAX, help="how many messages")] = 1,
) -> None:
    """Send messages into a lab that stands, beside its own."""
    answer = ask(state_of(run), {"op": "send", "entry": entry, "count": count})
    print(*answer["ids"], sep="\n")


def status(run: Standing) -> None:
    """Say how far a lab that stands is, how much mail it took, and what acts on it."""
    from lab.run.outcome import span

    said = ask(state_of(run), {"op": "status"})
    print(f"run       {said['folder']}")
    print(f"lab time  {span(said['lab_ms'] / 1000)}")
    print(f"mail      {said['acknowledged']} of {said['begun']} messages acknowledged")
    print(f"by hand   {said['done']} faults and operations so far")
    for fault, words in said["faults"]:
        print(f"acts now  {fault}: {words}")


def end(run: str) -> int:
    """Take down a lab that somebody stands by; the exit code of its verdict."""
    from lab.standing.detached import OUT

    say = partial(print, file=sys.stderr, flush=True)
    answer = ask(state_of(run), {"op": "end"}, say)
    if answer["cause"]:
        raise LabError(answer["code"], answer["cause"], answer["hint"])
    printed = Path(answer["folder"]) / OUT
    if printed.is_file():
        print(printed.read_text(encoding="utf-8", errors="replace"), end="")
    return int(answer["code"])


def id_of_standing(run: str) -> str | None:
    """Of the lab that a person means, if it can be spoken to."""
    return _id_of(run, _known())


def state_of(run: str) -> Path:
    """The state directory of the lab that a person means. Raises ScenarioError."""
    known = _known()
    name = _id_of(run, known)
    if name is not None:
        return known[name]
    near = get_close_matches(run, known, n=3, cutoff=0.3) or sorted(known)[:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "shadowlab up NAME makes one"
    raise ScenarioError(f"no lab {run!r} stands here", hint)


def _known() -> dict[str, Path]:
    return {each.name: each for each in control_folders(STATE)}


def _id_of(run: str, known: Collection[str]) -> str | None:
    recorded = {str(entry.folder): entry.run for entry in run_entries(RUNS) if entry.run}
    name = recorded.get(run.rstrip("/"), run)
    begun = [name] if name in known else [each for each in known if each.startswith(name)]
    return begun[0] if len(begun) == 1 else None
