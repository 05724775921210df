"""The report of a reproduction: ``report.html``, ``claims.json``, ``summary.md``, and figures beside the results."""

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reporting import figure_bytes, plot_rows
from ..reporting.markdown import markdown_table
from ..reporting.page import SIGNS, render
from ..reporting.tables import NOTHING, Table, duration, number
from ..runtime import errors
from ..runtime.extras import need
from ..runtime.files import replacing
from ..runtime.quantiles import standard_error
from ..simulation import Results
from ..simulation.engines import cores
from ..simulation.store import Store
from .claims import Ran, Verdict
from .experiment import REGIMES, Experiment
from .ranking import CAPTION, plot_standings, standing_tables
from .words import claims_json, counted, figure_of, listed, order_sentence

FORMATS = ("png", "svg", "pdf")
COLUMN = 6  #: problems whose final values fit into a column of a paper
LONG = 6  #: of a longer list of settings only the length is shown
END = "†"
REPORT_FILES = ("report.html", "claims.json", "summary.md")
TITLE = "Feature and Parameter Selection in Stochastic Linear Bandits, reproduced"
SIDE_BY_SIDE = Path("docs") / "results.md"  #: where the regimes are compared

PAPER = (
    "The paper: Ahmadreza Moradipari, Berkay Turan, Yasin Abbasi-Yadkori, Mahnoosh Alizadeh and Mohammad Ghavamzadeh, "
    "Feature and Parameter Selection in Stochastic Linear Bandits, ICML 2022.",
    """@inproceedings{moradipari2022feature,
  title     = {Feature and Parameter Selection in Stochastic Linear Bandits},
  author    = {Moradipari, Ahmadreza and Turan, Berkay and Abbasi-Yadkori, Yasin and
               Alizadeh, Mahnoosh and Ghavamzadeh, Mohammad},
  booktitle = {Proceedings of the 39th International Conference on Machine Learning},
  year      = {2022}
}""",
)
SOFTWARE = """@software{{banditselect,
  title   = {{banditselect: linear bandits that choose their own model}},
  author  = {{{{The banditselect authors}}}},
  version = {{{0}}},
  year    = {{2026}}
}}"""
ABOUT = (
    "The paper chooses among M feature maps (FS-SCB) or M balls of parameters (PS-OFUL) while it plays, and says that "
    "both come close to a policy that is given the right one, where regret balancing (RB) falls behind as M grows. "
    "Practical settings, below, were searched for so that its figures appear; rivals are not tuned in them."
)
ADDED = (
    "The dashed policies are this library's. FS-IDS and PS-IDS have nothing to tune, and learn the noise as well; "
    "FS-OFUL and PS-OFUL with likelihood sets have confidence sets that hold at every round if a model is right. Here "
    "they play at their defaults against rivals that are not tuned, and still lose in places: FS-OFUL on CIFAR-100, "
    "likelihood sets with coarse models. Only the comparison with everything tuned says which method is better."
)
MORE = (
    "Regret is the expected reward lost to the best action, summed over rounds. SCB: SquareCB, which plays by inverse "
    "gaps; OFUL: optimism; BIAS-OFUL: OFUL about a centre (the true one: the oracle); RB-X: regret balancing over X; "
    "b: the radius of the balls; S: the bound on the parameter that OFUL is given. `banditselect show NAME` prints the "
    "paper's set-up of an experiment, and our choices; summary.md lists the arguments of every policy."
)

Drawn = Mapping[tuple[str, str], Mapping[str, bytes]]  #: figures by experiment and regime, and by the name of the file


