"""Draws the picture of the README, docs/picture.png: python docs/picture.py (a few minutes)."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from banditselect.experiments import fs_synthetic
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation import simulate

N_MODELS, ROUNDS, REPLICATES = 100, 2000, 20
SHOWN = {  # colours of Okabe and Ito, which colour-blind readers can tell apart
    "RB-SCB": ("regret balancing", "#D55E00"),
    "FS-SCB": ("FS-SCB", "#0072B2"),
    "SquareCB, true map known": ("oracle: the true map known", "#333333"),
}


def main() -> None:
    """Simulate and draw."""
    policies = {name: binding for name, binding in fs_synthetic.policies(N_MODELS).items() if name in SHOWN}
    result = simulate(policies, SyntheticFeatureSelection(n_models=N_MODELS), rounds=ROUNDS, replicates=REPLICATES)
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    places = {"RB-SCB": 0, "FS-SCB": 9, "SquareCB, true map known": -9}
    for name, (label, colour) in SHOWN.items():
        curve = result.curve(name, "regret")
        mean, error = curve.mean(axis=1), 1.96 * curve.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
        axes.plot(result.checkpoints, mean, color=colour)
        axes.fill_between(result.checkpoints, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        axes.annotate(
            label,
            (ROUNDS, mean[-1]),
            xytext=(5, places[name]),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )
    axes.set(xlabel="round", ylabel="regret", xlim=(0, ROUNDS), ylim=(0, None))
    title = f"{N_MODELS} feature maps, one of them right: the price of not knowing which"
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_name("picture.png"), dpi=150)


if __name__ == "__main__":
    main()
