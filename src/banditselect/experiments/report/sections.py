"""The details of a report: figures, final values, tuned values and settings of every experiment."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting.numbers import NOTHING, number
from ...reporting.page import Part, Picture, Section, Table
from ...runtime.quantiles import standard_error
from ...runtime.settings import literal
from ...simulation import Results
from ..experiment import Experiment
from .standings import standing_tables

END = "†"
LONG = 6  #: of a longer list only the length is shown
RANKS = "Rank on every problem (dots, larger for several) and on average (bar) by mean"


Drawn = Mapping[tuple[str, str], Sequence[Path]]  #: the files of the figures, by experiment and regime


def section(experiment: Experiment, found: Mapping[str, Results], drawn: Drawn, folder: Path) -> Section:
    """Return the details of an experiment, from its results by regime, with a folder per regime in ``folder``."""
    facts = {
        "name": experiment.name,
        "failed": listed(_failed(folder / regime, regime) for regime in found),
    }
    top = first_shown(found)
    parts = [
        Part(
            regime,
            [] if regime == top else pictures(experiment, several, drawn.get((experiment.name, regime), ())),
            [*standing_tables(experiment, several, folder / regime), *_tables(experiment, several)],
        )
        for regime, several in found.items()
    ]
    known = [(name, words) for name, words in facts.items() if words]
    return Section(f"{experiment.title} ({experiment.place})", known, parts)


def first_shown(regimes: Mapping[str, Any]) -> str:
    """Return the regime whose pictures stand at the top of the report: "practical" where it was run."""
    return "practical" if "practical" in regimes else next(iter(regimes))


def listed(words: Iterable[str]) -> str:
    """Return words with commas between them, each once."""
    return ", ".join(dict.fromkeys(filter(None, words)))


def _failed(folder: Path, regime: str) -> str:
    path = folder / "failures.json"
    if not path.is_file():
        return ""
    return f"{len(json.loads(path.read_bytes()))} cells of “{regime}”, see {regime}/failures.json"


def _tables(experiment: Experiment, results: Results) -> list[Table]:
    played = any(result.curves for result in results.values())
    return [*([finals_table(experiment, results)] if played else []), *_tuned(results)]


def pictures(experiment: Experiment, results: Results, files: Sequence[Path]) -> list[Picture]:
    """Return the pictures of a regime of an experiment."""
    policies = listed(policy for result in results.values() for policy in result.curves)
    captions = picture_captions(experiment, results)
    return [
        Picture(path.read_text(encoding="utf-8"), captions[path.stem], f"{policies}; {', '.join(results)}.")
        for path in files
        if path.suffix == ".svg" and path.stem in captions
    ]


def picture_captions(experiment: Experiment, results: Results) -> dict[str, str]:
    """Return captions by the names of the files: what is drawn, lines and bands."""
    metric = experiment.metric.replace("_", " ").capitalize()
    n = listed(str(result.replicates) for result in results.values())
    shown = f"mean over n = {n} replicates and Student's 95 % interval of that mean"
    ranked = {experiment.ranking.group(problem) for problem in results} if experiment.ranking else ()
    below = " Below, dashed: our policies, with the paper's in grey." if experiment.added else ""
    return {
        **{f"ranks-{group}": f"{RANKS} {metric.lower()}: {group}" for group in ranked},
        "figure": f"{experiment.place}. {experiment.title}. {metric}: mean of n = {n} with 95 % intervals.{below}",
        "curves": f"{metric} over the rounds: {shown} (band)",
        "finals": f"{metric} after the last round against {experiment.setting}: {shown} (bar)",
    }


def finals_table(experiment: Experiment, results: Results) -> Table:
    """Return the final values of every policy on every problem."""
    played = {name: result for name, result in results.items() if result.curves}
    policies = dict.fromkeys(policy for result in played.values() for policy in result.curves)
    columns = {name: _column(result.finals(experiment.metric)) for name, result in played.items()}
    head = ["policy", *(f"{name} (n = {result.replicates})" for name, result in played.items())]
    rows = [[policy, *(column.get(policy, NOTHING) for column in columns.values())] for policy in policies]
    words = experiment.metric.replace("_", " ").capitalize()
    return Table(f"{words} after the last round: mean ± standard error", head, rows)


def _column(finals: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return mean and standard error in words, with the same number of decimals for all."""
    means = {name: float(values.mean()) for name, values in finals.items()}
    errors = {name: float(standard_error(values)) for name, values in finals.items()}
    scale = _largest(errors.values()), _largest(means.values())
    shown = {name: number(mean, *scale) for name, mean in means.items()}
    known = [name for name in finals if math.isfinite(means[name]) and math.isfinite(errors[name])]
    return shown | {name: f"{shown[name]} ± {number(errors[name], *scale)}" for name in known}