def write(
    folder: Path,
    ran: Ran,
    verdicts: Sequence[Verdict],
    *,
    experiments: Mapping[str, Experiment],
    seconds: float | None,
    command: str,
    figures: bool = True,
) -> list[Path]:
    """Write figures, ``report.html``, ``claims.json`` and ``summary.md``; return all files written.

    Parameters
    ----------
    folder: the figures go to ``<experiment>/<regime>/`` in it, beside the stored results.
    ran, verdicts: the results by experiment and regime, and what was judged on them.
    experiments: all that can be run.
    seconds: how long the command took; None if that is not known.
    command: as it was typed.
    figures: whether to draw; without them the page has the tables only.
    """
    drawn, own = _draw_all(experiments, ran) if figures else {}, version("banditselect")
    names = sorted(dict.fromkeys(name for name, _ in ran), key=lambda name: _order(experiments[name]))
    claims = [verdict for verdict in verdicts if verdict.claim]
    page = render(
        title=TITLE,
        summary=[ABOUT, counted(claims)] if claims else [counted(verdicts)],
        facts=_line(ran, seconds),
        figures=_figures(experiments, ran, drawn, names, verdicts),
        regimes={name: words for name, words in REGIMES.items() if name in {verdict.regime for verdict in verdicts}},
        claims=_rows(experiments, claims),
        further=_rows(experiments, [verdict for verdict in verdicts if not verdict.claim]),
        added=ADDED if any(experiments[name].added for name in names) else "",
        link=os.path.relpath(SIDE_BY_SIDE, folder) if SIDE_BY_SIDE.is_file() else "",
        sections=[_section(experiments[name], ran, drawn, folder) for name in names],
        more=MORE,
        run=_facts(ran, command),
        citations=[PAPER, (f"This library: The banditselect authors, banditselect {own}.", SOFTWARE.format(own))],
    )
    texts = (page, claims_json(verdicts) + "\n", _markdown(experiments, ran, verdicts, folder))
    files = {folder / name: text.encode() for name, text in zip(REPORT_FILES, texts, strict=True)}
    for (name, regime), several in drawn.items():
        files |= {folder / name / regime / file: content for file, content in several.items()}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    return list(files)


def _order(experiment: Experiment) -> tuple[bool, bool, str]:
    figure = figure_of(experiment)
    return not experiment.shown, not figure.startswith("Figure"), figure


def _draw_all(experiments: Mapping[str, Experiment], ran: Ran) -> Drawn:
    """Draw everything, on all cores; return the files by experiment and regime."""
    joblib = need("joblib", "experiments")
    tasks = {key: joblib.delayed(_draw)(experiments[key[0]], results) for key, results in ran.items()}
    return dict(zip(tasks, joblib.Parallel(n_jobs=min(cores(), len(tasks)) or 1)(tasks.values()), strict=True))


def _draw(experiment: Experiment, results: Results) -> dict[str, bytes]:
    """Draw a regime of an experiment in every format; return the files by name."""
    try:
        figures = _drawings(experiment, results)
    except ValueError as error:
        errors.warn(f"no figures: {error}")
        return {}
    return {f"{name}.{kind}": figure_bytes(figure, kind) for name, figure in figures.items() for kind in FORMATS}


def _drawings(experiment: Experiment, results: Results) -> dict[str, Any]:
    """Return the figures of a regime by name: the paper's, ranks, or curves and final values."""
    if experiment.ranking is not None:
        return plot_standings(results, experiment.ranking)
    metric, names = experiment.metric, (*experiment.shown, *experiment.added)
    played = Results({name: result for name, result in results.items() if result.curves})
    if names:
        panels = {
            title: (one.checkpoints, {name: one.curve(name, metric) for name in names if name in one.curves})
            for title, one in played.items()
            if set(names) & set(one.curves)
        }
        return {"figure": plot_rows(panels, metric=metric, added=experiment.added)} if panels else {}
    drawn = {"curves": played.plot(metric)} if played else {}
    if len(played) > 1:
        width = {"width": "page"} if len(played) > COLUMN else {}
        drawn["finals"] = played.plot_finals(metric, setting=experiment.setting, **width)
    return drawn


# The parts of the page


def _figures(
    experiments: Mapping[str, Experiment], ran: Ran, drawn: Drawn, names: Sequence[str], verdicts: Sequence[Verdict]
) -> list[tuple[str, list[Any]]]:
    """Return the pictures of one regime of every experiment, each with a sentence, by the figure of the paper."""
    shown: dict[str, list[Any]] = {}
    for name in names:
        regime = first_shown(ran, name)
        own = [v for v in verdicts if v.experiment == name and v.regime == regime]
        pictures = _pictures(experiments[name], ran[name, regime], drawn.get((name, regime), {}))
        words = [*[""] * (len(pictures) - 1), order_sentence(own)]
        shown.setdefault(figure_of(experiments[name]), []).extend(zip(pictures, words, strict=False))
    return [(title, several) for title, several in shown.items() if several]


