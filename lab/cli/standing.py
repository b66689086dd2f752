"""A lab that stands, looked at while it runs: queues, requests, watch.

What the containers need is imported only when a command needs containers.
"""

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from lab.cli.completion import run_names
from lab.cli.options import STATE
from lab.cli.paths import not_empty
from lab.cli.queues_view import queue_lines, recorded_lines, request_lines
from lab.program.errors import ScenarioError
from lab.program.printable import printable
from lab.run.history import run_entries
from lab.validation.library import RUNS, find_run
from nodes.shell.verbs.queues import VERB as QUEUES
from nodes.shell.verbs.safety_net import VERB as RESUBMIT
from nodes.shell.verbs.safety_net import format_change

LOOK_EVERY_SECONDS = 1.0
ANSWERED = "250"
Standing = Annotated[
    str,
    typer.Argument(
        help="a lab that stands, by the id that up prints",
        callback=not_empty,
        autocompletion=run_names,
    ),
]
Server = Annotated[str | None, typer.Argument(help="one server; by default all")]


class Move(StrEnum):
    """What becomes of a resubmit request."""

    disable = "disable"
    enable = "enable"
    remove = "remove"


def queues(run: Standing, server: Server = None) -> None:
    """Show the queues of servers: of a lab that stands now, of a run that is over at its end."""
    try:
        folder = find_run(run)
    except ScenarioError:
        print(*queue_lines(_asking(run)(QUEUES, server)), sep="\n")
    else:
        print(*recorded_lines(folder, server), sep="\n")


def requests(
    run: Standing,
    server: Server = None,
    change: Annotated[Move | None, typer.Option(help="what is to become of a request")] = None,
    request: Annotated[
        str | None, typer.Option(help="the id of that request", callback=not_empty)
    ] = None,
) -> None:
    """List resubmit requests of a lab that stands; or disable, enable or remove one."""
    if (change is None) != (request is None):
        raise ScenarioError("--change takes --request", "--change disable --request o1")
    ask = _asking(run)
    if change is None or request is None:
        print(*request_lines(ask(f"{RESUBMIT} LIST", server)), sep="\n")
        return
    replies = ask(" ".join(format_change(change.value, request)), server)
    print(*(f"{name}: {printable(said)}" for name, said in replies.items()), sep="\n")
    if not any(said.startswith(ANSWERED) for said in replies.values()):
        cause = f"no server would {change.value} the request {request}"
        raise ScenarioError(cause, f"shadowlab requests {run} lists them")


def watch(run: Standing, server: Server = None) -> None:
    """Show the queues of a lab that stands, again and again, until Ctrl-C."""
    ask = _asking(run)
    with Live(console=Console(file=sys.stdout), auto_refresh=False) as live:
        while True:
            lines = "\n".join(queue_lines(ask(QUEUES, server)))
            live.update(Text(lines, no_wrap=True, overflow="crop"), refresh=True)
            time.sleep(LOOK_EVERY_SECONDS)


def _asking(run: str) -> Callable[[str, str | None], dict[str, str]]:
    """Says a line to the servers of that lab, or to one."""
    from lab.hosts.containers.asking import ask_servers, standing_run
    from lab.hosts.containers.engine import connect

    client = connect()
    recorded = {entry.folder: entry.run for entry in run_entries(RUNS) if entry.run}
    run_id = standing_run(client, run, STATE, recorded)
    return lambda line, server: ask_servers(client, run_id, line, server)
