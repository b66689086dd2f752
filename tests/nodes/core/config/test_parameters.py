"""Exchange's parameters: what they read, what they refuse, and what contradicts what (SR-13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.config.contradictions import Contradiction, contradictions
from nodes.core.config.error import ConfigurationError
from nodes.core.config.parameters import (
    PARAMETERS,
    Parameter,
    Value,
    defaults,
    find,
    format_value,
    parse_value,
)
from nodes.core.config.units import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    format_size,
    format_timespan,
    parse_size,
    parse_timespan,
)

EVERY = [parameter for section in PARAMETERS.values() for parameter in section.values()]


@pytest.mark.parametrize(
    ("text", "value_ms"),
    [
        ("0s", 0),
        ("90s", 90 * SECOND_MS),
        ("2m", 2 * MINUTE_MS),
        ("3h", 3 * HOUR_MS),
        ("2d", 2 * DAY_MS),
        ("1h30m", 90 * MINUTE_MS),
        ("00:02:00", 2 * MINUTE_MS),
        ("2.00:00:00", 2 * DAY_MS),
        ("00:00:01.5", 1500),
        ("00:00:01.0050000", 1005),
    ],
)
def test_a_timespan_is_read_in_both_notations(text: str, value_ms: int) -> None:
    assert parse_timespan(text) == value_ms


@pytest.mark.parametrize(
    "raw", ["", " ", "5", "1m1h", "2 m", "-2m", "1.5h", "24:00:00", "00:60:00", "2w", "٣m", 5, None]
)
def test_what_is_no_timespan_is_refused_with_the_way_to_write_one(raw: object) -> None:
    with pytest.raises(ConfigurationError, match="is not a timespan") as refusal:
        parse_timespan(raw)
    assert "90s" in refusal.value.hint


@pytest.mark.parametrize(
    ("text", "value_bytes"),
    [("10MB", 10_485_760), ("10MiB", 10_485_760), ("64KB", 65_536), ("1KiB", 1024), ("7B", 7)],
)
def test_a_size_is_read_in_exchanges_units(text: str, value_bytes: int) -> None:
    assert parse_size(text) == value_bytes


@pytest.mark.parametrize("raw", ["", "10", "10 MB", "1.5MB", "10mb", "1TB", "-1KB", 10, None, True])
def test_what_is_no_size_is_refused_with_the_way_to_write_one(raw: object) -> None:
    with pytest.raises(ConfigurationError, match="is not a size") as refusal:
        parse_size(raw)
    assert "10MB" in refusal.value.hint


@given(st.integers(min_value=0, max_value=2**31))
def test_a_size_that_is_written_is_read_back(value_bytes: int) -> None:
    assert parse_size(format_size(value_bytes)) == value_bytes


@given(st.integers(min_value=0, max_value=40_000 * DAY_MS))
def test_a_timespan_that_is_written_is_read_back(value_ms: int) -> None:
    assert parse_timespan(format_timespan(value_ms)) == value_ms


@pytest.mark.parametrize(
    "parameter", [p for p in EVERY if p.default != ""], ids=lambda parameter: parameter.name
)
def test_every_default_is_a_value_that_its_parameter_takes(parameter: Parameter) -> None:
    assert parse_value(parameter, format_value(parameter, parameter.default)) == parameter.default


def test_the_defaults_contradict_nothing() -> None:
    servers = {"par-mbx1": {name: defaults(name) for name in PARAMETERS}}
    everything = {(section, name) for section, rows in PARAMETERS.items() for name in rows}
    assert contradictions(defaults("TransportConfig"), servers, everything) == []


@pytest.mark.parametrize(
    ("name", "raw", "says"),
    [
        ("ShadowRedundancyEnabled", "yes", "is neither true nor false"),
        ("ShadowRedundancyEnabled", 1, "is neither true nor false"),
        ("MaxRetriesForLocalSiteShadow", 256, "is out of range"),
        ("MaxReceiveSize", "1023B", "is out of range"),
        ("MaxReceiveSize", "129MB", "is out of range"),
        ("MaxReceiveSize", 4096, "is not a size"),
        ("MaxRetriesForLocalSiteShadow", -1, "is out of range"),
        ("MaxRetriesForLocalSiteShadow", True, "is not a whole number"),
        ("MaxRetriesForLocalSiteShadow", "2", "is not a whole number"),
        ("ShadowMessagePreferenceSetting", "PreferLocal", "is not one of its words"),
        ("ShadowHeartbeatFrequency", "0s", "is out of range"),
        ("ShadowHeartbeatFrequency", "1d1s", "is out of range"),
        ("ShadowHeartbeatFrequency", 120, "is not a timespan"),
    ],
)
def test_a_value_outside_its_kind_or_range_is_refused_by_name(
    name: str, raw: object, says: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        parse_value(find("TransportConfig", name), raw)
    assert refusal.value.message.startswith(f"{name}: ")
    assert says in refusal.value.message
    assert refusal.value.hint


def test_a_range_is_told_in_exchanges_own_form() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        parse_value(find("TransportConfig", "ShadowHeartbeatFrequency"), "2d")
    assert refusal.value.hint == "it takes 00:00:01 to 1.00:00:00"


def test_exchanges_dollar_words_are_booleans() -> None:
    parameter = find("TransportConfig", "RejectMessageOnShadowFailure")
    assert [parse_value(parameter, word) for word in ("$true", "$false")] == [True, False]


def test_unlimited_stands_for_the_highest_number() -> None:
    parameter = find("TransportService", "MaxPerDomainOutboundConnections")
    assert parse_value(parameter, "unlimited") == parameter.high


@pytest.mark.parametrize(("raw", "window_ms"), [("49d", 49 * DAY_MS), ("50d", DAY_MS)])
def test_a_duplicate_detection_window_over_49_days_becomes_a_day(raw: str, window_ms: int) -> None:
    assert parse_value(find("MailboxDatabase", "Track Duplicates"), raw) == window_ms


def test_a_bare_number_counts_in_the_unit_of_the_registry() -> None:
    assert parse_value(find("MailboxDatabase", "Track Duplicates"), 2) == 2 * 3_600_000
    assert parse_value(find("MailboxDatabase", "Track Duplicates"), 50 * 24) == DAY_MS
    assert parse_value(find("MailboxDatabase", "Background Cleanup"), 90_000) == 90_000
    with pytest.raises(ConfigurationError):
        parse_value(find("MailboxDatabase", "Background Cleanup"), True)
    with pytest.raises(ConfigurationError):
        parse_value(find("TransportConfig", "ShadowHeartbeatFrequency"), 60)


def test_a_parameter_nearly_named_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        find("TransportConfig", "ShadowHartbeatFrequency")
    assert refusal.value.hint == "did you mean ShadowHeartbeatFrequency?"


def organisation(given: dict[str, Value]) -> list[Contradiction]:
    return contradictions(given, {}, {("TransportConfig", name) for name in given})


def of_a_server(own: str, given: dict[str, Value]) -> list[Contradiction]:
    servers = {"par-mbx1": {"TransportService": {"ShadowMessagePreference": own}}}
    return contradictions(given, servers, {("TransportConfig", name) for name in given})


PREFERENCE = "ShadowMessagePreferenceSetting"
REMOTE, LOCAL = "MaxRetriesForRemoteSiteShadow", "MaxRetriesForLocalSiteShadow"


@pytest.mark.parametrize(
    ("given", "other"),
    [
        ({PREFERENCE: "LocalOnly"}, REMOTE),
        ({REMOTE: 0}, REMOTE),
        ({PREFERENCE: "RemoteOnly", LOCAL: 2}, LOCAL),
    ],
)
def test_a_preference_against_its_attempts_names_both(given: dict[str, Value], other: str) -> None:
    [found] = organisation(given)
    assert PREFERENCE in found.message
    assert other in found.message
    assert found.names == (f"TransportConfig.{PREFERENCE}", f"TransportConfig.{other}")
    assert found.hint


@pytest.mark.parametrize(
    ("own", "given", "other"),
    [
        ("LocalOnly", {}, REMOTE),
        ("PreferRemote", {PREFERENCE: "LocalOnly", REMOTE: 0}, REMOTE),
        ("RemoteOnly", {LOCAL: 2}, LOCAL),
    ],
)
def test_a_preference_of_one_server_against_the_attempts_of_all_names_both_and_the_server(
    own: str, given: dict[str, Value], other: str
) -> None:
    [found] = of_a_server(own, given)
    assert found.names == ("TransportService.ShadowMessagePreference", f"TransportConfig.{other}")
    assert (found.server, found.message.split()[0]) == ("par-mbx1", "ShadowMessagePreference")


@pytest.mark.parametrize(
    ("own", "given"),
    [
        ("RemoteOnly", {}),
        ("PreferRemote", {PREFERENCE: "RemoteOnly"}),
        ("LocalOnly", {PREFERENCE: "LocalOnly", REMOTE: 0}),
    ],
)
def test_a_preference_of_one_server_that_fits_the_attempts_of_all_is_accepted(
    own: str, given: dict[str, Value]
) -> None:
    assert of_a_server(own, given) == []


@pytest.mark.parametrize(
    "given",
    [
        {PREFERENCE: "LocalOnly", REMOTE: 0},
        {PREFERENCE: "RemoteOnly"},
        {PREFERENCE: "RemoteOnly", LOCAL: 0},
        {LOCAL: 0},
    ],
)
def test_a_preference_and_its_attempts_changed_together_are_accepted(
    given: dict[str, Value],
) -> None:
    assert organisation(given) == []


@pytest.mark.parametrize(
    ("section", "values", "says"),
    [
        (
            "ReceiveConnector",
            {"ConnectionTimeout": 5 * MINUTE_MS},
            "ConnectionInactivityTimeout 00:05:00 is not less than ConnectionTimeout 00:05:00",
        ),
        (
            "TransportService",
            {"DelayNotificationTimeout": 30 * MINUTE_MS},
            "DelayNotificationTimeout 00:30:00 is not more than TransientFailureRetryCount 6 x "
            "TransientFailureRetryInterval 00:05:00",
        ),
    ],
)
def test_timeouts_that_contradict_each_other_are_told_with_their_values(
    section: str, values: dict[str, Value], says: str
) -> None:
    [found] = contradictions({}, {"lyo-mbx1": {section: values}}, set())
    assert (found.server, found.message) == ("lyo-mbx1", says)
