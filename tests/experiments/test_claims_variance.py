"""The variance within a class: values by hand, the coverage of its intervals, and classes drawn from the problem."""

import math

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS
from banditselect.experiments import feature_selection as fs
from banditselect.experiments.claims import judge
from banditselect.experiments.claims.claim import FAILS, OPEN, Statistic, within_classes
from banditselect.simulation import Results
from results_by_hand import result

N = 40


def test_the_variance_within_classes_by_hand():
    """Class 0 has 2, 6, 7: 4 sqrt(1/2) and 3 sqrt(2/3), squares 8 + 6 = 9 + 1 + 4 about 5; class 1 has 30, 34: 8."""
    values, classes = np.array([2.0, 30.0, 6.0, 9.0, 7.0, 34.0]), np.array([0, 1, 0, 2, 0, 1])
    found = within_classes(values, classes)
    np.testing.assert_allclose(found, [math.sqrt(8.0), math.sqrt(6.0), math.sqrt(8.0)])
    alone = within_classes(values, np.zeros(6))
    assert (alone**2).mean() == pytest.approx(values.var(ddof=1))
    assert within_classes(values, np.arange(6)).size == 0


@pytest.mark.parametrize(("classes", "each"), [(20, 2), (10, 3), (10, 8)])
def test_intervals_of_variances_within_classes_cover_the_truth(classes, each):
    """Variances 4 and 1, in classes whose means differ by far more, correlated: of 300 intervals 5 % should miss."""
    rng, labels, missed = np.random.default_rng(0), np.repeat(np.arange(classes), each), 0
    for _ in range(300):
        mean, (x, y) = 30.0 * rng.normal(size=classes)[labels], rng.normal(size=(2, labels.size))
        finals = (mean + 2.0 * x, 5.0 * mean + 0.6 * x + 0.8 * y)
        a, b = (within_classes(values, labels) ** 2 for values in finals)
        found = Statistic("ratio", lambda mean, a=a, b=b: mean(a) / mean(b), log=True).measure(a.size, 0.95)
        missed += not found.interval[0] <= 4.0 <= found.interval[1]
    assert missed <= 0.08 * 300


def judged(name, problem, finals, seed):
    """Judge the final regrets of one problem; return the verdict on "fs-variance"."""
    ran = {(name, "tuned"): Results({problem: result(finals, settings={"seed": seed})})}
    return next(verdict for verdict in judge(ran, EXPERIMENTS) if verdict.id == "fs-variance")


def test_classes_are_those_of_the_problem_and_do_not_count_as_variance():
    """RB-SCB differs between classes by 100 and more; within a class it varies a tenth as much as FS-SCB."""
    problem = EXPERIMENTS["fs-mnist"].problems([20])["M = 20"]
    label = problem.draw(range(N), 7, 3).constants["label"]
    rest = np.random.default_rng(0).normal(size=N)
    finals = {fs.FS: 20.0 + rest, fs.RB: 80.0 + 100.0 * label + 0.1 * rest}
    found = judged("fs-mnist", "M = 20", finals, seed=3)
    assert (found.verdict, found.n, found.value) == (FAILS, N, pytest.approx(0.01))


def test_without_two_replicates_of_a_class_the_variance_is_not_decided():
    label = EXPERIMENTS["fs-cifar100"].problems([10])["M = 10"].draw(range(3), 1, 0).constants["label"]
    assert np.unique(label).size == 3
    found = judged("fs-cifar100", "M = 10", dict.fromkeys((fs.FS, fs.RB), np.arange(3.0)), seed=0)
    assert (found.verdict, found.n, math.isnan(found.value)) == (OPEN, 3, True)
