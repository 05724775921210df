"""Rankings over the problems of the arena: paired regrets in units of uniform play, ranks, and winners."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..reporting import plot_ranks
from ..reporting.tables import NOTHING, markdown_table
from ..simulation import Results
from ..statistics import Comparison, paired_difference
from ..types import Array
from .beyond.arena import YARDSTICKS, kind_of
from .parameter_selection import UNIFORM

Finals = Mapping[str, Mapping[str, Array]]
Times = Mapping[tuple[str, str], float]
CAPTION = "Rank on every problem (dots, larger for several) and on average (bar) by mean"
NOTE = (
    "Mean over the problems; differences are paired, replicate by replicate, with 95 % intervals. Best or close: on "
    "how many problems it is neither clearly worse than the best there nor by more than a quarter. Yardsticks have no "
    "rank. Time: a round of one lane when all replicates play side by side, median over the problems."
)
CLOSE = 1.25  #: times the best regret, above which a policy is not close to it, however wide the interval


class Standing(NamedTuple):
    """Where a policy stands."""

    policy: str
    problems: int  # how many it played
    share: float  # its regret over that of uniform play, mean over these problems
    behind: Comparison  # that minus the same of the leader, paired
    rank: float  # on average, from 1; NaN for a yardstick
    close: int  # on how many problems it is the best policy, or close to it


def grouped(results: Results) -> dict[str, Finals]:
    """Return the regrets by kind (maps or regions), problem and policy."""
    found: dict[str, dict[str, Mapping[str, Array]]] = {}
    for problem, result in results.items():
        if UNIFORM in result.curves:
            found.setdefault(kind_of(problem), {})[problem] = result.finals("regret")
    return dict(found)


def ranks(finals: Finals) -> dict[str, Array]:
    """Return where every policy but the yardsticks came on every problem that it played, by mean regret."""
    found: dict[str, list[float]] = {}
    for own in finals.values():
        means = {name: float(values.mean()) for name, values in own.items() if name not in YARDSTICKS}
        for name, mean in means.items():
            found.setdefault(name, []).append(1.0 + sum(other < mean for other in means.values()))
    return {name: np.array(values) for name, values in found.items()}


def winners(finals: Finals) -> dict[str, list[str]]:
    """Return by problem the policy of the smallest mean regret, and after it those that are close.

    Close: a regret of at most 1.25 times that, and a paired 95 % interval of the difference that is not above zero;
    not corrected for their number. A policy that fails seldom but badly is seldom clearly worse.
    """
    found = {}
    for problem, own in finals.items():
        order = sorted((name for name in own if name not in YARDSTICKS), key=lambda name: own[name].mean())
        first = own[order[0]]
        near = [name for name in order[1:] if own[name].mean() <= CLOSE * first.mean()]
        close = [name for name in near if not paired_difference(own[name], first).low > 0.0]
        found[problem] = [order[0], *close]
    return found


def standings(finals: Finals) -> list[Standing]:
    """Return the standing of every policy, the smallest paired regret first.

    The leader is the policy of the smallest regret among those that played every problem; a policy that played only
    some of them is compared with it on these.
    """
    unit = {problem: float(own[UNIFORM].mean()) for problem, own in finals.items()}
    policies = list(dict.fromkeys(name for own in finals.values() for name in own))
    n = min(values.size for own in finals.values() for values in own.values())

    def shares(policy: str, problems: Sequence[str]) -> Array:
        return np.mean([finals[problem][policy][:n] / unit[problem] for problem in problems], axis=0)

    everywhere = [p for p in policies if p not in YARDSTICKS and all(p in own for own in finals.values())]
    leader = min(everywhere, key=lambda policy: float(shares(policy, list(finals)).mean()))
    places, first = ranks(finals), winners(finals)
    found = []
    for policy in policies:
        played = [problem for problem, own in finals.items() if policy in own]
        mine = shares(policy, played)
        behind = paired_difference(mine, shares(leader, played), names=(policy, leader), metric="share of the regret")
        rank = float(places[policy].mean()) if policy in places else np.nan
        close = sum(policy in first[problem] for problem in played)
        found.append(Standing(policy, len(played), float(mine.mean()), behind, rank, close))
    return sorted(found, key=lambda one: one.behind.mean)


def standing_tables(results: Results, times: Times) -> str:
    """Return a table for maps and for regions; ``times``: seconds a round of one lane, by problem and policy."""
    parts = []
    for group, finals in grouped(results).items():
        found = standings(finals)
        rows = [[one.policy, *cells(one), round_time(one.policy, finals, times)] for one in found]
        columns = ["policy", "problems", f"regret, % of {UNIFORM}", f"more than {found[0].behind.b}", "mean rank"]
        table = markdown_table([*columns, "best or close", "µs a round"], rows)
        parts += [f"Who comes where: {group}", table, NOTE]
    return "\n\n".join(parts)


def cells(one: Standing) -> list[str]:
    """Return the cells of a standing: problems, share, distance to the leader, rank, close."""
    yardstick = one.policy in YARDSTICKS
    behind = one.behind
    distance = f"{100 * behind.mean:.1f} [{100 * behind.low:.1f}, {100 * behind.high:.1f}]"
    return [
        str(one.problems),
        f"{100 * one.share:.1f}",
        NOTHING if behind.a == behind.b else distance.replace("-", "−"),
        NOTHING if yardstick else f"{one.rank:.1f}",
        NOTHING if yardstick else f"{one.close} of {one.problems}",
    ]


def round_time(policy: str, finals: Finals, times: Times) -> str:
    """Return the microseconds that a round of a policy takes, median over the problems."""
    own = [times[problem, policy] for problem in finals if (problem, policy) in times]
    return f"{1e6 * median(own):.1f}" if own else NOTHING


def plot_standings(results: Results) -> dict[str, Any]:
    """Return a figure of ranks for maps and for regions."""
    return {
        f"ranks-{group}": plot_ranks(ranks(finals), title=f"{group}, {len(finals)} problems")
        for group, finals in grouped(results).items()
    }
