"""Write the results of a run of the paper into the pages: python docs/from_results.py out/paper (make docs).

Writes docs/figures/ and docs/results.md, and the tables between the markers of docs/learned.md. All numbers come from
the stored tables.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from banditselect.experiments import EXPERIMENTS, REGIMES, Experiment, latent
from banditselect.experiments import feature_selection as fs
from banditselect.experiments import parameter_selection as ps
from banditselect.experiments.claims import Verdict, judge
from banditselect.experiments.experiment import load_runs
from banditselect.experiments.report import finals_table, picture_captions
from banditselect.experiments.words import counted
from banditselect.problems.synthetic import EXTREMES
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.reporting.page import SIGNS
from banditselect.reporting.tables import interval, measured
from banditselect.runtime.quantiles import standard_error
from banditselect.simulation import Result, Results
from banditselect.simulation.store import write_text

DOCS = Path(__file__).parent
Found = Mapping[tuple[str, str], Results]
PAPER = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.of_paper}
SETTINGS = ("theory", "practical", "tuned")


def main(folder: Path) -> None:
    """Write everything."""
    found = load_runs(folder, PAPER)
    wanted = [(name, regime) for name, experiment in PAPER.items() for regime in experiment.regimes]
    missing = [", ".join(one) for one in wanted if one not in found]
    if missing:
        sys.exit(f"{folder} lacks {'; '.join(missing)}: run `banditselect reproduce all --scale paper` first")
    verdicts = judge(found, PAPER)
    figures = DOCS / "figures"
    figures.mkdir(exist_ok=True)
    for name, regime in found:
        drawn = "figure" if PAPER[name].shown else "curves"
        shutil.copyfile(folder / name / regime / f"{drawn}.png", figures / f"{name}-{regime}.png")
    shutil.copyfile(folder / "fs-mnist" / "practical" / "figure.svg", figures / "figure-1.svg")
    write_text(DOCS / "results.md", results_page(found, verdicts))
    learned = DOCS / "learned.md"
    text = learned.read_text()
    for marker, part in learned_parts(found, verdicts).items():
        text = replace_between(text, marker, part)
    write_text(learned, text)


def results_page(found: Found, verdicts: Sequence[Verdict]) -> str:
    """Return the page: the paper's claims in three settings, then every figure and number."""
    claims, rest = ([one for one in verdicts if bool(one.claim) == on_figure] for on_figure in (True, False))
    parts = [
        "# The paper at its own scale, in three settings",
        "`make docs` writes this page from the tables of `banditselect reproduce all --scale paper`.",
        "\n".join(f"* **{name}**: {REGIMES[name]}." for name in SETTINGS),
        "The tuned column will be run again with another tuner. Intervals are 95 %; the verdicts are not corrected for "
        "their number.",
        f"## The paper's claims on its figures\n\n{counted(claims)}",
        claims_table(claims),
        f"## Claims that depend on the setting\n\n{flips(claims)}",
        *(experiment_part(experiment, found) for experiment in PAPER.values()),
        f"## The numbers behind the claims\n\n{details(claims)}",
        f"## Theorems, latent bandits, and our variants\n\n{counted(rest)}\n\n{details(rest)}",
    ]
    return "\n\n".join(parts) + "\n"


def by_claim(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], dict[str, Verdict]]:
    """Return the verdicts by claim and experiment, and by setting."""
    rows: dict[tuple[str, str], dict[str, Verdict]] = {}
    for one in verdicts:
        rows.setdefault((one.claim, one.experiment), {})[one.regime] = one
    return rows


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return a row per claim and experiment, a column per setting."""
    rows = [
        [claim, f"{PAPER[name].place}: {name}", *(f"{SIGNS[own[s].outcome].symbol} {own[s].outcome}" for s in SETTINGS)]
        for (claim, name), own in by_claim(verdicts).items()
    ]
    return markdown_table(["claim", "where", *SETTINGS], rows)


def flips(verdicts: Sequence[Verdict]) -> str:
    """Return the claims whose verdicts differ between the practical and the tuned setting."""
    turned: dict[tuple[str, str], list[str]] = {}
    for (claim, name), own in by_claim(verdicts).items():
        kind = own["practical"].outcome, own["tuned"].outcome
        if kind[0] != kind[1]:
            turned.setdefault(kind, []).append(f"{claim} ({name})")
    lines = [
        f"* {first} with practical settings, {then} with everything tuned: {'; '.join(claims)}."
        for (first, then), claims in turned.items()
    ]
    return (
        "Claims that hold with practical settings and fail when everything is tuned rest on rivals that are not tuned."
        "\n\n" + "\n".join(lines)
    )


def details(verdicts: Sequence[Verdict]) -> str:
    """Return every verdict with its numbers."""
    rows = [
        [
            v.claim or v.quote,
            f"{v.experiment}, {v.regime}",
            "; ".join(filter(None, (v.statistic, v.note))),
            f"{measured(v.value, v.interval)} {interval(v.interval)}",
            v.expected,
            str(v.n),
            f"{SIGNS[v.outcome].symbol} {v.outcome}" + (f" ({v.vacuous})" if v.vacuous else ""),
        ]
        for v in verdicts
    ]
    head = ["claim", "on", "measured", "value and 95 % interval", "expected", "n", "verdict"]
    return markdown_table(head, rows)


def experiment_part(experiment: Experiment, found: Found) -> str:
    """Return the figures and final values of an experiment in all its settings."""
    lines = [f"## {experiment.title} ({experiment.place})"]
    for regime in experiment.regimes:
        results = found[experiment.name, regime]
        table = finals_table(experiment, results)
        caption = picture_captions(experiment, results)["figure" if experiment.shown else "curves"]
        lines += [
            f"### {experiment.title}: {regime}",
            f"![{experiment.title}, {regime}](figures/{experiment.name}-{regime}.png)",
            f"{caption}" if caption.endswith(".") else f"{caption}.",
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
    """Return final values of some policies in all settings; for images, with the fewest and the most models."""
    metric = PAPER[experiment].metric
    problems = list(found[experiment, "practical"])
    ends = problems if experiment == "ps-synthetic" else [problems[0], problems[-1]]
    columns = [(regime, problem) for regime in SETTINGS for problem in ends]
    results = {column: found[experiment, column[0]][column[1]] for column in columns}
    rows = [
        [policy, *(mean(one, policy, metric) if policy in one.curves else "–" for one in results.values())]
        for policy in policies
    ]
    return markdown_table([experiment, *(f"{regime}, {problem}" for regime, problem in columns)], rows)


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


def learned_parts(found: Found, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the tables of docs/learned.md by marker."""
    return {
        "claims": counted([one for one in verdicts if one.claim]),
        "parameter selection": table(
            found, "ps-synthetic", [ps.PS, ps.LIKELIHOOD, ps.UNTUNED, ps.OFUL_MAX, ps.ORACLE, ps.TRUE_BALL]
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
