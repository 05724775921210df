"""The report of a reproduction: from stored results and verdicts to the page, claims.json and summary.md."""

import json
import math

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS
from banditselect.experiments import report as reports
from banditselect.experiments.claims import Verdict
from banditselect.experiments.claims.paper import SENTENCES
from banditselect.experiments.experiment import Experiment, Regime, Scale, load_runs
from banditselect.experiments.words import claims_json, counted, figure_lines, verdict_lines
from banditselect.simulation import METRICS, Results
from page_reader import Reader
from results_by_hand import result

COMMAND = "banditselect reproduce 'a b' --quiet"


def experiment(name, place="Figure 1", **shown):
    return Experiment(
        **shown,
        name=name,
        title=f"Title of {name}",
        place=place,
        about="Title line.\n\nThe paper: ``d = 50``.\n\n* chosen <i>by us</i>\n",
        metric="regret",
        setting="feature maps M",
        problems=lambda models: {},
        regimes={regime: Regime(lambda problem, rounds: {}) for regime in ("theory", "practical", "tuned")},
        scales={"quick": Scale((2, 10), 3, 4, 2)},
    )


def made(tuned, missing=False):
    rng, results = np.random.default_rng(0), {}
    for n_models in (2, 10):
        regret = {name: np.cumsum(rng.random((3, 4)), axis=0) for name in ("FS & co", "RB <x>")}
        if missing:
            regret["RB <x>"][:] = np.nan
        policy = {"policy": "FSSquareCB", "arguments": {"n_models": n_models, "noise": 0.5, "horizon": None}}
        settings = {
            "problem": {"problem": "Synthetic", "arguments": {"n_models": n_models}},
            "policies": dict.fromkeys(regret, policy),
            "seed": 7,
            "versions": {"numpy": "2.4.6"},
        }
        if tuned:
            chosen = zip(regret, (0.5, 1.0), (["exploration"], []), strict=True)
            settings["tuning"] = {
                "grid": {"exploration": [0.5, 1.0, 2.0]},
                "own": {"a": {"scale": {"start": 0.1, "factor": 10.0, "reach": 4}}},
                "replicates": [100, 102],
                "policies": {name: {"choice": {"exploration": value}, "ends": ends} for name, value, ends in chosen},
            }
        results[f"M = {n_models}"] = result(regret, (1, 2, 3), settings)
    return Results(results)


def verdict(id="fs-between", name="one", regime="theory", said="holds", **other):
    told = {"value": 0.5, "interval": (0.4, 0.6), "quote": f"FS | is <good> {id}", "n": 4, "statistic": "a ratio"}
    known = {"id": id, "place": "Section 5", "experiment": name, "regime": regime, "verdict": said}
    return Verdict(expected="at most 1", **known, **told | other)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for regime in ("theory", "tuned"):
        (folder / "one" / regime).mkdir(parents=True)
        made(regime == "tuned").save(folder / "one" / regime / "results.parquet")
    (folder / "one" / "theory" / "cells").mkdir()
    (folder / "one" / "theory" / "timings.jsonl").write_text('{"key": "a", "seconds": 61.5}\n')
    (folder / "one" / "tuned" / "failures.json").write_text("[{}, {}]")
    (folder / "two" / "theory").mkdir(parents=True)
    made(False).save(folder / "two" / "theory" / "results.parquet")
    experiments = {name: experiment(name) for name in ("one", "two", "three")}
    for regime in ("theory", "practical"):
        (folder / "shown" / regime).mkdir(parents=True)
        made(False).save(folder / "shown" / regime / "results.parquet")
    shown = {"shown": ("FS & co", "of another M"), "added": ("RB <x>",)}
    experiments["shown"] = experiment("shown", "Figure 2, left", **shown)
    verdicts = [
        verdict(),
        verdict(regime="tuned", said="does not hold"),
        verdict(name="shown", regime="practical", claim="FS beats RB", note="a <note>"),
        verdict(name="shown", regime="theory", claim="FS beats RB", said="not decided"),
        verdict("x-ours", value=math.nan, interval=(-math.inf, math.nan), ours=True),
    ]
    ran = load_runs(folder, experiments)
    files = reports.write(folder, ran, verdicts, experiments=experiments, seconds=200.0, command=COMMAND)
    return folder, files


