"""What ends a run early, and what no signal can end."""

import os
import signal
import time

import pytest

from lab.program.watchdog import Interrupted, TimeIsUp, Watchdog


def press(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_where_it_is(number: signal.Signals) -> None:
    with Watchdog(lambda _: None), pytest.raises(Interrupted, match=number.name):
        press(number)


def test_a_second_signal_is_answered_and_ends_nothing() -> None:
    said: list[str] = []
    with Watchdog(said.append):
        with pytest.raises(Interrupted):
            press()
        press()
        press(signal.SIGTERM)
    assert len(said) == 2


def test_no_signal_ends_the_take_down() -> None:
    said: list[str] = []
    with Watchdog(said.append) as watchdog:
        watchdog.take_down()
        press()
    assert said == ["the lab is being taken down; this ends by itself"]


def test_a_run_past_its_bound_is_ended_though_it_is_blocked() -> None:
    began = time.monotonic()
    with Watchdog(lambda _: None) as watchdog, pytest.raises(TimeIsUp):
        _blocked(watchdog)
    assert time.monotonic() - began < 5


def _blocked(watchdog: Watchdog) -> None:
    """The bound may be over before its thread is known to have started."""
    watchdog.bound(0.05)
    time.sleep(10)


def test_a_run_within_its_bound_is_left_alone() -> None:
    with Watchdog(lambda _: None) as watchdog:
        watchdog.bound(60)
        watchdog.take_down()


def test_a_step_past_its_bound_is_given_up_alone() -> None:
    complaints: list[str] = []
    with Watchdog(lambda _: None) as watchdog:
        watchdog.take_down()
        with watchdog.step("collecting", 0.05, complaints):
            time.sleep(10)
        with watchdog.step("removing the lab", 5, complaints):
            pass
    assert complaints == ["collecting did not end within 0 s"]


def test_an_error_in_a_step_is_a_complaint() -> None:
    complaints: list[str] = []
    with Watchdog(lambda _: None) as watchdog, watchdog.step("healing", 5, complaints):
        raise OSError("no such thing")
    assert complaints == ["healing: no such thing"]


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Watchdog(lambda _: None):
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Watchdog(lambda _: None):
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
