"""Off-policy estimates from logs and from rounds: numbers by hand, bias, coverage, refusals, warnings."""

import copy
import math
import tracemalloc
import warnings

import numpy as np
import pytest

from banditselect import (
    FSIDS,
    OFUL,
    Agent,
    FSSquareCB,
    LinIDS,
    LinMED,
    LinTS,
    SquareCB,
    Uniform,
    on_map,
)
from banditselect.checks.game import Game
from banditselect.logs import Log, Round, evaluate
from banditselect.runtime.shapes import stacked
from blocks_by_hand import Traffic
from logs_by_hand import ARMS, ITEMS, THETA, Logistic, Wide, Z, by_weight, drawn, softmax, two_maps, visits
from policies_under_check import NAMES, POLICIES


def by_hand():
    """Weights 0.5/0.5, 0.2/0.4, 0.5/0.25, 0.8/0.4 = 1, 0.5, 2, 2."""
    log = Log(
        features=np.ones((4, 2, 1)),
        action=[0, 1, 1, 0],
        propensity=[0.5, 0.4, 0.25, 0.4],
        reward=[1.0, 2.0, 0.0, 3.0],
    )
    return log, np.array([[0.5, 0.5], [0.8, 0.2], [0.5, 0.5], [0.8, 0.2]])


# By hand


