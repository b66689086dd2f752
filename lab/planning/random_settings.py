"""Settings drawn from the run's seed, written out as ordinary ones; each draw has its own name.

Parameters that contradict each other (SR-13) are never drawn together: what a contradiction names
is drawn again, and after some tries taken from the ends of what may be drawn. Whether there is any
draw without a contradiction is asked of the file (`contradicted`), so it is the same for every
seed.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from lab.planning.seeds import seed_for
from lab.scenario.random_settings import STEPS, Entry, Part, Span, parts_of
from lab.scenario.scenario import ScenarioModel
from lab.scenario.settings import organisation, written_for
from nodes.core.config.contradictions import Contradiction, contradictions
from nodes.core.config.parameters import PARAMETERS, Value, find

Key: TypeAlias = tuple[str, str]
"""A section, and a parameter's name in it."""
Drawn: TypeAlias = Mapping[Key, Value]

TRIES = 20


def with_drawn_settings(scenario: ScenarioModel, seed: int) -> ScenarioModel:
    """The scenario with nothing random among its settings; the same one where nothing was."""
    settings: Any = scenario.settings
    if settings.random is None:
        return scenario
    return _with(scenario, drawn_values(settings, seed))


def at_their_most(scenario: ScenarioModel) -> ScenarioModel:
    """The same with the longest times and highest numbers that may be drawn."""
    return _at_an_end(scenario, -1)


def at_their_least(scenario: ScenarioModel) -> ScenarioModel:
    """The same with the shortest times and lowest numbers that may be drawn."""
    return _at_an_end(scenario, 0)


def drawn_values(settings: Any, seed: int) -> Drawn:
    """What `seed` draws; empty where nothing is random. The file was found sound."""
    entries = entries_of(settings)
    if not entries:
        return {}
    seed = seed if settings.random.seed is None else settings.random.seed
    values = {key: _draw(key, entries[key], seed, 0) for key in entries}
    for attempt in range(1, TRIES + 1):
        named = _named(_contradictions(settings, values), entries)
        if not named:
            return values
        values |= {key: _draw(key, entries[key], seed, attempt) for key in named}
    sound = _sound(settings, entries, values)
    assert sound is not None, "validated before"
    return sound


def contradicted(settings: Any) -> Contradiction | None:
    """One that holds in a draw where no draw is without any; None where there are draws."""
    entries = entries_of(settings)
    values = {key: _ends(entries[key])[0] for key in entries}
    if _sound(settings, entries, values) is not None:
        return None
    return _contradictions(settings, values)[0]


def entries_of(settings: Any) -> dict[Key, tuple[Entry, ...]]:
    """What each random parameter is drawn among, in the order of the table of parameters."""
    if settings.random is None:
        return {}
    given = {section: getattr(settings.random, section).given() for section in PARAMETERS}
    return {
        (section, name): given[section][name]
        for section, parameters in PARAMETERS.items()
        for name in parameters
        if name in given[section]
    }


def drawn_parts(settings: Any) -> dict[Key, list[Part]]:
    """The parts of what may be drawn, by which coverage is counted."""
    return {key: parts_of(find(*key), entries) for key, entries in entries_of(settings).items()}


def settings_in_words(scenario: ScenarioModel, seed: int) -> list[str]:
    """A line that says which settings were drawn, and from which seed."""
    settings: Any = scenario.settings
    names = [f"{section}.{name}" for section, name in entries_of(settings)]
    seed = seed if not names or settings.random.seed is None else settings.random.seed
    return [f"drawn from {seed}: {', '.join(names)}"] if names else []


def _with(scenario: ScenarioModel, values: Drawn) -> ScenarioModel:
    return scenario.model_copy(update={"settings": _settings_with(scenario.settings, values)})


def _settings_with(settings: Any, values: Drawn) -> Any:
    sections = {
        section: getattr(settings, section).model_copy(
            update={name: value for (group, name), value in values.items() if group == section}
        )
        for section in PARAMETERS
    }
    return settings.model_copy(update={"random": None, **sections})


def _at_an_end(scenario: ScenarioModel, end: int) -> ScenarioModel:
    entries = entries_of(scenario.settings)
    if not entries:
        return scenario
    return _with(scenario, {key: _in_order(key, entries[key])[end] for key in entries})


def _in_order(key: Key, entries: tuple[Entry, ...]) -> list[Value]:
    ends = _ends(entries)
    return sorted(ends, key=int) if find(*key).kind in STEPS else ends


def _draw(key: Key, entries: tuple[Entry, ...], seed: int, attempt: int) -> Value:
    def below(limit: int, name: str) -> int:
        return seed_for(seed, "settings", *key, name, attempt) % limit

    entry = entries[below(len(entries), "entry")]
    if not isinstance(entry, Span):
        return entry
    step = STEPS[find(*key).kind]
    return entry.low + step * below((entry.high - entry.low) // step + 1, "value")


def _ends(entries: tuple[Entry, ...]) -> list[Value]:
    """Each value, and both ends of each range: no contradiction is between them alone."""
    return [
        value
        for entry in entries
        for value in ((entry.low, entry.high) if isinstance(entry, Span) else (entry,))
    ]


def _contradictions(settings: Any, values: Drawn) -> list[Contradiction]:
    """On a server without settings of its own, and on each that has some."""
    resolved = _settings_with(settings, values)
    config = organisation(resolved)
    servers = {server: written_for(resolved, server) for server in ("", *resolved.servers)}
    return contradictions(config, servers, {("TransportConfig", name) for name in config})


def _named(found: list[Contradiction], entries: Mapping[Key, tuple[Entry, ...]]) -> list[Key]:
    """The random parameters that they are about."""
    names = {name for each in found for name in each.names}
    return [key for key in entries if ".".join(key) in names]


def _sound(settings: Any, entries: Mapping[Key, tuple[Entry, ...]], values: Drawn) -> Drawn | None:
    """The values with those at an end that contradictions name, so that none holds any more."""
    keys: list[Key] = []
    while True:
        found: list[Contradiction] = []
        for trial in _combined(keys, entries, values):
            now = _contradictions(settings, trial)
            if not now:
                return trial
            found += now
        more = [key for key in _named(found, entries) if key not in keys]
        if not more:
            return None
        keys += more


def _combined(
    keys: list[Key], entries: Mapping[Key, tuple[Entry, ...]], values: Drawn
) -> Iterator[Drawn]:
    for ends in product(*(_ends(entries[key]) for key in keys)):
        yield {**values, **dict(zip(keys, ends, strict=True))}
