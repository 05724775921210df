"""Puts what a run of the paper showed into the pages: python docs/from_results.py out/paper (make docs).

Writes docs/figures/ and docs/results.md, and what stands between the markers of README.md and docs/learned.md. All
numbers come from the stored tables.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from banditselect.experiments import EXPERIMENTS, REGIMES, Experiment, latent
from banditselect.experiments import fs_shared as fs
from banditselect.experiments import ps_shared as ps
from banditselect.experiments.claims import Verdict, judge
from banditselect.experiments.experiment import stored
from banditselect.experiments.ps_synthetic import INDIVIDUAL
from banditselect.experiments.report import counted, finals_table, headlines, picture_captions, shown, split
from banditselect.experiments.report.words import VARIANTS
from banditselect.problems.synthetic import EXTREMES
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.reporting.numbers import interval, measured
from banditselect.simulation import Result, Results
from banditselect.simulation.store import write_text
from banditselect.statistics import standard_error

DOCS = Path(__file__).parent
Found = Mapping[tuple[str, str], Results]
PAPER = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.of_paper}


def main(folder: Path) -> None:
    """Write everything."""
    found = {(experiment.name, regime): results for experiment, regime, results in stored(folder, PAPER)}
    wanted = [(name, regime) for name, experiment in PAPER.items() for regime in experiment.regimes]
    missing = [", ".join(one) for one in wanted if one not in found]
    if missing:
        sys.exit(f"{folder} lacks {'; '.join(missing)}: run `banditselect reproduce all --scale paper` first")
    verdicts = judge(folder, PAPER)
    figures = DOCS / "figures"
    figures.mkdir(exist_ok=True)
    for name, regime in found:
        shutil.copyfile(folder / name / regime / "curves.png", figures / f"{name}-{regime}.png")
    shutil.copyfile(folder / "fs-mnist" / "tuned" / "finals.svg", figures / "fs-mnist-finals.svg")
    write_text(DOCS / "results.md", results_page(found, verdicts))
    readme = DOCS.parent / "README.md"
    write_text(readme, replace_between(readme.read_text(), "claims", claims_part(verdicts)))
    learned = DOCS / "learned.md"
    text = learned.read_text()
    for marker, part in learned_parts(found).items():
        text = replace_between(text, marker, part)
    write_text(learned, text)


def claims_part(verdicts: Sequence[Verdict]) -> str:
    """Return the short version of the README: the counts, and a sentence for each main result."""
    return "\n".join([f"{counted(verdicts)}\n", *(f"* {words}" for words in headlines(verdicts))])


def results_page(found: Found, verdicts: Sequence[Verdict]) -> str:
    """Return the page with all figures and verdicts."""
    printed, ours = split(verdicts)
    parts = [
        "# The paper at its own scale: figures, numbers, verdicts",
        "Made by `make docs` from the tables of `banditselect reproduce all --scale paper`; no number here is typed. "
        "The same run writes `report.html`, which has the settings and the tuned values too.",
        f"## Verdicts on the paper's sentences\n\n{counted(verdicts)}",
        details(printed, "the paper says", "“{}” ({})"),
        f"## {VARIANTS}\n\n{details(ours, 'what is measured', '{} ({})')}",
        *(experiment_part(experiment, found) for experiment in PAPER.values()),
    ]
    return "\n\n".join(parts) + "\n"


def details(verdicts: Sequence[Verdict], heading: str, title: str) -> str:
    """Return every verdict with its numbers; ``title``: how a sentence and its place are written."""
    rows = [
        [
            title.format(v.quote, v.place),
            f"{v.experiment}, {v.regime}",
            v.statistic,
            f"{measured(v.value, v.interval)} {interval(v.interval)}",
            v.expected,
            str(v.n),
            shown(v),
        ]
        for v in verdicts
    ]
    head = [heading, "on", "measured", "value and 95 % interval", "expected", "n", "verdict"]
    return markdown_table(head, rows)


def experiment_part(experiment: Experiment, found: Found) -> str:
    """Return the figures and final values of an experiment."""
    lines = [f"## {experiment.title} ({experiment.place})"]
    for regime in experiment.regimes:
        results = found[experiment.name, regime]
        table = finals_table(experiment, results)
        lines += [
            f"**{regime}**: {REGIMES[regime]}. Figure: {picture_captions(experiment, results)['curves']}.",
            f"![{experiment.title}, {regime}](figures/{experiment.name}-{regime}.png)",
            f"{table.caption}.",
            markdown_table(table.head, table.rows),
        ]
    return "\n\n".join(lines)


def mean(result: Result, policy: str, metric: str) -> str:
    """Return mean and standard error in words."""
    values = result.final(policy, metric)
    digits = 3 if metric == "mean_reward" else 1
    return f"{values.mean():.{digits}f} ± {standard_error(values):.{digits}f}"


def table(found: Found, experiment: str, policies: Sequence[str]) -> str:
    """Return final values of some policies in both regimes."""
    metric = PAPER[experiment].metric
    regimes = list(PAPER[experiment].regimes)
    problems = [problem for problem in found[experiment, regimes[-1]] if problem in found[experiment, regimes[0]]]
    head = [experiment, *(f"{regime}, {problem}" for regime in regimes for problem in problems)]
    rows = [
        [policy]
        + [
            mean(found[experiment, regime][problem], policy, metric)
            if policy in found[experiment, regime][problem].curves
            else "–"
            for regime in regimes
            for problem in problems
        ]
        for policy in policies
    ]
    return markdown_table(head, rows)


def latent_table(found: Found, regime: str) -> str:
    """Return the regrets on latent bandits, a line per problem."""
    policies = [latent.ORACLE, latent.PRINTED, latent.SOURCE, latent.UCB, latent.OPTIMISM, latent.SAMPLING]
    policies += [ps.PS, ps.LIKELIHOOD, ps.UNTUNED]
    rows = [
        [problem, *(mean(result, policy, "regret") if policy in result.curves else "–" for policy in policies)]
        for problem, result in found["latent", regime].items()
    ]
    return markdown_table([f"latent, {regime}", *policies], rows)


def worst_table(found: Found) -> str:
    """Return the mean over sets of balls of the largest regret at a parameter, beside the mean over parameters."""
    rows = []
    for problem, result in found["ps-worst", "theory"].items():
        for policy in (ps.PS, ps.LIKELIHOOD):
            regrets = result.final(policy, "regret")
            regrets = regrets[: regrets.size // EXTREMES * EXTREMES].reshape(-1, EXTREMES)
            worst = regrets.max(axis=1)
            both = [f"{v.mean():.1f} ± {standard_error(v):.1f}" for v in (regrets.mean(axis=1), worst)]
            rows.append([problem, policy, *both, f"{worst.size}"])
    return markdown_table(
        ["ps-worst", "policy", f"mean of {EXTREMES} parameters", "the largest", "sets of balls"], rows
    )


def learned_parts(found: Found) -> dict[str, str]:
    """Return the tables of docs/learned.md by marker."""
    return {
        "parameter selection": table(
            found, "ps-synthetic", [ps.PS, ps.LIKELIHOOD, ps.UNTUNED, INDIVIDUAL, ps.ORACLE, ps.TRUE_BALL]
        ),
        "feature selection": "\n\n".join(
            table(
                found,
                name,
                [fs.BEST, fs.FS, fs.PROVED, fs.NOISE_AWARE, fs.OPTIMISTIC, fs.UNTUNED, fs.RB, fs.SECOND],
            )
            for name in ("fs-synthetic", "fs-mnist", "fs-cifar100")
        ),
        "images": "\n\n".join(
            table(
                found,
                name,
                [ps.PS, ps.LIKELIHOOD, ps.NARROW, ps.UNTUNED, ps.RB, ps.INDIVIDUAL, ps.ORACLE, ps.TRUE_BALL],
            )
            for name in ("ps-mnist", "ps-cifar10", "ps-mnist-coarse")
        ),
        "latent": "\n\n".join(latent_table(found, regime) for regime in PAPER["latent"].regimes),
        "worst": worst_table(found),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper"))
