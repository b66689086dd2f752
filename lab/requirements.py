"""The ids of the requirements that a scenario may say it proves.

The requirements themselves are the transport's promises; here is only which ids exist, so that
a slip in `proves:` is named instead of leaving a requirement unasked.
"""

_COUNTS = {"TP": 6, "SR": 15, "SM": 19, "SN": 18, "LG": 15, "DD": 4, "RT": 7, "TL": 10}

REQUIREMENTS: frozenset[str] = frozenset(
    f"{family}-{number}" for family, count in _COUNTS.items() for number in range(1, count + 1)
)


def families() -> str:
    """The ids as a hint shows them: `SR-1 to SR-15, …`."""
    return ", ".join(f"{family}-1 to {family}-{count}" for family, count in _COUNTS.items())
