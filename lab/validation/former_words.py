"""Words that the scenario grammar had before, and what a person writes now.

Who runs an older file reads what its words have become, not that they are unknown.
"""

from collections.abc import Mapping

from lab.validation.yaml_document import Trail

FAULTS: Mapping[str, str] = {
    "slow_replies": "slow: {…, direction: replies}",
    "slow_requests": "slow: {…, direction: requests}",
    "throttle_replies": "throttle: {…, direction: replies}",
    "throttle_requests": "throttle: {…, direction: requests}",
    "drip_replies": "drip: {…, direction: replies}",
}
WINDOW = "DuplicateDetectionWindow"


def written_now(trail: Trail) -> str | None:
    """What stands for the key at the end of that path; None if it never was a word there."""
    if trail[-1] == WINDOW:
        return "Track Duplicates"
    is_of_fault = trail[:1] == ("faults",) and len(trail) == 3
    return FAULTS.get(str(trail[-1])) if is_of_fault else None
