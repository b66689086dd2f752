"""Settings that contradict nothing and are hardly meant: warnings, which hold no scenario back; and
those that lose mail (SN-5), which do, unless a person allows it.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lab.planning.random_settings import at_their_least, entries_of
from lab.scenario.scenario import ScenarioModel
from lab.scenario.settings import delivered_to, organisation
from lab.scenario.topology import TopologyModel, resolve_topology
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from nodes.core.config.parameters import PARAMETERS
from nodes.core.config.units import format_size, format_timespan

REJECTING = ("TransportConfig", "RejectMessageOnShadowFailure")
LOCAL_ATTEMPTS = ("TransportConfig", "MaxRetriesForLocalSiteShadow")
RECEIVING = ("TransportConfig", "MaxReceiveSize")
HOLDING = ("TransportConfig", "SafetyNetHoldTime")
WINDOW = ("MailboxDatabase", "Track Duplicates")


def doubtful_settings(
    read: Read[ScenarioModel], topology: TopologyModel | None
) -> Iterator[Mistake]:
    if read.model is None or topology is None:
        return
    yield from _rejecting_alone(read, read.model.settings, topology)
    yield from _none_in_one_site(read, read.model.settings, topology)
    yield from _holding_beyond_the_window(read, read.model.settings, topology)
    yield from _lagging_beyond_the_window(read, read.model.settings, topology)
    yield from _larger_than_received(read, read.model)


def unsafe_settings(read: Read[ScenarioModel], topology: TopologyModel | None) -> Iterator[Mistake]:
    """SN-5: what Safety Nets keep for a shorter time than a copy lags they cannot give back."""
    if read.model is None or topology is None:
        return
    section, name = HOLDING
    is_drawn = HOLDING in entries_of(read.model.settings)
    settings = at_their_least(read.model).settings if is_drawn else read.model.settings
    hold_ms = int(organisation(settings).get(name, PARAMETERS[section][name].default))
    trail = ("settings", "random", *HOLDING) if is_drawn else ("settings", *HOLDING)
    for database, server, lag_ms in _lagged(topology):
        if hold_ms < lag_ms:
            rule = (
                f"is less than ReplayLagTime {format_timespan(lag_ms)} of {database} on {server}: "
                "what it lacks from before that is lost when it is activated"
            )
            hint = "write a longer one, or a shorter ReplayLagTime; --allow-unsafe warns instead"
            yield read.mistake(trail, format_timespan(hold_ms), rule, hint)


def _lagged(topology: TopologyModel) -> Iterator[tuple[str, str, int]]:
    """Database, server and ReplayLagTime of each lagged copy."""
    for database in resolve_topology(topology).databases:
        for copy in database.copies:
            if copy.replay_lag_time_ms:
                yield database.name, copy.server, copy.replay_lag_time_ms


def _rejecting_alone(
    read: Read[ScenarioModel], settings: Any, topology: TopologyModel
) -> Iterator[Mistake]:
    """SR-13: rejecting without a second server in the boundary refuses all mail."""
    drawn = True in entries_of(settings).get(REJECTING, ())
    if settings.TransportConfig.RejectMessageOnShadowFailure is not True and not drawn:
        return
    boundaries = Counter(boundary for boundary, _ in _sites_of_boundaries(topology))
    trail = ("settings", "random", *REJECTING) if drawn else ("settings", *REJECTING)
    for boundary, count in boundaries.items():
        if count < 2:
            rule = f"warning: refuses all mail of {boundary}, which has one server"
            yield read.mistake(trail, "true", rule, "add a server, or set it false")


def _none_in_one_site(
    read: Read[ScenarioModel], settings: Any, topology: TopologyModel
) -> Iterator[Mistake]:
    """SR-3: whoever has no other site to try makes local attempts, whatever the preference."""
    section, name = LOCAL_ATTEMPTS
    if organisation(settings).get(name, PARAMETERS[section][name].default) != 0:
        return
    sites = set(_sites_of_boundaries(topology))
    for boundary, count in Counter(boundary for boundary, _ in sites).items():
        if count == 1:
            rule = f"warning: makes no mail of {boundary} redundant, which is in one site"
            hint = "leave it out, or give the DAG servers in a second site"
            yield read.mistake(("settings", *LOCAL_ATTEMPTS), "0", rule, hint)


def _sites_of_boundaries(topology: TopologyModel) -> list[tuple[str, str]]:
    """Of each mailbox server: the boundary of high availability that it is in, and its site."""
    mailbox = [server for server in topology.servers.values() if server.role == "mailbox"]
    return [(server.dag or f"site {server.site}", server.site) for server in mailbox]


def _holding_beyond_the_window(
    read: Read[ScenarioModel], settings: Any, topology: TopologyModel
) -> Iterator[Mistake]:
    """SN-15: what is resubmitted later than the window shows twice. What is drawn is left alone."""
    drawn = entries_of(settings)
    section, name = HOLDING
    hold_ms = int(organisation(settings).get(name, PARAMETERS[section][name].default))
    databases = resolve_topology(topology, delivered_to(settings)).databases
    short = min(databases, key=lambda each: each.duplicate_detection_window_ms, default=None)
    if short is None or HOLDING in drawn or WINDOW in drawn:
        return
    window_ms = short.duplicate_detection_window_ms
    if hold_ms > window_ms:
        rule = (
            f"warning: is longer than {WINDOW[1]} {format_timespan(window_ms)} of {short.name}, so "
            "what comes back after it shows twice"
        )
        hint = "write a shorter one, or a longer window"
        yield read.mistake(("settings", *HOLDING), format_timespan(hold_ms), rule, hint)


def _lagging_beyond_the_window(
    read: Read[ScenarioModel], settings: Any, topology: TopologyModel
) -> Iterator[Mistake]:
    """SN-15: a lagged copy forgets what it had already. What is drawn is left alone."""
    if WINDOW in entries_of(settings):
        return
    resolved = resolve_topology(topology, delivered_to(settings))
    windows_ms = {each.name: each.duplicate_detection_window_ms for each in resolved.databases}
    for database, server, lag_ms in _lagged(topology):
        if lag_ms > windows_ms[database]:
            window = format_timespan(windows_ms[database])
            rule = (
                f"warning: {WINDOW[1]} {window} of {database} is shorter than ReplayLagTime "
                f"{format_timespan(lag_ms)} of its copy on {server}, so what comes back may show "
                "twice"
            )
            hint = "write a longer window, or a shorter lag"
            yield read.mistake(("settings", *WINDOW), window, rule, hint)


def _larger_than_received(read: Read[ScenarioModel], model: ScenarioModel) -> Iterator[Mistake]:
    """Senders that are refused try again to the end. What is drawn is left alone."""
    section, name = RECEIVING
    most = int(organisation(model.settings).get(name, PARAMETERS[section][name].default))
    if RECEIVING in entries_of(model.settings):
        return
    for index, mail in enumerate(model.workload):
        if mail.size > most:
            rule = f"warning: is more than {name} {format_size(most)}, so every server refuses it"
            hint = f"write a smaller one, or a larger {name}"
            yield read.mistake(("workload", index, "size"), format_size(mail.size), rule, hint)