def first_shown(ran: Ran, name: str) -> str:
    """Return the regime whose pictures stand at the top of the report: "practical" where it was run."""
    regimes = [regime for experiment, regime in ran if experiment == name]
    return "practical" if "practical" in regimes else regimes[0]


def _pictures(experiment: Experiment, results: Results, files: Mapping[str, bytes]) -> list[dict[str, str]]:
    """Return the pictures of a regime of an experiment, with captions and descriptions for who cannot see them."""
    policies = listed(policy for result in results.values() for policy in result.curves)
    alt, captions = f"{policies}; {', '.join(results)}.", picture_captions(experiment, results)
    svgs = {name.removesuffix(".svg"): content for name, content in files.items() if name.endswith(".svg")}
    return [{"svg": svg.decode(), "caption": captions[name], "alt": alt} for name, svg in svgs.items()]


def picture_captions(experiment: Experiment, results: Results) -> dict[str, str]:
    """Return captions by the names of the figures: what is drawn, lines and bands."""
    metric = experiment.metric.replace("_", " ").capitalize()
    n = listed(str(result.replicates) for result in results.values())
    shown = f"mean over n = {n} replicates and Student's 95 % interval of that mean"
    ranked = {experiment.ranking.group(problem) for problem in results} if experiment.ranking else ()
    below = " Below, dashed: our policies, with the paper's in grey." if experiment.added else ""
    return {
        **{f"ranks-{group}": f"{CAPTION} {metric.lower()}: {group}" for group in ranked},
        "figure": f"{experiment.place}. {experiment.title}. {metric}: mean of n = {n} with 95 % intervals.{below}",
        "curves": f"{metric} over the rounds: {shown} (band)",
        "finals": f"{metric} after the last round against {experiment.setting}: {shown} (bar)",
    }


