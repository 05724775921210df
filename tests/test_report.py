"""The report of a reproduction: from stored results and verdicts to the page, claims.json and summary.md."""

import json
import math

import numpy as np
import pytest

from banditselect import Result, Results
from banditselect.experiments import EXPERIMENTS
from banditselect.experiments.claims import Verdict
from banditselect.experiments.claims.sentences import OURS, SENTENCES
from banditselect.experiments.experiment import Experiment, Regime, Scale
from banditselect.experiments.report import (
    claims_json,
    claims_tables,
    counted,
    headlines,
    verdict_lines,
    write_report,
)
from banditselect.experiments.report.headlines import HEADLINES
from banditselect.experiments.report.sections import merged
from banditselect.experiments.report.words import summary_words
from banditselect.simulation import METRICS
from test_page import Reader

COMMAND = "banditselect reproduce 'a b' --quiet"


def experiment(name):
    return Experiment(
        name=name,
        title=f"Title of {name}",
        place="Figure 1",
        about="Title line.\n\nThe paper: ``d = 50``.\n\n* chosen <i>by us</i>\n",
        metric="regret",
        setting="feature maps M",
        problems=lambda models: {},
        regimes={regime: Regime(lambda problem, rounds: {}) for regime in ("theory", "tuned")},
        scales={"quick": Scale((2, 10), 3, 4, 2)},
        data=lambda: {"images": f"those of {name}"},
    )


def made(tuned, missing=False):
    rng = np.random.default_rng(0)
    results = {}
    for n_models in (2, 10):
        regret = {name: np.cumsum(rng.random((3, 4)), axis=0) for name in ("FS & co", "RB <x>")}
        if missing:
            regret["RB <x>"][:] = np.nan
        curves = {
            name: {m: values if m == "regret" else np.full((3, 4), np.nan) for m in METRICS}
            for name, values in regret.items()
        }
        policy = {"policy": "FSSquareCB", "arguments": {"n_models": n_models, "noise": 0.5, "horizon": None}}
        settings = {
            "problem": {"problem": "Synthetic", "arguments": {"n_models": n_models}},
            "policies": dict.fromkeys(regret, policy),
            "seed": 7,
            "versions": {"numpy": "2.4.6"},
        }
        if tuned:
            chosen = zip(regret, (0.5, 1.0), (["exploration"], []), strict=True)
            choice = {name: {"choice": {"exploration": value}, "ends": ends} for name, value, ends in chosen}
            settings["tuning"] = {
                "grid": {"exploration": [0.5, 1.0, 2.0]},
                "own": {"a": {"scale": {"start": 0.1, "factor": 10.0, "reach": 4}}},
                "replicates": [100, 102],
                "policies": choice,
            }
        results[f"M = {n_models}"] = Result(np.array([1, 2, 3]), curves, settings)
    return Results(results)


def verdict(id="fs-between", name="one", regime="theory", said="holds", **other):
    told = {
        "value": 0.5,
        "interval": (0.4, 0.6),
        "quote": f"FS | is <good> {id}",
        "n": 4,
        "statistic": "a ratio",
    } | other
    return Verdict(
        id=id,
        place="Section 5",
        experiment=name,
        regime=regime,
        expected="at most 1",
        verdict=said,
        **told,
    )


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
    verdicts = [
        verdict(),
        verdict(regime="tuned", said="does not hold"),
        verdict("x-ours", value=math.nan, interval=(-math.inf, math.nan), ours=True),
    ]
    files = write_report(folder, experiments=experiments, verdicts=verdicts, seconds=200.0, command=COMMAND)
    return folder, files


def test_what_is_written(report):
    folder, files = report
    assert [path.name for path in files[:3]] == ["report.html", "claims.json", "summary.md"]
    drawn = {path.relative_to(folder).as_posix() for path in files[3:]}
    regimes = ("one/theory", "one/tuned", "two/theory")
    assert drawn == {f"{a}/{n}.{k}" for a in regimes for n in ("curves", "finals") for k in ("png", "svg", "pdf")}
    assert all(path.stat().st_size > 0 for path in files)
    assert not list(folder.glob("**/.*"))