def test_what_is_written(report):
    folder, files = report
    assert [path.name for path in files[:3]] == ["report.html", "claims.json", "summary.md"]
    drawn = {path.relative_to(folder).as_posix() for path in files[3:]}
    regimes = ("one/theory", "one/tuned", "two/theory")
    expected = {f"{a}/{n}.{k}" for a in regimes for n in ("curves", "finals") for k in ("png", "svg", "pdf")}
    expected |= {f"shown/{regime}/figure.{k}" for regime in ("theory", "practical") for k in ("png", "svg", "pdf")}
    assert drawn == expected
    assert all(path.stat().st_size > 0 for path in files)
    assert not list(folder.glob("**/.*"))


def test_the_page(report):
    folder, _ = report
    text = (folder / "report.html").read_text()
    read = Reader(text)
    assert len(read.sources) == 8  # curves and finals of three regimes, the figure of two
    assert {"summary.md", "claims.json"} <= set(read.links)
    assert len(set(read.ids)) == len(read.ids)
    words = " ".join(read.words.split())
    for expected in (
        "The paper chooses among M feature maps",
        "With printed constants 0 of the paper's 1 claims hold, 1 is not decided.",
        "With practical settings 1 of the paper's 1 claims hold.",
        "4 replicates · 3 rounds · 3 min 20 s",
        "With practical settings the paper's order appears: FS beats RB.",
        "Figure 2, left: shown",
        "a ratio, expected at most 1; a <note>",
        "0.50 [0.40, 0.60]",
        "The dashed policies are this library's.",
        "Title of one",
        "mean over n = 4 replicates and Student's 95 % interval of that mean (band)",
        "Some cells failed: see one/tuned/failures.json.",
        "numpy 2.4.6",
        COMMAND,
        "@inproceedings{moradipari2022feature",
        "@software{banditselect",
    ):
        assert expected in words
    headings = ("<h2>Figure 2</h2>", "<h2>Title of one</h2>", "<h2>The paper's claims</h2>")
    assert sorted(headings, key=text.index) == list(headings)


def test_claims_json(report):
    told = json.loads((report[0] / "claims.json").read_text())
    assert [one["id"] for one in told] == [*["fs-between"] * 4, "x-ours"]
    keys = "id quote place experiment regime arm statistic value interval expected n verdict vacuous claim note ours"
    assert all(set(one) == {*keys.split(), "policy"} for one in told)
    regimes = ["theory", "tuned", "practical", "theory", "theory"]
    assert [one["regime"] for one in told] == [one["arm"] for one in told] == regimes
    assert (told[0]["value"], told[0]["interval"]) == (0.5, [0.4, 0.6])
    assert (told[-1]["value"], told[-1]["interval"]) == (None, [None, None])
    assert json.loads(claims_json([])) == []


def test_the_summary(report):
    text = (report[0] / "summary.md").read_text()
    assert text.startswith("# ")
    assert '| M = 10 | FS &amp; co | {"policy": "FSSquareCB", "arguments": {"n\\_models": 10, "noise": 0.5}} |' in text
    assert "## Title of two (`two`, Figure 1): theory" in text
    assert "| FS &amp; co | exploration 0.5† | exploration 0.5† |" in text
    assert "| RB &lt;x> | exploration 1.0 | exploration 1.0 |" in text
    assert "exploration: 0.5, 1.0, 2.0; scale of a: " in text
    assert "| FS beats RB | shown, practical | a ratio; a &lt;note> | 0.50 \\[0.40, 0.60] | at most 1 | 4 |" in text


def test_words_for_the_terminal():
    verdicts = [verdict(), verdict(said="not decided", name="two"), verdict("x-ours", regime="tuned", ours=True)]
    verdicts += [verdict(name="three", vacuous="a wide bound"), verdict(said="not applicable", name="four")]
    assert counted(verdicts) == (
        "With printed constants 1 of the paper's 4 claims hold, 1 hold vacuously, 1 is not applicable, 1 is not "
        "decided. With everything tuned 1 of our 1 claims hold."
    )
    assert counted([]) == ""
    lines = verdict_lines(verdicts).splitlines()
    assert lines[0] == "“FS | is <good> fs-between” (Section 5)"
    assert lines[1] == "  ✓ holds           one, theory: a ratio: 0.50 [0.40, 0.60], expected at most 1, n = 4"
    assert lines[3] == "FS | is <good> x-ours (Section 5; not a sentence of the paper)"
    assert lines[6].endswith("n = 4; shows nothing: a wide bound")
    assert len(lines) == 8