def _rows(experiments: Mapping[str, Experiment], verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Return a row for every sentence and experiment: where it is, and its verdicts; undecided ones come last."""
    rows: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.id, verdict.experiment), []).append(verdict)
    places = list(SIGNS)
    ordered = sorted(rows.items(), key=lambda row: min(places.index(one.outcome) for one in row[1]))
    return [(f"{experiments[name].place}: {name}", own) for (_, name), own in ordered]


def _section(experiment: Experiment, ran: Ran, drawn: Drawn, folder: Path) -> dict[str, Any]:
    """Return the details of an experiment: pictures that are not at the top, and tables."""
    parts, failed, top = [], [], first_shown(ran, experiment.name)
    for (name, regime), results in ran.items():
        if name != experiment.name:
            continue
        files = {} if regime == top else drawn.get((name, regime), {})
        tables = _tables(experiment, results, folder / name / regime)
        parts.append({"title": regime, "pictures": _pictures(experiment, results, files), "tables": tables})
        path = folder / name / regime / "failures.json"
        if path.is_file():
            failed.append(f"{len(json.loads(path.read_bytes()))} cells of “{regime}”, see {regime}/failures.json")
    facts = [("name", experiment.name), *([("failed", ", ".join(failed))] if failed else [])]
    return {"title": f"{experiment.title} ({experiment.place})", "facts": facts, "parts": parts}


def _tables(experiment: Experiment, results: Results, folder: Path) -> list[Table]:
    """Return the standings, the final values, and what was tuned."""
    times = Store(folder).round_times()
    standings = [] if experiment.ranking is None else standing_tables(experiment.ranking, results, times)
    played = any(result.curves for result in results.values())
    return [*standings, *([finals_table(experiment, results)] if played else []), *_tuned(results)]


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
    """Return the table of tuned arguments, if any were tuned."""
    records = {name: result.settings["tuning"] for name, result in results.items() if "tuning" in result.settings}
    if not records:
        return []
    policies = dict.fromkeys(policy for record in records.values() for policy in record["policies"])
    rows = [[policy, *(_choice(policy, record) for record in records.values())] for policy in policies]
    tried = {name: values for record in records.values() for name, values in record["grid"].items()}
    for record in records.values():
        tried |= {f"{name} of {p}": v for p, own in record.get("own", {}).items() for name, v in own.items()}
    n = listed(str(record["replicates"][1] - record["replicates"][0]) for record in records.values())
    note = f"Values tried, for every policy that has the argument: {'; '.join(map(_values, tried, tried.values()))}. "
    note += f"Chosen by the mean over {n} problems that are not among those reported."
    if any(END in cell for row in rows for cell in row):
        note += f" {END} the end of the values tried: a wider range might suit this policy better."
    return [Table("What was tuned, and chosen", ["policy", *records], rows, note)]


def _values(name: str, values: Sequence[Any] | Mapping[str, Any]) -> str:
    """Return the values of an argument in words; ``search.Steps`` has a start, a factor and no end in practice."""
    if isinstance(values, Mapping):
        start, factor = _word(values["start"]), _word(values["factor"])
        return f"{name}: {start} times powers of {factor}, as far as it got better"
    return f"{name}: {', '.join(map(_word, values))}"


def _choice(policy: str, record: Mapping[str, Any]) -> str:
    tuned = record["policies"].get(policy, {"choice": {}})
    marked = {name: END if name in tuned.get("ends", ()) else "" for name in tuned["choice"]}
    return ", ".join(f"{name} {_word(value)}{marked[name]}" for name, value in tuned["choice"].items()) or NOTHING


def _word(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _line(ran: Ran, seconds: float | None) -> str:
    """Return the facts of a run in one line: replicates, time, machine."""
    runs = [result for results in ran.values() for result in results.values()]
    parts = [
        f"{_span([result.replicates for result in runs])} replicates",
        f"{_span([int(result.checkpoints[-1]) for result in runs])} rounds",
        "" if seconds is None else duration(seconds),
        f"{cores()} cores, {platform.system()} {platform.machine()}",
        f"banditselect {version('banditselect')}",
    ]
    return " · ".join(filter(None, parts))


def _span(values: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys(map(str, (min(values, default=0), max(values, default=0)))))


def _facts(ran: Ran, command: str) -> list[tuple[str, str]]:
    settings = [one.settings for results in ran.values() for one in results.values()]
    versions: dict[str, dict[str, None]] = {}  # a dictionary is a set that keeps its order
    for name, own in (item for one in settings for item in one.get("versions", {}).items()):
        versions.setdefault(name, {})[own] = None
    facts = {
        "command": command,
        "seed": listed(str(one["seed"]) for one in settings if "seed" in one),
        "versions that made the numbers": ", ".join(f"{name} {' / '.join(n)}" for name, n in versions.items()),
        "beside this page": "claims.json, summary.md; for every experiment and regime results.parquet and the figures",
    }
    return [(name, words) for name, words in facts.items() if words]


def _markdown(experiments: Mapping[str, Experiment], ran: Ran, verdicts: Sequence[Verdict], folder: Path) -> str:
    """Return the summary: every table of the page, and the arguments of every policy on every problem."""
    parts = [f"# {TITLE}", counted(verdicts)]
    for (name, regime), results in ran.items():
        experiment = experiments[name]
        parts.append(f"## {experiment.title} (`{name}`, {experiment.place}): {regime}")
        for table in (*_tables(experiment, results, folder / name / regime), *_arguments(results)):
            parts += [table.caption, markdown_table(table.head, table.rows), table.note]
        parts.append(results.summary(experiment.metric, markdown=True))
    return "\n\n".join(filter(None, parts)) + "\n"


def _arguments(results: Results) -> list[Table]:
    """Return the arguments of problems and policies as JSON, with all defaults filled in."""
    rows = []
    for problem, result in results.items():
        told = {"problem": result.settings.get("problem", {}), **result.settings.get("policies", {})}
        rows += [[problem, name, json.dumps(_short(one), ensure_ascii=False)] for name, one in told.items() if one]
    return [Table("Arguments, with all defaults filled in", ["problem", "", "arguments"], rows)] if rows else []


def _short(value: Any) -> Any:
    """Return settings without what they leave open, long lists by their length."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return f"{len(value)} values" if len(value) > LONG else [_short(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
