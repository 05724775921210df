"""Fill results.md and learned.md, or arena.md, from stored results: ``python -m docs.fill out/paper`` (make docs).

All numbers come from the stored tables of ``banditselect reproduce``; the prose of the pages is written in them.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from banditselect.experiments import EXPERIMENTS, latent, ranking
from banditselect.experiments import feature_selection as fs
from banditselect.experiments import parameter_selection as ps
from banditselect.experiments.beyond import arena
from banditselect.experiments.beyond.arena_policies import everyone
from banditselect.experiments.claims import Verdict, judge
from banditselect.experiments.experiment import load_runs
from banditselect.experiments.report import finals_table
from banditselect.experiments.words import counted
from banditselect.problems.synthetic import EXTREMES
from banditselect.reporting.page import SIGNS
from banditselect.reporting.tables import NOTHING, duration, interval, measured
from banditselect.simulation import Result, Results
from banditselect.simulation.store import Store
from benchmarks.arena.experiments import EXPERIMENTS as PUBLISHED
from benchmarks.arena.sentences import SENTENCES
from benchmarks.pages import DOCS, fill, markdown_table, spread

Found = Mapping[tuple[str, str], Results]  #: by experiment and setting
Groups = Mapping[str, Mapping[str, ranking.Finals]]  #: of the arena: by setting and group
PAPER = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.of_paper}
SETTINGS = ("theory", "practical", "tuned")
RANKING = arena.EXPERIMENT.ranking


def main(folder: Path) -> None:
    """Fill the pages of the experiments that the folder has."""
    if (folder / "arena").exists():
        fill_arena(folder)
        return
    found = load_runs(folder, PAPER)
    wanted = [(name, regime) for name, experiment in PAPER.items() for regime in experiment.regimes]
    if missing := [", ".join(one) for one in wanted if one not in found]:
        sys.exit(f"{folder} lacks {'; '.join(missing)}: run `banditselect reproduce all --scale paper` first")
    for name, regime in found:
        drawn = "figure" if PAPER[name].shown else "curves"
        shutil.copyfile(folder / name / regime / f"{drawn}.png", DOCS / "figures" / f"{name}-{regime}.png")
    shutil.copyfile(folder / "fs-mnist" / "practical" / "figure.svg", DOCS / "figures" / "figure-1.svg")
    verdicts = judge(found, PAPER)
    fill(DOCS / "results.md", results_tables(found, verdicts))
    fill(DOCS / "learned.md", learned_tables(found, verdicts))


def results_tables(found: Found, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the tables of results.md: claims in three settings, final values, all verdicts with their numbers."""
    claims, rest = ([one for one in verdicts if bool(one.claim) == on_figure] for on_figure in (True, False))
    own: dict[tuple[str, str], dict[str, Verdict]] = {}
    for one in claims:
        own.setdefault((one.claim, one.experiment), {})[one.regime] = one
    rows, turned = [], dict[tuple[str, str], list[str]]()
    for (claim, name), by in own.items():
        outcomes = {setting: by[setting].outcome for setting in SETTINGS}
        signs = (f"{SIGNS[outcome].symbol} {outcome}" for outcome in outcomes.values())
        rows.append([claim, f"{PAPER[name].place}: {name}", *signs])
        if outcomes["practical"] != outcomes["tuned"]:
            turned.setdefault((outcomes["practical"], outcomes["tuned"]), []).append(f"{claim} ({name})")
    flips = [[*outcomes, "; ".join(those)] for outcomes, those in turned.items()]
    finals = {f"{name}, {regime}": finals_table(PAPER[name], results) for (name, regime), results in found.items()}
    return {
        "counts": counted(claims),
        "claims": markdown_table(["claim", "where", *SETTINGS], rows),
        "flips": markdown_table(["practical", "tuned", "claims"], flips),
        **{name: markdown_table(table.head, table.rows) for name, table in finals.items()},
        "numbers": details(claims),
        "other counts": counted(rest),
        "other numbers": details(rest),
    }


