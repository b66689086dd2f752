"""`python -m tests.scenarios.digests`: a digest of each whole record. Reads the name of a scenario
and a seed a line; prints both and the digest, a line each.

Run in a process with another hash seed, to see that nothing but plan and seed decides a byte.
"""

import hashlib
import sys
from collections.abc import Mapping

from lab.campaigns.run import bytes_of
from lab.hosts.simulator.simulation import simulate
from tests.lab.hosts.simulator.plans import plan


def digest(files: Mapping[str, bytes]) -> str:
    """Of a record's files by their name."""
    found = hashlib.sha256()
    for file, content in files.items():
        found.update(f"{file}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()


def simulated(name: str, seed: int) -> str:
    asked = plan(name, seed)
    return digest(bytes_of(asked, simulate(asked, keeps_inputs=False)))


if __name__ == "__main__":
    for line in sys.stdin:
        name, seed = line.split()
        print(name, seed, simulated(name, int(seed)))