def test_the_page(report):
    folder, _ = report
    read = Reader((folder / "report.html").read_text())
    assert len(read.sources) == 6
    assert len(set(read.ids)) == len(read.ids)
    assert all(link[1:] in read.ids for link in read.links)
    words = " ".join(read.words.split())
    for told in (
        "2 of 3 experiments were run",
        "in the regime “theory” 1 of 1 hold, 0 fail, 0 stay open",
        "The 3 verdicts are not corrected for their number",
        "Beyond the paper: our variants, and what is published of rivals",
        "left out of all that follows: three",
        "Title of one",
        "chosen <i>by us</i>",
        "RB <x>",
        "the scale “quick”",
        "those of one",
        "mean over n = 4 replicates and Student's 95 % interval of that mean (band)",
        "1 min 2 s",
        "3 min 20 s",
        "2 cells of “tuned”, see tuned/failures.json",
        "the regime “tuned”",
        "exploration 0.5†",
        "Values tried, for every policy that has the argument: exploration: 0.5, 1, 2; scale of a: 0.1 times",
        "FSSquareCB(n_models=2 | 10, noise=0.5)",
        "numpy 2.4.6",
        COMMAND,
        "@inproceedings{moradipari2022feature",
        "@software{banditselect",
    ):
        assert told in words
    assert "Title line." not in words
    assert "exploration 1†" not in words


def test_claims_json(report):
    told = json.loads((report[0] / "claims.json").read_text())
    assert [one["id"] for one in told] == ["fs-between", "fs-between", "x-ours"]
    keys = {
        "id",
        "quote",
        "place",
        "experiment",
        "regime",
        "statistic",
        "value",
        "interval",
        "expected",
        "n",
        "verdict",
        "vacuous",
        "claim",
        "note",
        "ours",
    }
    assert all(set(one) == keys | {"arm"} for one in told)
    assert [one["regime"] for one in told] == [one["arm"] for one in told] == ["theory", "tuned", "theory"]
    assert (told[0]["value"], told[0]["interval"]) == (0.5, [0.4, 0.6])
    assert (told[2]["value"], told[2]["interval"]) == (None, [None, None])
    assert json.loads(claims_json([])) == []


def test_the_summary(report):
    text = (report[0] / "summary.md").read_text()
    assert text.startswith("# ")
    assert "| “FS \\| is &lt;good> fs-between” | ✓ holds: one | ✗ does not hold: one |" in text
    assert "## Title of two (`two`, Figure 1)" in text
    assert "tuned on M = 2: FS & co: exploration = 0.5 (the end of its values)" in text


def test_the_table_for_the_readme():
    names = ("fs-synthetic", "fs-mnist", "fs-cifar100")
    said = ("holds", "does not hold", "holds")
    verdicts = [verdict(name=name, said=s) for name, s in zip(names, said, strict=True)]
    verdicts += [verdict("late", name="latent", said="not decided", regime="tuned")]
    verdicts += [verdict("shown", name="latent", vacuous="uniform"), verdict("x", name="latent", ours=True)]
    paper, words, ours = claims_tables(verdicts)
    lines = paper.splitlines()
    assert lines[0] == "| the paper says | theory | tuned |"
    assert lines[2].endswith("| ✓ holds: fs-synthetic, fs-cifar100; ✗ does not hold: fs-mnist | – |")
    assert lines[3].endswith("| – | ? not decided: latent |")
    assert lines[4].endswith("| (✓) holds vacuously: latent | – |")
    assert len(lines) == 5
    assert words == "Beyond the paper: our variants, and what is published of rivals:"
    assert ours.splitlines()[2] == "| FS \\| is &lt;good> x | ✓ holds: latent |"