def test_four_decisions_by_hand():
    log, p = by_hand()
    q = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    found = evaluate(p, log, predictions=q)
    # w r = 1, 1, 0, 6; variance (1 + 1 + 4 + 16) / 3
    assert found.ips.estimate == pytest.approx(2.0)
    assert found.ips.high - 2.0 == pytest.approx(Z * math.sqrt(22.0 / 3.0) / 2.0)
    assert 2.0 - found.ips.low == pytest.approx(found.ips.high - 2.0)
    # 8 / 5.5; residuals w (r - 16/11) = -5/11, 3/11, -32/11, 34/11
    assert found.snips.estimate == pytest.approx(16.0 / 11.0)
    residuals = math.sqrt((25 + 9 + 1024 + 1156) / 121)
    assert found.snips.high - 16.0 / 11.0 == pytest.approx(Z * math.sqrt(4.0 / 3.0) * residuals / 5.5)
    # direct 0.5, 1.8, 1, 1.6; corrections 1*0, 0.5*1, 2*(-1), 2*1: terms 0.5, 2.3, -1, 3.6
    assert found.dr.estimate == pytest.approx(1.35)
    assert found.dr.high - 1.35 == pytest.approx(Z * math.sqrt((0.7225 + 0.9025 + 5.5225 + 5.0625) / 3.0) / 2.0)
    assert (found.n, found.mean_reward, found.largest_weight) == (4, 1.5, 2.0)
    assert found.mean_weight == pytest.approx(5.5 / 4.0)
    assert found.effective_sample_size == pytest.approx(5.5**2 / 9.25)
    assert str(found).startswith("ips    2 [-0.6538, 4.654]\nsnips  1.455 [")


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_asked_for_all_decisions_at_once_as_one_by_one(name, masked):
    policy = POLICIES[name][0](lanes=None, seed=0)
    if not policy.has_propensity:
        pytest.skip("it has no probabilities")
    game, rng = Game(policy, range(1)), np.random.default_rng(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(30):
            decision = policy.act(game.shown(game.features()))
            policy.update(decision, rng.uniform())
    maps = [np.concatenate(part) for part in zip(*(game.features() for _ in range(20)), strict=True)]
    available = rng.uniform(size=(20, game.n_actions)) < (0.5 if masked else 1.0)
    available[:, 0] = True
    log = Log(
        features=game.in_blocks(maps) if game.many else game.in_blocks(maps)[0],
        action=np.zeros(20, dtype=int),
        propensity=0.5,
        reward=np.zeros(20),
        available=available,
    )
    features = stacked(log.features.shown(np.arange(20)), log.features.many, axis=1)
    at_once = policy.probabilities_many(features, available=available)
    for t in range(20):
        alone = policy.probabilities(game.shown([m[t : t + 1] for m in maps]), available=available[t])
        np.testing.assert_allclose(at_once[t], alone, rtol=0.0, atol=1e-12)


def test_clipped_weights_by_hand():
    log, p = by_hand()
    found = evaluate(p, log, clip=1.0, predictions=np.zeros((4, 2)))  # weights 1, 0.5, 1, 1
    assert found.ips.estimate == found.dr.estimate == pytest.approx(5.0 / 4.0)
    assert found.snips.estimate == pytest.approx(5.0 / 3.5)
    assert found.largest_weight == 1.0


def test_delta_sets_the_width():
    log, p = by_hand()
    wide, narrow = (found.ips.high - found.ips.low for found in (evaluate(p, log, delta=d) for d in (0.01, 0.32)))
    assert wide / narrow == pytest.approx(2.5758293035489 / 0.9944578832097532)


def test_the_logging_policy_itself_has_weights_one():
    policy, rng = SquareCB(dim=3), np.random.default_rng(0)
    for x in rng.normal(size=(50, 3)):
        policy.learn(x, float(np.clip(x @ THETA, 0.0, 1.0)))
    offers = list(rng.normal(size=(200, 4, 3)))
    log = Log.collect(offers, [policy.act(x) for x in offers], rng.uniform(size=200))
    found = evaluate(policy, log)
    assert found.mean_weight == found.largest_weight == pytest.approx(1.0)
    assert found.effective_sample_size == pytest.approx(200.0)
    assert (found.ips.estimate, found.snips.estimate) == pytest.approx((found.mean_reward,) * 2)


def test_constant_rewards():
    log, _ = drawn(np.random.default_rng(1), 300, greed=1.0)
    constant = Log(features=log.features, action=log.action, propensity=log.propensity, reward=np.full(300, 0.7))
    found = evaluate(softmax(-np.arange(1200.0).reshape(300, 4) % 3), constant)
    for estimate in (found.snips, found.dr):
        assert (estimate.estimate, estimate.low, estimate.high) == pytest.approx((0.7, 0.7, 0.7))
    assert found.ips.low < found.ips.estimate < found.ips.high


# Bias and coverage


@pytest.mark.parametrize("wrong", [False, True], ids=["right model", "wrong model"])
def test_ips_and_dr_are_unbiased(wrong):
    """At 4.5 standard errors, four tests, false alarm 3e-5; dr also where the predictions are nonsense.

    A bias of a twentieth of that of the mean of the log would be seen.
    """
    differences, off = [], []
    for seed in range(1000):
        log, means = drawn(np.random.default_rng((1, seed)), 200, greed=1.0)
        p = softmax(-means)
        found = evaluate(p, log, predictions=np.sin(9.0 * means) if wrong else None, seed=seed)
        truth = (p * means).sum(axis=1).mean()
        differences.append([found.ips.estimate - truth, found.dr.estimate - truth])
        off.append(found.mean_reward - truth)
    error = np.std(differences, axis=0) / math.sqrt(len(differences))
    assert (np.abs(np.mean(differences, axis=0)) < 4.5 * error).all()
    assert (4.5 * error < 0.05 * np.mean(off)).all()


def test_intervals_cover_and_dr_is_narrower():
    """800 logs; three intervals of coverage 0.95: false alarm 3 (2.1e-5 + 1e-5), by the binomial distribution."""
    covered, widths = [], []
    for seed in range(800):
        log, means = drawn(np.random.default_rng((4, seed)), 400, greed=0.0, constant=0.5)
        p = softmax(2.0 * means)
        found = evaluate(p, log, seed=seed)
        parts = (found.ips, found.snips, found.dr)
        covered.append([part.low <= VALUE <= part.high for part in parts])
        widths.append([part.high - part.low for part in parts])
    coverage, width = np.mean(covered, axis=0), np.mean(widths, axis=0)
    assert (coverage > 0.915).all()
    assert (coverage < 0.98).all()
    assert width[2] < 0.75 * width[1] < 0.75 * width[0]


def _value():
    """The value of softmax(2 means) in the test above, by 500,000 contexts: standard error 6e-4, half-widths 0.06."""
    means = np.random.default_rng(5).normal(size=(500_000, 4, 3)) @ THETA + 0.5
    return float((softmax(2.0 * means) * means).sum(axis=1).mean())


VALUE = _value()


def test_a_policy_on_one_map_is_asked_on_that_map_alone():
    two, log, _ = two_maps(60)
    fresh = SquareCB(dim=3, exploration=4.0, reward_range=(-9.0, 9.0))
    alone, among = copy.deepcopy(fresh), on_map(fresh, 1)
    for t in range(30):
        alone.learn(log.played(t), log.reward[t])
        among.learn(two.played(t), log.reward[t])
    for progressive in (False, True):
        wanted = evaluate(alone, log, progressive=progressive)
        assert evaluate(among, two, progressive=progressive, map=1) == wanted
    for index in (0, 2):  # which has two features; which is not there
        with pytest.raises(ValueError, match="features"):
            evaluate(on_map(fresh, index), two)


# Policies


def test_a_policy_a_function_and_an_array_agree():
    log, _ = drawn(np.random.default_rng(10), 60, greed=0.5)
    policy = SquareCB(dim=3, reward_range=(-3.0, 3.0))
    for x in np.eye(3):
        policy.learn(x, 0.5)
    before = policy.rounds, policy.parameters
    p = np.array([policy.probabilities(log.offers(t)) for t in range(60)])
    assert evaluate(policy, log) == evaluate(p, log) == evaluate(policy.probabilities, log)
    evaluate(policy, log, progressive=True)
    assert policy.rounds == before[0]
    np.testing.assert_array_equal(policy.parameters, before[1])


@pytest.mark.parametrize("kind", ["maps", "ragged"])
def test_progressive_learning_asks_first_and_learns_then(kind):
    log, means = drawn(np.random.default_rng(11), 80, greed=0.5, constant=0.5)
    x = log.features.features[0]
    rest = {"action": log.action, "propensity": log.propensity, "reward": np.clip(log.reward, 0.0, 1.0)}
    if kind == "maps":
        log, fresh = Log(features=[x, x[..., :2]], **rest), lambda: FSSquareCB(n_models=2, dim=[3, 2])
    else:
        mask = np.random.default_rng(12).uniform(size=(80, 4)) < 0.6
        mask[np.arange(80), log.action] = True
        p = softmax(np.where(mask, 0.5 * means, -np.inf))
        rest["propensity"] = p[np.arange(80), log.action]
        log, fresh = Log(features=x, available=mask, **rest), lambda: SquareCB(dim=3)
    by_hand, p = fresh(), np.zeros((80, 4))
    for t in range(80):
        features = [m[t] for m in log.features.features]
        mask = np.ones(4, dtype=bool) if log.available is None else log.available[t]
        p[t] = by_hand.probabilities(features if kind == "maps" else features[0], available=mask)
        by_hand.learn(log.played(t), log.reward[t])
    mine, hand = evaluate(fresh(), log, progressive=True), evaluate(p, log)
    assert (mine.ips.estimate, mine.dr.low) == pytest.approx((hand.ips.estimate, hand.dr.low), rel=1e-12)
    assert mine != evaluate(fresh(), log)


def test_a_learner_beats_its_log_progressively():
    """The gain over uniform logging is more than 10 standard errors."""
    log, _ = drawn(np.random.default_rng(13), 1500, greed=0.0, constant=0.5)
    policy = SquareCB(dim=3, reward_range=(-3.0, 4.0))
    found = evaluate(policy, log, progressive=True)
    assert found.dr.low > found.mean_reward + 0.2
    assert evaluate(Uniform(), log).ips.estimate == pytest.approx(found.mean_reward)
    assert evaluate(OFUL(dim=3, parameter_bound=1.0), log, progressive=True).largest_weight <= 4.0  # deterministic


# Warnings and refusals


def test_wrong_propensities_are_warned_of():
    log, _ = drawn(np.random.default_rng(15), 2000, greed=1.5)
    p = np.full((2000, 4), 0.25)
    evaluate(p, log)
    wrong = Log(features=log.features, action=log.action, propensity=log.propensity**0.5, reward=log.reward)
    with pytest.warns(RuntimeWarning, match=r"importance weights have mean 0\.\d+, more than 5 standard errors"):
        evaluate(p, wrong)


def test_missing_support_is_warned_of():
    rng = np.random.default_rng(16)
    log = Log(
        features=rng.normal(size=(100, 3, 2)),
        action=rng.integers(0, 2, 100),
        propensity=np.full(100, 0.5),
        reward=rng.uniform(size=100),
    )
    with pytest.warns(RuntimeWarning, match="plays what could not be logged"):
        evaluate(np.full((100, 3), 1 / 3), log)
    with pytest.warns(RuntimeWarning, match="mean 0, more"):
        found = evaluate(np.tile([0.0, 0.0, 1.0], (100, 1)), log)
    assert math.isnan(found.snips.estimate)
    assert found.effective_sample_size == 0.0


LOG, P = by_hand()
MENU = [[True, True]] * 2 + [[True, False]] * 2
OFFERED = Log(features=np.ones((4, 2, 1)), action=[0] * 4, propensity=1.0, reward=[1.0] * 4, available=MENU)
LOGGED = list(by_weight(9))
HALF = lambda context, items: [0.5, 0.5]  # noqa: E731


@pytest.mark.parametrize(
    ("target", "log", "arguments", "message"),
    [
        (LinTS(dim=1), LOG, {}, "target: got 'LinTS', expected a policy whose probabilities"),
        (SquareCB(dim=1, lanes=2), LOG, {}, "target: got '2 lanes', expected a policy without lanes"),
        (P, LOG, {"progressive": True}, "progressive: got True, expected False: this target does not learn"),
        (P, LOG, {"progressive": 1}, "progressive: got 1, expected True or False"),
        (SquareCB, LOG, {}, "target: got .*a policy that is built"),
        (Logistic(), LOG, {}, "log: got Log.*, expected rounds of records for an agent"),
        (SquareCB(dim=1), LOGGED, {}, r"log: got .*Log.from_rounds\(rounds, maps\)"),
        (P[:3], LOG, {}, r"target: got .*expected probabilities of shape \(4, 2\)"),
        (0.9 * P, LOG, {}, r"target\[0\]: got array\(\[0.45, 0.45\]\), expected probabilities that sum to 1"),
        (lambda x: [1.0], LOG, {}, "target at decision 0: got .*, expected 2 probabilities"),
        (lambda x: [1.5, -0.5], LOG, {}, "target at decision 0: got"),
        (P, LOG[:1], {}, "log: got .*, expected at least 2 decisions, not 0"),
        (P, LOG, {"clip": 0}, "clip: got 0"),
        (P, LOG, {"delta": 1.0}, "delta: got 1.0"),
        (P, LOG, {"folds": 1}, "folds: got 1"),
        (P, LOG, {"predictions": np.ones(4)}, "predictions: got"),
        (P, LOG, {"predictions": np.full((4, 2), np.nan)}, "predictions: got"),
        (np.full((4, 2), 0.5), OFFERED, {}, r"target\[2\]: got .*, and 0 for what was not offered"),
        (Logistic(), LOGGED[:1], {}, "log: got .*, expected at least 2 decisions, not 1"),
        (Logistic(), [], {}, "log: got .*, not 0"),
        (lambda c, i: [0.5], LOGGED, {}, "target at round 0: got .*2 probabilities that sum"),
        (lambda c, i: [0.5, 0.6], LOGGED, {}, "target at round 0: got .*2 probabilities"),
        (lambda c, i: None, LOGGED, {}, "target at round 0: got None"),
        (np.full((3, 2), 0.5), LOGGED, {}, "target at round 3: got None"),
        (HALF, LOGGED, {"progressive": True}, "progressive: got True, expected False: this target"),
        (HALF, LOGGED, {"predictions": lambda c, i: [math.nan, 1.0]}, "predictions at round 0: got .*2 finite numbers"),
    ],
)
def test_refusals_name_the_argument(target, log, arguments, message):
    with pytest.raises(ValueError, match=f"(?s)evaluate: {message}"):
        evaluate(target, log, **arguments)


# Maps with several blocks of parameters.


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("progressive", [False, True])
def test_blocks_are_judged_as_the_wide_features_that_they_stand_for(many, progressive):
    """A log of a policy with blocks, written with ``collect``, and the same log of wide features."""
    dims, blocks = ((2, 3), (4, 1)) if many else ((2,), (4,))
    traffic = Traffic(dims, blocks, None, seed=1)
    divided = {"n_models": 2, "dim": dims, "blocks": blocks} if many else {"dim": 2, "blocks": 4}
    widths = [d * B for d, B in zip(dims, blocks, strict=True)]
    whole = {"n_models": 2, "dim": widths} if many else {"dim": 8}
    serving, offers, dense, decisions, rewards = (FSSquareCB if many else SquareCB)(**divided), [], [], [], []
    for _ in range(60):
        values, block = traffic.draw()
        offers.append(traffic.shown(values, block))
        dense.append(traffic.wide(values, block, False))
        decisions.append(serving.act(offers[-1]))
        rewards.append(float(traffic.reward(values, block, decisions[-1].action)[0]))
    log = Log.collect(offers, decisions, rewards)
    pad = lambda m: np.pad(m, [(0, log.features.n_actions - len(m)), (0, 0)])  # noqa: E731
    maps = [np.stack([pad(x[i]) for x in dense]) for i in range(2)] if many else np.stack([pad(x) for x in dense])
    wide = Log(features=maps, **{name: getattr(log, name) for name in ("action", "propensity", "reward", "available")})
    for policy in (FSIDS,) if many else (LinIDS, SquareCB):
        ours, theirs = policy(**divided, intercept=False), policy(**whole, intercept=False)
        for t in range(30):
            ours.learn(log.played(t), rewards[t])
            theirs.learn(wide.played(t), rewards[t])
        pairs = ((ours, log), (theirs, wide), (theirs, log))
        found = [evaluate(judged, some, progressive=progressive) for judged, some in pairs]
        for name in ("ips", "snips", "dr"):
            estimates = [getattr(one, name).estimate for one in found]
            np.testing.assert_allclose(estimates, estimates[0], rtol=1e-9)
    assert log[10:20].features.blocks == log.features.blocks or not many
    np.testing.assert_array_equal(log.offers(3)[0] if many else log.offers(3), dense[3][0] if many else dense[3])
    with pytest.raises(ValueError, match="does not have the features"):
        Log.collect(offers[1:] + offers[:1], decisions, rewards)


# Rounds of records


def as_log(rounds):
    rounds = list(rounds)
    columns = {name: [getattr(r, name) for r in rounds] for name in ("action", "reward")}
    log = Log(features=np.ones((len(rounds), 2, 1)), propensity=[r.probability for r in rounds], **columns)
    return log, np.array([Logistic().probabilities(r.context, ITEMS) for r in rounds]), rounds


@pytest.mark.parametrize("clip", [None, 1.5])
@pytest.mark.parametrize("n", [2, 999, 1000, 2500])
@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_rounds_are_evaluated_as_an_array_is(n, clip, shift):
    log, p, rounds = as_log(by_weight(n, shift=shift))

    def model(context, items):
        return [shift, shift + 0.5 * context["x"]]

    q = np.array([model(r.context, ITEMS) for r in rounds])
    found = evaluate(Logistic(), by_weight(n, shift=shift), predictions=model, clip=clip, delta=0.1)
    same = evaluate(Logistic().probabilities, rounds, predictions=model, clip=clip, delta=0.1)
    assert found == same
    w = p[np.arange(n), log.action] / log.propensity
    w = w if clip is None else np.minimum(w, clip)
    z, y, scale = 1.6448536269514722, log.reward, 1.0 + shift
    for name, terms in {"ips": w * y, "dr": (p * q).sum(axis=1) + w * (y - q[np.arange(n), log.action])}.items():
        estimate = getattr(found, name)
        assert estimate.estimate == pytest.approx(terms.mean(), abs=1e-9 * scale)
        half = z * terms.std(ddof=1) / math.sqrt(n)
        assert estimate.high - estimate.estimate == pytest.approx(half, rel=1e-6, abs=1e-8 * scale)
    ratio = (w @ y) / w.sum()
    assert found.snips.estimate == pytest.approx(ratio, abs=1e-9 * scale)
    half = z * math.sqrt(n / (n - 1) * ((w * (y - ratio)) ** 2).sum()) / w.sum()
    assert found.snips.high - ratio == pytest.approx(half, rel=1e-6, abs=1e-8 * scale)
    assert found.effective_sample_size == pytest.approx(w.sum() ** 2 / (w @ w))
    assert (found.n, found.largest_weight) == (n, w.max())
    array = evaluate(p, log, predictions=q, clip=clip, delta=0.1)
    assert evaluate(p, rounds, predictions=model, clip=clip, delta=0.1) == found
    assert found.dr.estimate == pytest.approx(array.dr.estimate, abs=1e-9 * scale)
    assert found.snips.low == pytest.approx(array.snips.low, abs=1e-8 * scale)


def test_the_mean_of_the_rewards_before_is_the_model_of_dr():
    rounds = [Round({}, ITEMS, 0, 4.0, 0.5), Round({}, ITEMS, 1, 2.0, 0.5), Round({}, ITEMS, 1, 9.0, 0.25)]
    found = evaluate(lambda context, items: [0.25, 0.75], rounds)
    # weights 1/2, 3/2, 3; models 0, 4, 3: terms 0 + 2, 4 - 3, 3 + 18
    assert found.dr.estimate == pytest.approx(24.0 / 3.0)
    assert found.dr.high - 8.0 == pytest.approx(Z * math.sqrt((36.0 + 49.0 + 169.0) / 2.0 / 3.0))
    assert found.ips.estimate == pytest.approx((2.0 + 3.0 + 27.0) / 3.0)


def test_a_copy_learns_after_it_was_asked():
    agent, rounds = Logistic(), list(by_weight(3))
    found = evaluate(agent, rounds, progressive=True)
    assert agent.learned == []
    terms = []
    for t, r in enumerate(rounds):
        p = 1.0 / (1.0 + math.exp(-r.context["x"] - 0.1 * t))
        terms.append((p if r.action else 1.0 - p) / r.probability * r.reward)
    assert found.ips.estimate == pytest.approx(np.mean(terms))


def test_memory_does_not_grow_with_the_rounds():
    def peak(n):
        tracemalloc.start()
        evaluate(Logistic(), by_weight(n))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1500)
    assert peak(10_000) < peak(1500) + 100_000


def test_agents_with_a_block_per_item_are_evaluated_as_one_wide_parameter():
    wide = LinMED(dim=8, intercept=False, seed=(3, 0))
    agent, by_hand = Agent(maps={"arms": ARMS}, policy=LinMED.bind(intercept=False), seed=3), Wide(wide)
    for one in (agent, by_hand):
        for r in visits(60):
            one.learn(r.context, r.items[r.action], r.reward)
    for progressive in (False, True):
        found, wanted = (evaluate(one, visits(300, seed=1), progressive=progressive) for one in (agent, by_hand))
        for name in ("ips", "snips", "dr"):
            assert getattr(found, name).estimate == pytest.approx(getattr(wanted, name).estimate, rel=1e-9)
    np.testing.assert_allclose(agent.policy.parameters[0].ravel(), wide.parameters, rtol=1e-9, atol=1e-12)
