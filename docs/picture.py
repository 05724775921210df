"""Draws the picture of the README, docs/picture.png: python docs/picture.py (two minutes)."""

from pathlib import Path

from banditselect.experiments import fs_synthetic
from banditselect.problems import SyntheticFeatureSelection
from banditselect.reporting import save_figure
from banditselect.simulation import simulate

N_MODELS = 100
SHOWN = {
    "oracle: the true map known": "SquareCB, true map known",
    "FS-SCB": "FS-SCB",
    "regret balancing": "RB-SCB",
}


def main() -> None:
    """Simulate and draw."""
    known = fs_synthetic.policies()
    policies = {label: known[name] for label, name in SHOWN.items()}
    result = simulate(policies, SyntheticFeatureSelection(n_models=N_MODELS), rounds=2000, replicates=50)
    title = f"{N_MODELS} feature maps, one of them right: the price of not knowing which"
    save_figure(result.plot("regret", title=title, width="page"), Path(__file__).with_name("picture.png"))


if __name__ == "__main__":
    main()
