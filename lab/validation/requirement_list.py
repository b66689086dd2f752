"""The requirements as a list: what each promises, which claims check it, which scenarios name it.

Which scenarios those are is read from `proves:` alone, so a scenario with a mistake elsewhere
counts too. Nothing here says whether a requirement is kept: that is a verdict.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lab.program.printable import visible
from lab.scenario.requirements import Requirement, requirement_table
from lab.validation.yaml_document import read_document

SHOWN = 3  # scenarios that a line names
NOT_CHECKED = "no claim checks it yet"


def naming_scenarios(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Requirement -> names of the scenarios with it in `proves:`, in the order of the paths."""
    naming: dict[str, list[str]] = {}
    for path in paths:
        names = read_document(path).at(("proves",))
        for name in names if isinstance(names, list) else []:
            naming.setdefault(str(name), []).append(path.stem)
    return naming


def requirement_lines(scenarios: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each requirement: id and sentence, then its checks, then what of it is not built yet; last
    how many of them no claim checks.

    `scenarios`: as `naming_scenarios` gives them.
    """
    requirements = requirement_table().requirements
    width = max(map(len, requirements))
    for name, requirement in requirements.items():
        yield f"{name:<{width}}  {requirement.sentence}"
        indent = " " * (width + 2)
        yield visible(f"{indent}{_checks(requirement, scenarios.get(name, ()))}")
        if requirement.missing:
            yield f"{indent}not built yet: {requirement.missing}"
    yield f"checked by no claim yet: {len(unchecked())} of {len(requirements)} requirements"


def unchecked() -> list[str]:
    """The requirements that no claim checks, in the order of the table."""
    requirements = requirement_table().requirements
    return [name for name, requirement in requirements.items() if not requirement.checked_by]


def requirement_objects(
    scenarios: Mapping[str, Sequence[str]],
) -> Iterator[dict[str, object]]:
    """The same for a program, with all scenarios, the detail and the sources."""
    for name, requirement in requirement_table().requirements.items():
        yield {
            "requirement": name,
            "sentence": requirement.sentence,
            "detail": requirement.detail,
            "sources": list(requirement.sources),
            "checked_by": list(requirement.checked_by),
            "scenarios": list(scenarios.get(name, ())),
            "missing": requirement.missing,
        }


def _checks(requirement: Requirement, scenarios: Sequence[str]) -> str:
    claims = ", ".join(requirement.checked_by)
    checked = f"checked by {claims}" if claims else NOT_CHECKED
    if not scenarios:
        return checked
    more = f" and {len(scenarios) - SHOWN} more" if len(scenarios) > SHOWN else ""
    return f"{checked}; scenarios: {', '.join(scenarios[:SHOWN])}{more}"
