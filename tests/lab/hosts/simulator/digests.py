"""`python -m tests.lab.hosts.simulator.digests SEEDS`: a digest of each whole record, of every
scenario under so many seeds: its name, the seed, the digest, a line each.

Run in processes with other hash seeds, to see that nothing but plan and seed decides a byte.
"""

import hashlib
import sys

from lab.hosts.simulator.simulation import simulate
from tests.lab.hosts.simulator.plans import SCENARIOS, plan


def digest(name: str, seed: int) -> str:
    found = hashlib.sha256()
    for file, lines in simulate(plan(name, seed)).files.items():
        found.update(f"{file}\0{len(lines)}\0".encode())
        found.update("\n".join(lines).encode())
    return found.hexdigest()


if __name__ == "__main__":
    for name in SCENARIOS:
        for number in range(1, int(sys.argv[1]) + 1):
            print(name, number, digest(name, number))
