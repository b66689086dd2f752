from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.node.settings_shown import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MAILBOX_SERVERS, Run, empty

MINUTE_MS = 60_000
OF_ALL: dict[str, Any] = {
    "ShadowMessagePreferenceSetting": "PreferRemote",
    "MaxRetriesForRemoteSiteShadow": 4,
}
OWN: dict[str, dict[str, Any]] = {
    "TransportService": {
        "ShadowMessagePreference": "",
        "TransientFailureRetryCount": 6,
        "TransientFailureRetryInterval": 5 * MINUTE_MS,
        "DelayNotificationTimeout": 31 * MINUTE_MS,
    },
    "ReceiveConnector": {
        "ConnectionInactivityTimeout": 9 * MINUTE_MS,
        "ConnectionTimeout": 10 * MINUTE_MS,
    },
}
SETTINGS: dict[str, dict[str, Any]] = {"TransportConfig": OF_ALL, **OWN}


def _planned(**settings: dict[str, Any]) -> Run:
    """What a plan may have, these parameters being otherwise."""
    run, of = empty(), _with(settings)
    run.plan["settings"] = {
        "TransportConfig": of["TransportConfig"],
        "servers": {name: {section: of[section] for section in OWN} for name in MAILBOX_SERVERS},
    }
    return run


def _with(changed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {section: {**SETTINGS[section], **changed.get(section, {})} for section in SETTINGS}


def _shows(run: Run, settings: dict[str, Any] | None) -> Run:
    for server in MAILBOX_SERVERS:
        run.life(server, "configured", 0, **({} if settings is None else {"settings": settings}))
    return run


def _both(**settings: dict[str, Any]) -> Run:
    return _shows(_planned(**settings), _with(settings))


def _one_of_them() -> Run:
    """One server that does not say what the others say."""
    run = _shows(_planned(), SETTINGS)
    run.lifecycle[MAILBOX_SERVERS[0]][-1].pop("settings")
    return run


CONTRADICTORY = {
    "local-with-remote-attempts": _both(
        TransportConfig={"ShadowMessagePreferenceSetting": "LocalOnly"}
    ),
    "remote-without-attempts": _both(TransportConfig={"MaxRetriesForRemoteSiteShadow": 0}),
    "own-preference": _both(TransportService={"ShadowMessagePreference": "LocalOnly"}),
    "as-silent-as-a-session": _both(
        ReceiveConnector={"ConnectionInactivityTimeout": 10 * MINUTE_MS}
    ),
    "late-before-the-retries": _both(TransportService={"DelayNotificationTimeout": 30 * MINUTE_MS}),
}
OTHERWISE = {
    "of-the-organisation": _shows(
        _planned(), _with({"TransportConfig": {"MaxRetriesForRemoteSiteShadow": 3}})
    ),
    "of-its-own": _shows(
        _planned(), _with({"ReceiveConnector": {"ConnectionTimeout": 11 * MINUTE_MS}})
    ),
    "a-section-missing": _shows(_planned(), {"TransportConfig": OF_ALL}),
}


def runs() -> dict[str, Run]:
    fine = {
        "holds": _both(),
        "both-changed": _both(
            TransportConfig={
                "ShadowMessagePreferenceSetting": "LocalOnly",
                "MaxRetriesForRemoteSiteShadow": 0,
            }
        ),
        "of-before": _shows(_planned(), None),
        "one-of-them": _one_of_them(),
    }
    return fine | CONTRADICTORY | OTHERWISE


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", ["holds", "both-changed"])
def test_asks_each_server_for_both(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.asked) == ("holds", 2 * len(MAILBOX_SERVERS))
    assert result.proofs == {"SR-13": "holds", "SN-18": "holds"}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_what_contradicts_is_named_though_the_plan_has_it(name: str, results: Results) -> None:
    result = results[name]
    assert result.violations == len(MAILBOX_SERVERS)
    assert result.proofs == {"SR-13": "violated", "SN-18": "holds"}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_otherwise_than_planned_is_named(name: str, results: Results) -> None:
    result = results[name]
    assert result.violations == len(MAILBOX_SERVERS)
    assert result.proofs == {"SR-13": "holds", "SN-18": "violated"}


def test_a_server_that_shows_none_where_others_do(results: Results) -> None:
    assert results["one-of-them"].violations == 1


def test_asks_nothing_where_nobody_shows_any(results: Results) -> None:
    assert results["of-before"].asked_nothing
