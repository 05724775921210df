"""Draws the picture of the README, docs/picture.png: python docs/picture.py (two minutes)."""

from pathlib import Path

from banditselect import FSSquareCB, RegretBalancing, SquareCB, given, on_every_map, on_map, simulate
from banditselect.problems import SyntheticFeatureSelection
from banditselect.reporting import save_figure

N_MODELS = 100


def main() -> None:
    """Simulate with every argument at its default, but for range and noise of the rewards, and lambda = 1; draw."""
    scb = SquareCB.bind(reward_range=given.reward_range)
    policies = {
        "oracle: the true map known": on_map(scb, 0),
        "FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise, regularization=1.0),
        "regret balancing": RegretBalancing.bind(bases=on_every_map(scb)),
    }
    result = simulate(policies, SyntheticFeatureSelection(n_models=N_MODELS), rounds=2000, replicates=50)
    title = f"{N_MODELS} feature maps, one of them right: the price of not knowing which"
    save_figure(result.plot("regret", title=title, width="page"), Path(__file__).with_name("picture.png"))


if __name__ == "__main__":
    main()
