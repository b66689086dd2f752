"""A node with a defect as a process: `python3 -m defects NAME PROGRAM CONFIG`.

PROGRAM is the module that a sound node runs as, CONFIG its configuration. The defect is entered
before the node is made and lasts as long as the process, so every life of a container has it. Exit
codes are those of the program, 64 where the call is wrong.
"""

from __future__ import annotations

if __name__ == "__main__":  # before everything that takes its time
    from nodes.shell.signals import keep_signals

    keep_signals()

import sys

from defects.catalogue import BY_NAME
from nodes.core.config.error import suggestion
from nodes.shell import active_manager, front_end, runner
from nodes.shell.process import EX_USAGE
from nodes.shell.signals import leave

PROGRAMS = {
    "nodes.shell.runner": runner.main,
    "nodes.shell.front_end": front_end.main,
    "nodes.shell.active_manager": active_manager.main,
}


def main(arguments: list[str]) -> int:
    if len(arguments) != 3:
        return _refused("usage: python3 -m defects NAME PROGRAM CONFIG")
    name, program, config = arguments
    if name not in BY_NAME:
        return _refused(f"there is no defect {name}\nhint: {suggestion(name, BY_NAME)}")
    if program not in PROGRAMS:
        return _refused(f"{program} takes no defect\nhint: {suggestion(program, PROGRAMS)}")
    with BY_NAME[name].broken():
        return PROGRAMS[program]([config])


def _refused(said: str) -> int:
    print(said, file=sys.stderr)
    return EX_USAGE


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
