"""The report at the paper's scale: at most 2 MB and 4,000 words, with every figure and the table of claims."""

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS, report
from banditselect.experiments.claims import Verdict
from banditselect.experiments.claims.paper import SENTENCES
from banditselect.simulation import METRICS, Result, Results
from page_reader import Reader

PAPER = {name: one for name, one in EXPERIMENTS.items() if one.of_paper}
STATISTIC = "variance within a class of {} over that of SquareCB, second best map, M = 20"


def results(experiment, regime):
    """Return results of all problems and policies of a regime, with wiggly curves of 200 checkpoints."""
    rng, found = np.random.default_rng(0), {}
    for name, problem in experiment.problems(experiment.scales["paper"].models).items():
        curves = {}
        for policy in experiment.regimes[regime].policies(problem, 2000):
            regret = np.cumsum(rng.exponential(size=(200, 4)), axis=0) * rng.uniform(0.1, 1.0)
            share = regret / regret.max() if experiment.metric != "regret" else regret
            curves[policy] = dict.fromkeys(METRICS, share)
        found[name] = Result(np.arange(10, 2001, 10), curves, {"seed": 0})
    return Results(found)


def verdicts():
    for sentence in SENTENCES:
        for name in sentence.experiments:
            for k, regime in enumerate(PAPER[name].regimes):
                said = ("holds", "does not hold", "not decided")[k % 3]
                claim = {"quote": sentence.quote, "claim": sentence.claim, "note": sentence.note}
                numbers = {"value": 0.5, "interval": (0.4, 0.6), "expected": f"at most {1 + k % 2}", "n": 100}
                words = {"statistic": STATISTIC.format(regime if k < 2 else "theory"), "place": "Section 5"}
                told = claim | numbers | words | {"policy": "OFUL, S = 10"}
                yield Verdict(id=sentence.id, experiment=name, regime=regime, verdict=said, **told)


@pytest.mark.slow
def test_the_report_of_everything_is_small(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_draw_all", lambda experiments, ran: {key: drawn(*key, ran[key]) for key in ran})
    ran = {(name, regime): results(one, regime) for name, one in PAPER.items() for regime in one.regimes}
    report.write(tmp_path, ran, list(verdicts()), experiments=PAPER, seconds=9e4, command="banditselect reproduce all")
    page = (tmp_path / "report.html").read_bytes()
    read = Reader(page.decode())
    assert len(read.sources) == 8 * 3 + 2 * 2 + 2  # the paper's figures; curves and finals of latent and ps-worst
    assert len(page) < 2e6
    assert len(read.words.split()) < 4000


def drawn(name, regime, results):
    """Return the SVG files only, which are those inside the page."""
    figures = report._drawings(PAPER[name], results)
    return {f"{one}.svg": report.figure_bytes(figure, "svg") for one, figure in figures.items()}
