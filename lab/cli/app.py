"""All commands, put together in the order of --help, and one call of them.

A wrong call is an error with the code 4; every other outcome is the command's own exit code.
"""

import os
import re
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from lab.cli import by_hand, record, scenarios, standing
from lab.cli import campaigns as many_runs
from lab.cli import housekeeping as keeping
from lab.cli import prove as proving
from lab.cli import replay as replaying
from lab.cli import run as one_run
from lab.program.errors import CALL_WRONG, FAIL, PASS, LabError

WIDTH = "[0-9]{1,3}"
COMPLETION = ("--install-completion", "--show-completion")  # 1 for an unknown shell
EXIT_CODES = (
    "Exit codes: 0 pass, 1 fail (a claim is violated), 2 unknown, 3 the lab itself could not do "
    "its work, 4 the scenario or the call is wrong, 130 ended by Ctrl-C.\n\n"
    "With SHADOWLAB_DEBUG=1 a bug shows its traceback; with NO_COLOR=1 nothing is coloured."
)

app = typer.Typer(
    help="A chaos-testing lab for mail transport.",
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
GROUPS: dict[str, Sequence[Callable[..., None]]] = {
    "Before a run": (scenarios.validate, scenarios.plan, scenarios.schema, keeping.new),
    "One run": (one_run.run, one_run.down),
    "A lab that stands": (
        by_hand.up,
        by_hand.do,
        by_hand.heal,
        by_hand.send,
        by_hand.status,
        standing.queues,
        standing.requests,
        standing.watch,
    ),
    "Many runs": (
        many_runs.suite,
        many_runs.repeat,
        many_runs.sweep,
        many_runs.exhaust,
        many_runs.shrink,
        proving.prove,
    ),
    "What was recorded": (
        keeping.list_,
        record.report,
        record.story,
        record.evaluate,
        record.compare,
        replaying.replay,
        keeping.prune,
    ),
}
COMMANDS = tuple(command for group in GROUPS.values() for command in group)
for title, group in GROUPS.items():
    for command in group:
        app.command(command.__name__.rstrip("_"), rich_help_panel=title)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"shadowlab {metadata.version('shadowlab')}")
        raise typer.Exit


@app.callback()
def shadowlab(
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """A chaos-testing lab for mail transport: real SMTP, real faults, and a verdict by Spark."""


def call(words: list[str]) -> int:
    """The exit code of a call; without a word the commands are shown. Raises LabError."""
    _bound_width()
    try:
        result = get_command(app).main(
            words or ["--help"], prog_name="shadowlab", standalone_mode=False
        )
    except TyperException as error:
        raise _wrong_call(error) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if not words or (result == FAIL and words[0] in COMPLETION):
        return CALL_WRONG
    return result if isinstance(result, int) else PASS


def _bound_width() -> None:
    """Help is padded to the width of the terminal; a COLUMNS that is none is as if not set."""
    if not re.fullmatch(WIDTH, os.environ.get("COLUMNS", "")):
        os.environ.pop("COLUMNS", None)


def _wrong_call(error: TyperException) -> LabError:
    said = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "shadowlab"
    return LabError(CALL_WRONG, said, f"{path} --help says how it is called")
