"""`shadowlab`: what a person or a script asks of the lab.

Every command turns its words into one call and the outcome into an exit code: 0 pass, 1 fail,
2 unknown, 3 the lab could not do its work, 4 the scenario or the call is wrong. What fails is
said in one line with a hint below it on stderr; there is no traceback for anything expected.
The commands themselves are in lab/commands; here they are put together, in the order of --help.
"""

import os
import sys

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from lab.commands import keeping, many_runs, one_run, record, replaying, scenarios
from lab.errors import CALL_WRONG, GROUND_FAILED, INTERRUPTED, PASS, LabError, print_error

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


if __name__ == "__main__":
    sys.exit(main())