def test_a_line_for_every_figure():
    experiments = {"one": experiment("one", "Figure 1, top", shown=("a",)), "two": experiment("two", "Figure 2")}
    experiments["three"] = experiment("three", "Figure 1, bottom", shown=("a",))
    verdicts = [
        verdict(claim="A"),
        verdict(name="three", claim="A", said="not decided"),
        verdict(name="two", claim="B"),
        verdict(name="one"),
        verdict(regime="practical", claim="A"),
    ]
    assert figure_lines(experiments, verdicts) == [
        "Figure 1, practical: 1 of 1 claims hold",
        "Figure 1, theory: 1 of 2 claims hold; others: A (three: not decided)",
    ]


def test_nothing_was_run_or_one_policy_has_no_values(tmp_path):
    experiments = {"one": experiment("one")}
    reports.write(tmp_path, {}, [], experiments=experiments, seconds=None, command=COMMAND)
    words = Reader((tmp_path / "report.html").read_text()).words
    assert "No claim of the paper was checked." in words
    ran = {("one", "theory"): made(False, missing=True)}
    files = reports.write(tmp_path, ran, [], experiments=experiments, seconds=None, command=COMMAND, figures=False)
    assert len(files) == 3
    summary = (tmp_path / "summary.md").read_text()
    assert "nan" not in summary
    assert "–" in summary


def test_settings_are_shortened_where_they_are_long():
    inside = {"policy": "SquareCB", "arguments": {"dim": 5, "exploration": 1.0 / 3.0, "horizon": None}}
    assert reports._short({"on every map": inside}) == {
        "on every map": {"policy": "SquareCB", "arguments": {"dim": 5, "exploration": 0.3333}}
    }
    assert reports._short([[1, 2], [1, 2, 3, 4, 5, 6, 7]]) == [[1, 2], "7 values"]


# The size of the page at the scale of the paper


PAPER = {name: one for name, one in EXPERIMENTS.items() if one.of_paper}
STATISTIC = "variance within a class of {} over that of SquareCB, second best map, M = 20"


def results_of(experiment, regime):
    """Return results of all problems and policies of a regime, with wiggly curves of 200 checkpoints."""
    rng, found = np.random.default_rng(0), {}
    for name, problem in experiment.problems(experiment.scales["paper"].models).items():
        curves = {}
        for policy in experiment.regimes[regime].policies(problem, 2000):
            regret = np.cumsum(rng.exponential(size=(200, 4)), axis=0) * rng.uniform(0.1, 1.0)
            share = regret / regret.max() if experiment.metric != "regret" else regret
            curves[policy] = dict.fromkeys(METRICS, share)
        found[name] = result(curves, np.arange(10, 2001, 10))
    return Results(found)


def verdicts_on_figures():
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
    monkeypatch.setattr(reports, "_draw_all", lambda experiments, ran: {key: drawn(*key, ran[key]) for key in ran})
    ran = {(name, regime): results_of(one, regime) for name, one in PAPER.items() for regime in one.regimes}
    reports.write(
        tmp_path, ran, list(verdicts_on_figures()), experiments=PAPER, seconds=9e4, command="banditselect reproduce all"
    )
    page = (tmp_path / "report.html").read_bytes()
    read = Reader(page.decode())
    assert len(read.sources) == 8 * 3 + 2 * 2 + 2  # the paper's figures; curves and finals of latent and ps-worst
    assert len(page) < 2e6
    assert len(read.words.split()) < 4000


def drawn(name, regime, results):
    """Return the SVG files only, which are those inside the page."""
    figures = reports._drawings(PAPER[name], results)
    return {f"{one}.svg": reports.figure_bytes(figure, "svg") for one, figure in figures.items()}
