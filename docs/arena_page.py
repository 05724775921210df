"""Write docs/arena.md from a run of the arena: python docs/arena_page.py out/arena (make arena-docs).

All numbers come from the stored tables of `banditselect reproduce arena --scale paper --out out/arena` and
`python -m benchmarks.arena --scale paper`.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from from_results import details

from banditselect.experiments import EXPERIMENTS
from banditselect.experiments import ranking as report
from banditselect.experiments.beyond import arena
from banditselect.experiments.beyond.arena_policies import everyone
from banditselect.experiments.claims import judge
from banditselect.experiments.experiment import load_runs
from banditselect.reporting.markdown import markdown_table
from banditselect.reporting.tables import NOTHING, duration
from banditselect.simulation import Results
from banditselect.simulation.store import Store, write_text
from benchmarks.arena import EXPERIMENTS as PUBLISHED
from benchmarks.arena.sentences import SENTENCES

DOCS = Path(__file__).parent
RANKING = arena.EXPERIMENT.ranking
Regimes = Mapping[str, Results]
Groups = Mapping[str, Mapping[str, report.Finals]]  #: by regime and group


def main(folder: Path) -> None:
    """Write the page and its figures."""
    ran = {regime: results for (_, regime), results in load_runs(folder, {"arena": EXPERIMENTS["arena"]}).items()}
    if not ran:
        sys.exit(f"{folder} lacks the arena: run `banditselect reproduce arena --out {folder}` first")
    found = {regime: report.grouped(results, RANKING) for regime, results in ran.items()}
    for regime, groups in found.items():
        for group in groups:
            figure = folder / "arena" / regime / f"ranks-{group}.svg"
            shutil.copyfile(figure, DOCS / "figures" / f"arena-{regime}-{group}.svg")
    parts = [
        "# Every rival in one arena",
        "`python docs/arena_page.py` writes this page from the tables of `banditselect reproduce arena` and `python -m "
        "benchmarks.arena`. Policies that select among M feature maps play four families of problems, those that "
        "select among M regions (balls that may contain the parameter) four others; all meet the same instances and "
        "the same noise. T is the number of rounds, K that of actions. “Section 9” is the example of math.md, section "
        "9, in which every wrong map is refuted on a context of its own. A master plays through bases, one for every "
        "map or region: RB balances regrets, RBE eliminates bases, DB balances dynamically; SCB means that the bases "
        "are SquareCB. `banditselect show arena` describes the settings, `banditselect list arena` lists the policies.",
        settings(ran, folder),
        summary(found),
        f"## Ranking\n\n{standing(found, folder)}",
        *(figures(found, group) for group in next(iter(found.values()))),
        f"## Winners by problem\n\n{wins(found)}",
        f"## Where our policies lose\n\n{losses(found)}",
        f"## Inputs and guarantees\n\n{known()}",
        f"## Published rates and failures\n\n{rates(folder)}",
    ]
    write_text(DOCS / "arena.md", "\n\n".join(parts) + "\n")


def settings(ran: Regimes, folder: Path) -> str:
    """Return the size and the cost of the run, and the settings of the policies."""
    (first, *_) = next(reversed(ran.values())).values()
    rounds, replicates = first.settings["rounds"], first.replicates
    sizes = {(scale.rounds, scale.replicates): name for name, scale in arena.EXPERIMENT.scales.items()}
    scale = sizes.get((rounds, replicates))
    named = f"This is the scale “{scale}”" if scale else "This is neither of the scales of the experiment"
    missing = ", ".join(f"“{regime}”" for regime in arena.EXPERIMENT.regimes if regime not in ran)
    lacking = f" **The regime {missing} was not run here.**" if missing else ""
    start, stop = first.settings.get("tuning", {}).get("replicates", (0, 0))
    others = f", tuned on {stop - start} others" if stop else ""
    spent = {regime: sum(Store(folder / "arena" / regime).timings().values()) for regime in ran}
    cost = ", ".join(f"{duration(seconds)} for “{regime}”" for regime, seconds in spent.items())
    return (
        f"{named}: T = {rounds}, {replicates} replicates{others}.{lacking} Computing, one core: {cost}. “defaults”: "
        "default arguments, plus the constants that each policy requires. Defaults are those of this library, for "
        "rivals too; radii and tests have the constants of theory, which are wide. “tuned”: rates of exploration, "
        "radii, the widths of the masters' tests and one more argument of each master, listed in the table below, are "
        "tuned by the same steps; among settings within one standard error of the best, the one nearest to the start "
        "is chosen. This is the fairer comparison. Ridge penalties, confidence levels and all other arguments keep "
        "their defaults; policies without tunable arguments are unchanged. Tuning on few replicates is coarse: a "
        "policy whose regret varies much tends to stay near the start. On images, the tuning replicates are drawn from "
        "the same data."
    )


def summary(found: Groups) -> str:
    """Return the three best policies of every group and regime, in words."""
    lines = []
    for group in next(iter(found.values())):
        for regime, groups in found.items():
            most = len(groups[group])
            own = [one for one in report.standings(groups[group], RANKING) if one.problems == most]
            first = [f"{o.policy} ({100.0 * o.share:.1f} %)" for o in own if o.policy not in RANKING.yardsticks][:3]
            told = [f"{o.policy} ({100.0 * o.share:.1f} %)" for o in own if o.policy in RANKING.yardsticks]
            lines.append(f"* Among {group}, {regime}: {'; '.join(first)}. Yardsticks: {'; '.join(told)}.")
    head = "The smallest regrets over all problems, in % of that of uniform play:"
    return f"{head}\n\n" + "\n".join(lines)


def standing(found: Groups, folder: Path) -> str:
    """Return the table of paired regrets of all policies, in both regimes."""
    times = {regime: Store(folder / "arena" / regime).round_times() for regime in found}
    final = next(reversed(found))
    rows, leaders = [], []
    for group in next(iter(found.values())):
        tables = {regime: report.standings(groups[group], RANKING) for regime, groups in found.items()}
        leaders += [f"{group}, {regime}: {own[0].behind.b}" for regime, own in tables.items()]
        by_name = {regime: {one.policy: one for one in own} for regime, own in tables.items()}
        for last in tables[final]:
            name = f"{last.policy} (ours)" if everyone()[group][last.policy].ours else last.policy
            cells = [group, name, str(last.problems)]
            for regime in found:
                own = by_name[regime].get(last.policy)
                cells += report.cells(own, RANKING)[1:] if own else [NOTHING] * 4
            rows.append([*cells, report.round_time(last.policy, found[final][group], times.get("tuned", {}))])
    words = ["regret", "difference from the leader", "rank", "best or close"]
    head = ["among", "policy", "problems", *(f"{regime}: {one}" for regime in found for one in words), "µs a round"]
    caption = (
        "Regrets in % of that of uniform play, mean over the problems; “ours”: proposed by this library; sorted by "
        f"the difference from the leader in “{final}”. The leader ("
        f"{'; '.join(leaders)}) has the smallest regret among the policies that played every problem; differences from "
        "it are paired, replicate by replicate, in points of %, with 95 % intervals over replicates: for these "
        "problems, not for others. If a policy played only some problems, its regret and rank are over these and "
        "cannot be compared with other rows; its difference can, since the leader's regret is then taken over the same "
        "problems. Best or close: the number of problems on which a policy is neither clearly worse than the best one "
        "nor worse by more than a quarter. Yardsticks are given the right model, or select nothing; they have no rank, "
        "are not tuned and are not a lower bound. Time: a round of one lane with all replicates side by side, the "
        "fastest of all tuning runs, median over the problems."
    )
    return f"{caption}\n\n{markdown_table(head, rows)}"


def figures(found: Groups, group: str) -> str:
    """Return the rank plots of a group."""
    return "\n\n".join(
        f"![Ranks among {group}, {regime}: the table above has their means](figures/arena-{regime}-{group}.svg)"
        for regime in found
    )


def wins(found: Groups) -> str:
    """Return the best policy on every problem, and those that are not clearly worse."""
    won = {
        regime: {problem: names for finals in groups.values() for problem, names in winners_of(finals).items()}
        for regime, groups in found.items()
    }
    rows = []
    for problem in next(iter(won.values())):
        cells = [problem]
        for regime in found:
            first, *close = won[regime][problem]
            cells += [first, "; ".join(close) or NOTHING]
        rows.append(cells)
    head = ["problem", *(f"{regime}: {one}" for regime in found for one in ("best", "close"))]
    return markdown_table(head, rows)


def winners_of(finals: report.Finals) -> dict[str, list[str]]:
    """Return the winners of the problems of a group."""
    return report.winners(finals, RANKING)


def losses(found: Groups) -> str:
    """Return on which problems a policy of ours is clearly worse than the best, and by which factor."""
    ours = {name for named in everyone().values() for name, one in named.items() if one.ours}
    rows = []
    for regime, groups in found.items():
        for finals in groups.values():
            first = winners_of(finals)
            for policy in (name for name in next(iter(finals.values())) if name in ours):
                behind = [
                    f"{problem} ({own[policy].mean() / own[first[problem][0]].mean():.1f} times {first[problem][0]})"
                    for problem, own in finals.items()
                    if policy in own and policy not in first[problem]
                ]
                rows.append([policy, regime, f"{len(behind)} of {len(finals)}", "; ".join(behind) or NOTHING])
    caption = (
        "Problems on which a policy of this library is clearly worse than the best one, or by more than a quarter, "
        "with its regret over the best:"
    )
    return f"{caption}\n\n{markdown_table(['policy', 'regime', 'loses', 'where'], rows)}"


def known() -> str:
    """Return the inputs and the guarantee of every policy."""
    rows = [
        [group, name, ", ".join(one.told) or "nothing", ", ".join(one.tuned) or "nothing", one.proved]
        for group, named in everyone().items()
        for name, one in named.items()
        if name not in RANKING.yardsticks
    ]
    head = ["among", "policy", "inputs besides shapes and models", "tuned", "proved regret"]
    return markdown_table(head, rows)


def rates(folder: Path) -> str:
    """Return the verdicts on the published rates and failures of rivals."""
    published = load_runs(folder, PUBLISHED)
    verdicts = judge(published, PUBLISHED, SENTENCES)
    if not verdicts:
        return "Not run here: `python -m benchmarks.arena`."
    lengths = [
        f"T = {max(result.settings['rounds'] for result in results.values()):,} in {name}"
        for (name, _), results in published.items()
    ]
    caption = (
        "Each statement is our formulation of a proof or an assumption in the reference, judged by measured exponents: "
        f"{', '.join(lengths)}. All policies use their defaults, except CORRAL, which has no horizon here and, unless "
        "stated otherwise, ten times its rate, chosen after looking at such runs so that it learns within T. A rate is "
        "a statement about large T, so a master is judged only where it had already identified good bases, that is, "
        "where its regret after a quarter of the rounds was at most half of that of uniform play. At a fixed T, a "
        "regret proportional to M may be far below sqrt(M T), so M and T grow together. Exponents of T are allowed an "
        "extra tenth for logarithms. “Holds” means that the regret grew no faster on these problems; no run proves a "
        "bound. The statement about ALEXP could hardly fail: it would need eleven times the regret with 15 times the "
        "maps. Intervals are 95 % for all parts of a statement together, and the table shows the deciding part; they "
        "are not corrected for the number of statements."
    )
    return f"{caption}\n\n{details(verdicts)}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/arena"))
