"""`shadowlab`: what a person or a script asks of the lab.

Every command turns its words into one call and the outcome into an exit code: 0 pass, 1 fail, 2
unknown, 3 the lab could not do its work, 4 the scenario or the call is wrong. What fails is said in
one line with a hint below it on stderr; there is no traceback. The commands are beside this file,
and imported behind the outer edge, so that whatever breaks on the way is said too.
"""

import sys

from lab.program import ending

IS_PROGRAM = sys.argv[0].endswith(("/shadowlab", "/lab/cli/__main__.py"))
if IS_PROGRAM:
    ending.at_once()  # until the outer edge stands, and after it

from lab.program.outer_edge import guarded  # noqa: E402 (a signal may come before it)


def main(arguments: list[str] | None = None) -> int:
    """The entry point: the exit code, with every failure said in two lines."""
    words = sys.argv[1:] if arguments is None else arguments

    def work() -> int:
        from lab.cli.app import call

        return call(words)

    return guarded(work)


if __name__ == "__main__":
    sys.exit(main())