def test_words_for_the_terminal():
    verdicts = [verdict(), verdict(said="not decided", name="two"), verdict("x-ours", regime="tuned", ours=True)]
    verdicts += [verdict(name="three", vacuous="a wide bound"), verdict(said="not applicable", name="four")]
    assert counted(verdicts) == (
        "Of the verdicts on sentences of the paper, in the regime “theory” 1 of 4 hold, 1 hold vacuously, 0 fail, 1 do "
        "not apply, 1 stay open. Of those beyond the paper, in the regime “tuned” 1 of 1 hold, 0 fail, 0 stay "
        "open. "
        "The 5 verdicts are not corrected for their number: each has an interval of 95 %."
    )
    assert counted([]) == ""
    lines = verdict_lines(verdicts).splitlines()
    assert lines[0] == "“FS | is <good> fs-between” (Section 5)"
    assert lines[1] == "  ✓ holds           one, theory: a ratio: 0.50 [0.40, 0.60], expected at most 1, n = 4"
    assert lines[3].endswith("n = 4; shows nothing: a wide bound")
    assert lines[5:7] == [
        "Beyond the paper: our variants, and what is published of rivals:",
        "FS | is <good> x-ours (Section 5)",
    ]
    assert len(lines) == 8


def test_headlines():
    between, untuned = {"id": "fs-between"}, {"id": "ps-untuned-ours", "ours": True, "regime": "tuned"}
    verdicts = [verdict(**between), verdict(**between, name="two", vacuous="uniform"), verdict(**untuned)]
    verdicts += [verdict(**between, name="three", said="not applicable", statistic="premise: a ratio")]
    assert headlines(verdicts) == [
        "FS-SCB between the best and the second best map (its regret over that of the second best map): theory: holds "
        "on one 0.50 [0.40, 0.60], holds vacuously on two 0.50 [0.40, 0.60], not applicable on three.",
        "Our FS-IDS and PS-IDS, untuned, at least as good as the best tuned policy (their regret over that policy's): "
        "tuned: holds on one 0.50 [0.40, 0.60].",
    ]


def test_headlines_name_sentences_that_there_are():
    known = {sentence.id for sentence in (*SENTENCES, *OURS)}
    assert {id for ids, *_ in HEADLINES for id in ids} <= known


def test_all_experiments_of_the_paper_can_be_told():
    verdicts = [verdict(name=name) for name in EXPERIMENTS]
    told = summary_words(EXPERIMENTS, list(EXPERIMENTS), verdicts)
    assert told[0].startswith(f"All of {len(EXPERIMENTS)} experiments were run, and 1 sentence")
    assert len(told) == 1
    assert all(name in claims_tables(verdicts)[0] for name in EXPERIMENTS)


def test_nothing_was_run_or_one_policy_has_no_values(tmp_path):
    experiments = {"one": experiment("one")}
    write_report(tmp_path, experiments=experiments, verdicts=[], seconds=None, command=COMMAND)
    words = Reader((tmp_path / "report.html").read_text()).words
    assert "0 of 1 experiments were run." in words
    (tmp_path / "one" / "theory").mkdir(parents=True)
    made(False, missing=True).save(tmp_path / "one" / "theory" / "results.parquet")
    files = write_report(tmp_path, experiments=experiments, verdicts=[], seconds=None, command=COMMAND, figures=False)
    words = Reader((tmp_path / "report.html").read_text()).words
    assert len(files) == 3
    assert "nan" not in words
    assert "–" in words


def test_settings_in_words():
    inside = {"policy": "SquareCB", "arguments": {"dim": 5, "exploration": 1.0 / 3.0}}
    assert merged([{"on every map": inside}]) == "on every map: SquareCB(dim=5, exploration=0.3333)"
    assert merged([{"per replicate": [1.0, 2.0]}, {"per replicate": [3.0]}]) == "one per replicate"
    assert merged([[1, 2], [1, 2, 3, 4, 5, 6, 7]]) == "[1, 2] | [7 values]"
    assert merged([]) == ""
    other = {"policy": "OFUL", "arguments": {}}
    assert merged([inside, other]) == "SquareCB(dim=5, exploration=0.3333) | OFUL()"
