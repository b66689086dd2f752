"""`python3 -m lab.workload FOLDER`: the program in the workload container."""

import sys

from lab.program.outer_edge import guarded
from lab.workload.program import main

if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:]), shows_traceback=True))
