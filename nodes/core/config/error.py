"""How a mistake in a configuration is reported: the value, the rule, the nearest right word."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches


class ConfigurationError(ValueError):
    """A value that cannot be taken: `message` says all of it, `rule` only what it breaks."""

    def __init__(self, message: str, hint: str = "", *, rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.rule = rule or message


def refusal(name: str, raw: object, rule: str, hint: str) -> ConfigurationError:
    """The error for a value of `name` (or of no name) that breaks `rule`."""
    subject = f"{name}: {shown(raw)}" if name else shown(raw)
    return ConfigurationError(f"{subject} {rule}", hint, rule=rule)


def suggestion(name: str, known: Mapping[str, object] | AbstractSet[str]) -> str:
    """`did you mean X?` for the nearest known name, or the known names when none is near."""
    lowered = {candidate.lower(): candidate for candidate in sorted(known)}
    near = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if near:
        return f"did you mean {lowered[near[0]]}?"
    return "known are " + ", ".join(sorted(known))


def shown(raw: object) -> str:
    """A value as a message quotes it: short, on one line, recognisable."""
    text = repr(raw) if isinstance(raw, str) else str(raw)
    return text if len(text) <= 60 else text[:57] + "..."