def _largest(values: Iterable[float]) -> float:
    return max((abs(value) for value in values if math.isfinite(value)), default=math.nan)


def _tuned(results: Results) -> list[Table]:
    """Return the table of what was tuned, if anything was."""
    records = {name: result.settings["tuning"] for name, result in results.items() if "tuning" in result.settings}
    if not records:
        return []
    policies = dict.fromkeys(policy for record in records.values() for policy in record["policies"])
    rows = [[policy, *(_choice(policy, record) for record in records.values())] for policy in policies]
    grid = {name: values for record in records.values() for name, values in record["grid"].items()}
    own = {
        f"{name} of {p}": v for r in records.values() for p, one in r.get("own", {}).items() for name, v in one.items()
    }
    tried = "; ".join(f"{name}: {_values(values)}" for name, values in (grid | own).items())
    n = listed(str(record["replicates"][1] - record["replicates"][0]) for record in records.values())
    note = f"Values tried, for every policy that has the argument: {tried}. "
    note += f"Chosen by the mean over {n} problems that are not among those reported."
    if any(END in cell for row in rows for cell in row):
        note += f" {END} the end of the values tried: a wider range might suit this policy better."
    return [Table("What was tuned, and chosen", ["policy", *records], rows, note)]


def _values(values: Sequence[Any] | Mapping[str, Any]) -> str:
    """Return the values of an argument in words; ``search.Steps`` has a start, a factor and no end in practice."""
    if isinstance(values, Mapping):
        start, factor = abbreviated(values["start"]), abbreviated(values["factor"])
        return f"{start} times powers of {factor}, as far as it got better"
    return ", ".join(map(abbreviated, values))


def _choice(policy: str, record: Mapping[str, Any]) -> str:
    tuned = record["policies"].get(policy, {"choice": {}})
    marked = {name: END if name in tuned.get("ends", ()) else "" for name in tuned["choice"]}
    return ", ".join(f"{name} {abbreviated(value)}{marked[name]}" for name, value in tuned["choice"].items()) or NOTHING


def settings_tables(results: Results) -> list[Table]:
    """Return what the problems and the policies were given; values in which the problems differ, in their order."""
    settings = [result.settings for result in results.values()]
    rows = [["problem", merged([one["problem"] for one in settings if "problem" in one])]]
    for policy in dict.fromkeys(policy for one in settings for policy in one.get("policies", {})):
        own = [one["policies"][policy] for one in settings if policy in one.get("policies", {})]
        rows.append([policy, merged(own)])
    if len(rows) == 1 and not rows[0][1]:
        return []
    order = f"Where the problems differ, their values in this order: {' | '.join(results)}." if len(results) > 1 else ""
    return [Table("Arguments, with all defaults filled in", ["", "arguments"], rows, order, "code")]


def merged(values: Sequence[Any]) -> str:
    """Return settings of several problems in words; where they differ, their values one after the other.

    Examples
    --------
    >>> merged([{"policy": "OFUL", "arguments": {"dim": d, "noise": 0.5}} for d in (2, 3)])
    'OFUL(dim=2 | 3, noise=0.5)'
    """
    if not values:
        return ""
    first = values[0]
    if not all(isinstance(value, dict) and set(value) == set(first) for value in values):
        return " | ".join(words) if len(set(words := [abbreviated(value) for value in values])) > 1 else words[0]
    if set(first) == {"per replicate"}:
        return "one per replicate"
    if "arguments" not in first:
        return "; ".join(f"{key}: {merged([value[key] for value in values])}" for key in first)
    kinds = {(value.get("policy", value.get("problem")), *value["arguments"]) for value in values}
    if len(kinds) > 1:
        return " | ".join(merged([value]) for value in values)
    arguments = {key: merged([value["arguments"][key] for value in values]) for key in first["arguments"]}
    return f"{kinds.pop()[0]}({', '.join(f'{key}={words}' for key, words in arguments.items() if words != 'None')})"


def abbreviated(value: Any) -> str:
    """Return a setting in words: numbers with four digits, long lists by their length."""
    return literal(value, word=_in_words)


def _in_words(value: Any) -> str | None:
    if isinstance(value, dict):
        return merged([value])
    if isinstance(value, list) and len(value) > LONG:
        return f"[{len(value)} values]"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else None
