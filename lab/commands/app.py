"""All commands, put together in the order of --help, and one call of them.

A wrong call is an error with the code 4; every other outcome is the command's own exit code.
"""

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from lab.commands import keeping, many_runs, one_run, record, replaying, scenarios
from lab.errors import CALL_WRONG, PASS, LabError

app = typer.Typer(
    help="A chaos-testing lab for mail transport.",
    add_completion=False,
    rich_markup_mode=None,
)
COMMANDS = (
    scenarios.validate,
    scenarios.schema,
    scenarios.plan,
    one_run.run,
    one_run.up,
    many_runs.suite,
    many_runs.repeat,
    many_runs.sweep,
    many_runs.shrink,
    record.evaluate,
    record.report,
    record.story,
    record.compare,
    replaying.replay,
    keeping.list_,
    keeping.new,
    keeping.prune,
    one_run.down,
)
for command in COMMANDS:
    app.command(command.__name__.rstrip("_"))(command)


def call(words: list[str]) -> int:
    """The exit code of a call; without a word the commands are shown. Raises LabError."""
    try:
        result = get_command(app).main(
            words or ["--help"], prog_name="shadowlab", standalone_mode=False
        )
    except TyperException as error:
        raise _wrong_call(error) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if not words:
        return CALL_WRONG
    return result if isinstance(result, int) else PASS


def _wrong_call(error: TyperException) -> LabError:
    said = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "shadowlab"
    return LabError(CALL_WRONG, said, f"{path} --help says how it is called")
