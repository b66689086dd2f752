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

from lab.cli.completion import run_names
from lab.cli.options import STATE
from lab.cli.paths import not_empty
from lab.cli.queues_view import queues_table, recorded_table, requests_table
from lab.program.errors import ScenarioError
from lab.run.history import run_entries
from lab.validation.library import RUNS, find_run
from nodes.shell.verbs.queues import VERB as QUEUES
from nodes.shell.verbs.safety_net import VERB as RESUBMIT
from nodes.shell.verbs.safety_net import format_change

LOOK_EVERY_SECONDS = 1.0
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
        Console().print(queues_table(_asking(run)(QUEUES, server)))
    else:
        Console().print(recorded_table(folder, server))


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
    if change is not None and request is not None:
        for name, said in ask(" ".join(format_change(change.value, request)), server).items():
            print(f"{name}: {said}")
        return
    Console().print(requests_table(ask(f"{RESUBMIT} LIST", server)))


def watch(run: Standing, server: Server = None) -> None:
    """Show the queues of a lab that stands, again and again, until Ctrl-C."""
    ask = _asking(run)
    with Live(console=Console(file=sys.stdout), auto_refresh=False) as live:
        while True:
            live.update(queues_table(ask(QUEUES, server)), refresh=True)
            time.sleep(LOOK_EVERY_SECONDS)


def _asking(run: str) -> Callable[[str, str | None], dict[str, str]]:
    """Says a line to the servers of that lab, or to one."""
    from lab.hosts.containers.asking import ask_servers, standing_run
    from lab.hosts.containers.engine import connect

    client = connect()
    recorded = {entry.folder: entry.run for entry in run_entries(RUNS) if entry.run}
    run_id = standing_run(client, run, STATE, recorded)
    return lambda line, server: ask_servers(client, run_id, line, server)
