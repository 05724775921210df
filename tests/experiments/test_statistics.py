"""Intervals: hand-computed numbers, measured coverage."""

import math

import numpy as np
import pytest
from scipy import stats

import interval_coverage
from banditselect.runtime.quantiles import standard_error
from banditselect.statistics import bootstrap_interval, decimals, mean_interval, paired_difference


def test_standard_error_by_hand():
    """Squares 4 + 1 + 0 + 9 = 14 about the mean 3: sqrt(14 / 3 / 4)."""
    values = np.array([[1.0, 2.0, 3.0, 6.0], [5.0, 5.0, 5.0, 5.0]])
    assert standard_error(values) == pytest.approx([1.0801234, 0.0])
    assert standard_error(values[0]) == pytest.approx(1.0801234)
    assert np.isnan(standard_error(values[:, :1])).all()
    assert np.isnan(standard_error(np.array([2.0])))


def test_mean_interval_by_hand():
    """Mean 2, s = 1, n = 3: half-width t(0.975; 2) / sqrt(3) = 4.302653 / 1.732051."""
    mean, low, high = mean_interval([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    assert mean == pytest.approx([2.0, 5.0])
    assert low == pytest.approx([2.0 - 2.484138, 5.0], abs=1e-6)
    assert high == pytest.approx([2.0 + 2.484138, 5.0], abs=1e-6)


def test_mean_interval_of_one_replicate_and_of_nan():
    one = mean_interval([3.0])
    assert one.estimate == 3.0
    assert np.isnan([one.low, one.high]).all()
    some = mean_interval([[1.0, np.nan], [1.0, 3.0]])
    assert np.isnan(some.estimate[0])
    assert some.estimate[1] == 2.0


def test_comparison_by_hand():
    """Differences -1, 0, 2, -3, -3: mean -1."""
    c = paired_difference([0.0, 1.0, 4.0, 1.0, 2.0], [1.0, 1.0, 2.0, 4.0, 5.0], names=("x", "y"), metric="regret")
    assert (c.mean, c.n) == (-1.0, 5)
    student = mean_interval([-1.0, 0.0, 2.0, -3.0, -3.0])
    assert c.low <= student.low
    assert c.high >= student.high


def test_comparison_reads_like_a_sentence():
    a = 100.0 + np.array([1.0, -1.0] * 25)
    text = str(paired_difference(a, a + 57.3 + np.tile([2.0, -2.0], 25)[::-1], names=("A", "B"), metric="regret"))
    assert text.startswith("A - B: regret -57.3 [-57.9, -56.")
    assert text.endswith("], 95 % paired bootstrap, n = 50")
    assert "weight 0.0120 [" in repr(paired_difference([0.512, 0.511], [0.5, 0.499], metric="weight", confidence=0.5))


def test_long_tail_makes_its_side_longer():
    d = np.random.default_rng(1).lognormal(size=40)
    c = paired_difference(d, np.zeros(40))
    assert c.high - c.mean > 1.3 * (c.mean - c.low)


def test_shift_and_scale_and_sign():
    a, b = np.random.default_rng(2).exponential(size=(2, 25))
    c, scaled = paired_difference(a, b), paired_difference(8.0 * a + 3.0, 8.0 * b + 3.0)
    assert (scaled.low, scaled.high) == pytest.approx((8.0 * c.low, 8.0 * c.high))
    swapped = paired_difference(b, a)
    assert (swapped.low, swapped.high) == pytest.approx((-c.high, -c.low))


def test_few_or_equal_replicates():
    one = paired_difference([1.0], [3.0])
    assert one.mean == -2.0
    assert np.isnan([one.low, one.high]).all()
    assert "[no interval]" in str(one)
    same = paired_difference([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert (same.low, same.mean, same.high) == (-1.0, -1.0, -1.0)
    two = paired_difference([1.0, 2.0], [0.0, 0.0])
    assert (two.low, two.high) == pytest.approx(tuple(float(bound) for bound in mean_interval([1.0, 2.0])[1:]))


@pytest.mark.parametrize(("draw", "mean", "coverage"), [("exponential", 1.0, 0.945), ("normal", 0.0, 0.952)])
@pytest.mark.parametrize("n", [10, 50])
def test_coverage(draw, mean, coverage, n):
    """As documented for skewed and for normal differences; false alarm below 1e-4 (binomial, 300 data sets)."""
    rng, sets = np.random.default_rng(7), 300
    hits = 0
    for _ in range(sets):
        c = paired_difference(getattr(rng, draw)(size=n), np.zeros(n))
        hits += c.low <= mean <= c.high
    assert hits >= stats.binom.ppf(5e-5, sets, coverage)


def test_intervals_of_a_mean_are_about_student_s():
    x = np.random.default_rng(0).normal(size=12)
    low, high = bootstrap_interval(lambda mean: mean(x), 12, resamples=20_000)
    half = 2.201 * x.std(ddof=1) / math.sqrt(12)
    assert low == pytest.approx(x.mean() - half, abs=0.25 * half)
    assert high == pytest.approx(x.mean() + half, abs=0.25 * half)
    assert all(map(math.isnan, bootstrap_interval(lambda mean: mean(x), 1)))


def test_the_interval_of_a_mean_by_brute_force():
    """Studentized and expanded percentile quantiles of the same resamples, with standard errors by their formula."""
    x = np.array([1.0, 2.0, 4.0, 8.0, 9.0, 9.5])
    level = stats.norm.cdf(-math.sqrt(6 / 5) * stats.t.ppf(0.975, 5))
    counts = np.random.default_rng(0).multinomial(6, np.full(6, 1.0 / 6.0), size=math.ceil(40.0 / level))
    drawn = np.array([np.repeat(x, row) for row in counts])
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(6)
    percentile = np.quantile(means, [level, 1.0 - level])
    known = errors > 0.0
    t = np.quantile((means - x.mean())[known] / errors[known], [0.975, 0.025])
    studentized = x.mean() - t * x.std(ddof=1) / math.sqrt(6)
    low, high = bootstrap_interval(lambda mean: mean(x), 6)
    assert low == pytest.approx(min(percentile[0], studentized[0]), rel=1e-6)
    assert high == pytest.approx(max(percentile[1], studentized[1]), rel=1e-6)


def test_intervals_of_ratios_do_not_know_units_nor_who_is_above():
    x, y = np.random.default_rng(3).gamma(4.0, 1.0, (2, 30))
    low, high = bootstrap_interval(lambda mean: mean(x) / mean(y), 30, log=True)
    scaled = bootstrap_interval(lambda mean: 5.0 * mean(x) / mean(y), 30, log=True)
    turned = bootstrap_interval(lambda mean: mean(y) / mean(x), 30, log=True)
    assert scaled == pytest.approx((5.0 * low, 5.0 * high))
    assert turned == pytest.approx((1.0 / high, 1.0 / low))


def test_statistics_without_spread_or_value():
    x = np.random.default_rng(4).normal(size=10)
    assert bootstrap_interval(lambda mean: mean(x + 1.0) - mean(x), 10) == pytest.approx((1.0, 1.0))
    assert all(map(math.isnan, bootstrap_interval(lambda mean: mean(x) * math.nan, 10)))


@pytest.mark.parametrize(("pair", "variances"), [(("lognormal", "lognormal"), False), (("normal", "normal"), True)])
def test_intervals_of_ratios_cover_them(pair, variances):
    """At most 5 % are documented on either side; more than 9.7 % of 300 has a probability below 1e-4 then, binomial."""
    told = interval_coverage.misses(*pair, 20, variances, 300)
    above, below = (float(share) for share in told.partition(" (")[0].split(" / "))
    assert max(above, below) <= 100.0 * stats.binom.ppf(1.0 - 5e-5, 300, 0.05) / 300


def test_decimals():
    numbers = [(610.0, 17.3), (10.0, 0.001), (4.2, 0.31), (0.912, 0.003), (0.912, 0.0), (0.0, 0.0), (np.inf, np.nan)]
    assert [decimals(*one) for one in numbers] == [1, 1, 2, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"a": [1.0, np.nan]}, "a"),
        ({"b": [1.0, 2.0, 3.0]}, "b"),
        ({"a": []}, "a"),
        ({"a": "word"}, "a"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_refusals_name_the_argument(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: got "):
        paired_difference(**{"a": [1.0, 2.0], "b": [0.0, 1.0]} | arguments)


def test_mean_interval_refuses_by_name():
    with pytest.raises(ValueError, match=r"^values: got "):
        mean_interval(3.0)
    with pytest.raises(ValueError, match=r"^confidence: got "):
        mean_interval([1.0], confidence=0.0)


def test_a_ratio_that_is_zero_in_some_resamples_has_an_interval_from_zero():
    few, y = np.zeros(50), np.linspace(1.0, 2.0, 50)
    assert bootstrap_interval(lambda mean: mean(few) / mean(y), 50, log=True) == (0.0, 0.0)
    few[3] = 1.0
    low, high = bootstrap_interval(lambda mean: mean(few) / mean(y), 50, log=True)
    assert low == 0.0
    assert 0.02 / 1.5 < high < 1.0