def details(verdicts: Sequence[Verdict]) -> str:
    """Return every verdict with its numbers."""
    rows = []
    for v in verdicts:
        words = [v.claim or v.quote, f"{v.experiment}, {v.regime}", "; ".join(filter(None, (v.statistic, v.note)))]
        outcome = f"{SIGNS[v.outcome].symbol} {v.outcome}" + (f" ({v.vacuous})" if v.vacuous else "")
        value = f"{measured(v.value, v.interval)} {interval(v.interval)}"
        rows.append([*words, value, v.expected, str(v.n), outcome])
    head = ["claim", "on", "measured", "value and 95 % interval", "expected", "n", "verdict"]
    return markdown_table(head, rows)


def learned_tables(found: Found, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the tables of learned.md."""
    synthetic = [ps.PS, ps.LIKELIHOOD, ps.UNTUNED, ps.OFUL_MAX, ps.ORACLE, ps.TRUE_BALL]
    maps = [fs.BEST, fs.FS, fs.PROVED, fs.NOISE_AWARE, fs.OPTIMISTIC, fs.UNTUNED, fs.RB, fs.SECOND]
    images = [ps.PS, ps.LIKELIHOOD, ps.NARROW, ps.UNTUNED, ps.RB, ps.INDIVIDUAL, ps.ORACLE, ps.TRUE_BALL]
    return {
        "claims": counted([one for one in verdicts if one.claim]),
        "parameter selection": at_ends(found, ["ps-synthetic"], synthetic),
        "feature selection": at_ends(found, ["fs-synthetic", "fs-mnist", "fs-cifar100"], maps),
        "images": at_ends(found, ["ps-mnist", "ps-cifar10", "ps-mnist-coarse"], images),
        "latent": "\n\n".join(latent_table(found, regime) for regime in PAPER["latent"].regimes),
        "worst": worst_table(found),
    }


def final(result: Result, policy: str, metric: str) -> str:
    """Return mean and standard error in words, a dash if the policy did not play."""
    digits = 3 if metric == "mean_reward" else 1
    return spread(result.final(policy, metric), digits) if policy in result.curves else "–"


def at_ends(found: Found, experiments: Sequence[str], policies: Sequence[str]) -> str:
    """Return final values of some policies in all settings; for images, with the fewest and the most models."""
    tables = []
    for name in experiments:
        problems = list(found[name, "practical"])
        ends = problems if name == "ps-synthetic" else [problems[0], problems[-1]]
        columns = {f"{regime}, {one}": found[name, regime][one] for regime in SETTINGS for one in ends}
        rows = [[p, *(final(result, p, PAPER[name].metric) for result in columns.values())] for p in policies]
        tables.append(markdown_table([name, *columns], rows))
    return "\n\n".join(tables)


def latent_table(found: Found, regime: str) -> str:
    """Return the regrets on latent bandits, a line per problem."""
    policies = [latent.ORACLE, latent.PRINTED, latent.SOURCE, latent.UCB, latent.OPTIMISM, latent.SAMPLING]
    policies += [ps.PS, ps.LIKELIHOOD, ps.UNTUNED]
    problems = found["latent", regime].items()
    rows = [[problem, *(final(result, policy, "regret") for policy in policies)] for problem, result in problems]
    return markdown_table([f"latent, {regime}", *policies], rows)


def worst_table(found: Found) -> str:
    """Return the mean over sets of balls of the largest regret at a parameter, beside the mean over parameters."""
    rows = []
    for problem, result in found["ps-worst", "theory"].items():
        for policy in (ps.PS, ps.LIKELIHOOD):
            regrets = result.final(policy, "regret")
            sets = regrets[: regrets.size // EXTREMES * EXTREMES].reshape(-1, EXTREMES)
            rows.append([problem, policy, spread(sets.mean(1), 1), spread(sets.max(1), 1), str(len(sets))])
    head = ["ps-worst", "policy", f"mean of {EXTREMES} parameters", "the largest", "sets of balls"]
    return markdown_table(head, rows)


def fill_arena(folder: Path) -> None:
    """Fill arena.md; copy the plots of ranks."""
    ran = {regime: results for (_, regime), results in load_runs(folder, {"arena": EXPERIMENTS["arena"]}).items()}
    found = {regime: ranking.grouped(results, RANKING) for regime, results in ran.items()}
    for regime, groups in found.items():
        for group in groups:
            figure = folder / "arena" / regime / f"ranks-{group}.svg"
            shutil.copyfile(figure, DOCS / "figures" / f"arena-{regime}-{group}.svg")
    inputs = [
        [group, name, ", ".join(one.told) or "nothing", ", ".join(one.tuned) or "nothing", one.proved]
        for group, named in everyone().items()
        for name, one in named.items()
        if name not in RANKING.yardsticks
    ]
    head = ["among", "policy", "inputs besides shapes and models", "tuned", "proved regret"]
    tables = {
        "run": run_table(ran, folder),
        "summary": summary(found),
        "ranking": standing(found, folder),
        "winners": winners(found),
        "losses": losses(found),
        "inputs": markdown_table(head, inputs),
    }
    if published := load_runs(folder, PUBLISHED):
        tables["rates"] = details(judge(published, PUBLISHED, SENTENCES))
    fill(DOCS / "arena.md", tables)


def run_table(ran: Mapping[str, Results], folder: Path) -> str:
    """Return the size and the cost of the run."""
    rows = []
    for regime, results in ran.items():
        first = next(iter(results.values()))
        start, stop = first.settings.get("tuning", {}).get("replicates", (0, 0))
        cost = duration(sum(Store(folder / "arena" / regime).timings().values()))
        rows.append([regime, str(first.settings["rounds"]), str(first.replicates), str(stop - start), cost])
    return markdown_table(["setting", "T", "replicates", "others, for tuning", "computing, one core"], rows)


def summary(found: Groups) -> str:
    """Return the three best policies of every group and setting, the yardsticks, and the leader."""
    rows = []
    for group in next(iter(found.values())):
        for regime, groups in found.items():
            every = ranking.standings(groups[group], RANKING)
            full = [one for one in every if one.problems == len(groups[group])]
            words = {one.policy: f"{one.policy} ({100.0 * one.share:.1f} %)" for one in full}
            known = [words.pop(name) for name in list(words) if name in RANKING.yardsticks]
            rows.append([group, regime, "; ".join([*words.values()][:3]), "; ".join(known), every[0].behind.b])
    return markdown_table(["among", "setting", "smallest regrets", "yardsticks", "leader"], rows)


def standing(found: Groups, folder: Path) -> str:
    """Return the paired regrets of all policies in all settings."""
    times, last = Store(folder / "arena" / "tuned").round_times(), next(reversed(found))
    rows = []
    for group, named in everyone().items():
        by_name = {
            regime: {one.policy: one for one in ranking.standings(groups[group], RANKING)}
            for regime, groups in found.items()
        }
        for policy, one in by_name[last].items():
            cells = [group, f"{policy} (ours)" if named[policy].ours else policy, str(one.problems)]
            for own in by_name.values():
                cells += ranking.cells(own[policy], RANKING)[1:] if policy in own else [NOTHING] * 4
            rows.append([*cells, ranking.round_time(policy, found[last][group], times)])
    words = ["regret", "difference from the leader", "rank", "best or close"]
    head = ["among", "policy", "problems", *(f"{regime}: {one}" for regime in found for one in words), "µs a round"]
    return markdown_table(head, rows)


def winners(found: Groups) -> str:
    """Return the best policy on every problem, and those that are not clearly worse."""
    rows: dict[str, list[str]] = {}
    for groups in found.values():
        for finals in groups.values():
            for problem, (first, *close) in ranking.winners(finals, RANKING).items():
                rows.setdefault(problem, [problem]).extend([first, "; ".join(close) or NOTHING])
    return markdown_table(["problem", *(f"{r}: {one}" for r in found for one in ("best", "close"))], [*rows.values()])


def losses(found: Groups) -> str:
    """Return on which problems a policy of ours is clearly worse than the best, and by which factor."""
    ours = {name for named in everyone().values() for name, one in named.items() if one.ours}
    rows = []
    for regime, groups in found.items():
        for finals in groups.values():
            first = ranking.winners(finals, RANKING)
            for policy in (name for name in next(iter(finals.values())) if name in ours):
                behind = [
                    f"{problem} ({own[policy].mean() / own[first[problem][0]].mean():.1f} times {first[problem][0]})"
                    for problem, own in finals.items()
                    if policy in own and policy not in first[problem]
                ]
                rows.append([policy, regime, f"{len(behind)} of {len(finals)}", "; ".join(behind) or NOTHING])
    return markdown_table(["policy", "setting", "loses", "where"], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper"))
