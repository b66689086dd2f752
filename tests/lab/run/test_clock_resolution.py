"""How finely the lab resolves time."""

from lab.run.clock_resolution import ClockResolution, quantile


def test_the_quantile_is_a_sample_that_the_share_does_not_exceed() -> None:
    assert quantile(list(range(1, 1001)), 0.999) == 999


def test_one_late_sample_in_ten_counts_at_p999() -> None:
    assert quantile([1.0] * 9 + [50.0], 0.999) == 50.0


def test_without_samples_nothing_is_said() -> None:
    assert ClockResolution().lab_ms(60) is None


def test_lateness_is_measured_in_lab_time() -> None:
    resolution = ClockResolution()
    resolution._overshoots_ms = [0.5]
    assert resolution.lab_ms(60) == 30.0
