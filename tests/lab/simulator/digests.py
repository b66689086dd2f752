"""`python -m tests.lab.simulator.digests SCENARIO FIRST LAST`: a digest of each run's whole record.

Run in processes with other hash seeds, to see that nothing but plan and seed decides a byte.
"""

import hashlib
import sys

from lab.hosts.simulator.simulation import simulate
from tests.lab.simulator.plans import plan


def digest(name: str, seed: int) -> str:
    found = hashlib.sha256()
    for file, lines in simulate(plan(name, seed)).files.items():
        found.update(f"{file}\0{len(lines)}\0".encode())
        found.update("\n".join(lines).encode())
    return found.hexdigest()


if __name__ == "__main__":
    for number in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
        print(number, digest(sys.argv[1], number))
