"""Draw the picture of the README, docs/picture.png: python docs/picture.py (under a minute)."""

from pathlib import Path

from banditselect import FSIDS, FSSquareCB, LinIDS, RegretBalancing, SquareCB, given, on_every_map, on_map, simulate
from banditselect.experiments.packs import load_pack
from banditselect.problems import Classification
from banditselect.reporting import save_figure


def main() -> None:
    """Play every policy at its defaults on 50 tasks made of MNIST images, each image encoded in 20 ways.

    The encodings are the outputs of one network after different amounts of training. The policies that need the range
    or the noise of the rewards are given it. The regrets are printed, also those of a harder problem, which is not
    drawn: clicks with chance .9 for the target digit and .1 for all others, linear in no encoding.
    """
    pack = load_pack("fs-mnist")
    linear = Classification(features=pack.maps, labels=pack.labels, parameters=pack.parameters)
    clicks = Classification(features=pack.maps, labels=pack.labels, reward="label")
    scb = SquareCB.bind(reward_range=given.reward_range)
    policies = {
        "regret balancing": RegretBalancing.bind(bases=on_every_map(scb)),
        "LinIDS given the second best map": on_map(LinIDS.bind(), 1),
        "FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
        "SquareCB given the right map": on_map(scb, 0),
        "FS-IDS": FSIDS.bind(),
        "LinIDS given the right map": on_map(LinIDS.bind(), 0),
    }
    result = simulate(policies, linear, rounds=2000, replicates=50)
    title = "MNIST, 20 feature maps, one of them right: lower is better"
    save_figure(result.plot("regret", title=title, width="page"), Path(__file__).with_name("picture.png"))
    print(result.summary(), simulate(policies, clicks, rounds=2000, replicates=50).summary(), sep="\n\n")


if __name__ == "__main__":
    main()
