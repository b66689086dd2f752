"""Seeds by name: every draw has a seed of its own, so that adding one changes no other.

`seed_for(run_seed, "link", "par-mbx1", "lyo-mbx1")` is the same number on every machine and in
every process; Python's own `hash` is not, and is used nowhere.
"""

import hashlib
import json


def seed_for(run_seed: int, *names: str | int) -> int:
    """A number of 63 bits that depends on the run's seed and the names, and on nothing else."""
    text = json.dumps([run_seed, *names], ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return int.from_bytes(digest[:8], "big") >> 1
