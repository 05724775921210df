"""The files of a report: the page with figures and claims, the verdicts as JSON, a summary as Markdown."""

import dataclasses
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from ...reporting import plot_rows, save_figure
from ...reporting.markdown import markdown_table
from ...reporting.numbers import duration, interval, measured
from ...reporting.page import Citation, Figure, Page, Picture, render
from ...reporting.verdicts import Checked, Claim, outcome
from ...runtime import errors
from ...runtime.extras import need
from ...simulation import Results
from ...simulation.engines import cores
from ...simulation.store import write_text
from ...simulation.tuning import tuning_summary
from ..claims import Verdict
from ..experiment import REGIMES, Experiment, stored
from .figure_words import order_sentence
from .sections import first_shown, listed, pictures, section, settings_tables
from .standings import plot_standings, standing_tables
from .words import claims_json, counted

FORMATS = ("png", "svg", "pdf")
COLUMN = 6  #: problems whose final values fit into a column of a paper
REPORT_FILES = ("report.html", "claims.json", "summary.md")
TITLE = "Feature and Parameter Selection in Stochastic Linear Bandits, reproduced"
SIDE_BY_SIDE = Path("docs") / "results.md"  #: where the regimes are compared

PAPER = Citation(
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
Found = Mapping[str, Mapping[str, Results]]  #: by experiment and regime


def write_report(
    folder: Path,
    *,
    experiments: Mapping[str, Experiment],
    verdicts: Sequence[Verdict],
    seconds: float | None,
    command: str,
    figures: bool = True,
) -> list[Path]:
    """Write the figures of everything stored in ``folder``, ``report.html``, ``claims.json`` and ``summary.md``.

    Parameters
    ----------
    folder: with the stored results, ``<experiment>/<regime>/results.parquet``; the figures are written beside them.
    experiments: all that can be run.
    verdicts: on what was run.
    seconds: how long the command took; None if that is not known.
    command: as it was typed.
    figures: whether to draw; without them the page has the tables only.

    Returns
    -------
    All files written.
    """
    found: dict[str, dict[str, Results]] = {}
    for experiment, regime, results in stored(folder, experiments):
        found.setdefault(experiment.name, {})[regime] = results
    drawn = _draw_all(folder, experiments, found) if figures else {}
    order = sorted(found, key=lambda name: _place(experiments[name]))
    claims = [verdict for verdict in verdicts if verdict.claim]
    page = Page(
        title=TITLE,
        summary=[ABOUT, counted(claims)] if claims else [counted(verdicts)],
        facts=_line(found, seconds),
        figures=_figures(experiments, found, drawn, order, verdicts),
        regimes={name: words for name, words in REGIMES.items() if name in {verdict.regime for verdict in verdicts}},
        claims=_claims(experiments, claims),
        further=_claims(experiments, [verdict for verdict in verdicts if not verdict.claim]),
        added=ADDED if any(experiments[name].added for name in found) else "",
        link=os.path.relpath(SIDE_BY_SIDE, folder) if SIDE_BY_SIDE.is_file() else "",
        sections=[section(experiments[name], found[name], drawn, folder / name) for name in order],
        more=MORE,
        run=_facts(found, command),
        citations=[PAPER, _software()],
    )
    texts = (render(page), claims_json(verdicts) + "\n", _markdown(experiments, found, verdicts, folder))
    written = dict(zip(REPORT_FILES, texts, strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        write_text(folder / name, text)
    return [*(folder / name for name in written), *chain.from_iterable(drawn.values())]


def figure_lines(experiments: Mapping[str, Experiment], verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for every numbered figure of the paper: how many of its claims hold, and which do not."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        figure = figure_of(experiments[verdict.experiment])
        if verdict.claim and figure.startswith("Figure"):
            groups.setdefault((figure, verdict.regime), []).append(verdict)
    lines = []
    for (figure, regime), own in sorted(groups.items()):
        outcomes = [(v, outcome(v.verdict, v.vacuous)) for v in own]
        others = listed(f"{v.claim} ({v.experiment}: {found})" for v, found in outcomes if found != "holds")
        held = sum(found == "holds" for _, found in outcomes)
        rest = f"; others: {others}" if others else ""
        lines.append(f"{figure}, {regime}: {held} of {len(own)} claims hold{rest}")
    return lines


def figure_of(experiment: Experiment) -> str:
    """Return the heading under which the pictures of an experiment stand: the figure of the paper, or the title."""
    return experiment.place.partition(",")[0] if experiment.shown else experiment.title


def _place(experiment: Experiment) -> tuple[bool, bool, str]:
    figure = figure_of(experiment)
    return not experiment.shown, not figure.startswith("Figure"), figure


def _draw_all(folder: Path, experiments: Mapping[str, Experiment], found: Found) -> dict[tuple[str, str], list[Path]]:
    """Draw everything, on all cores; return the files by experiment and regime."""
    joblib = need("joblib", "experiments")
    draw = joblib.delayed(_draw)
    tasks = {
        (name, regime): draw(dataclasses.replace(experiments[name], regimes={}), results, folder / name / regime)
        for name, regimes in found.items()
        for regime, results in regimes.items()
    }
    return dict(zip(tasks, joblib.Parallel(n_jobs=min(cores(), len(tasks)) or 1)(tasks.values()), strict=True))


def _draw(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Draw a regime of an experiment, in every format."""
    try:
        figures = _drawings(experiment, results)
    except ValueError as error:
        errors.warn(f"no figures: {error}")
        return []
    return [save_figure(figure, folder / f"{name}.{kind}") for name, figure in figures.items() for kind in FORMATS]


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


def _figures(
    experiments: Mapping[str, Experiment],
    found: Found,
    drawn: Mapping[tuple[str, str], Sequence[Path]],
    order: Sequence[str],
    verdicts: Sequence[Verdict],
) -> list[Figure]:
    """Return the pictures of one regime of every experiment, those of one figure of the paper together."""
    shown: dict[str, list[tuple[Picture, str]]] = {}
    for name in order:
        regime = first_shown(found[name])
        own = [v for v in verdicts if v.experiment == name and v.regime == regime]
        images = pictures(experiments[name], found[name][regime], drawn.get((name, regime), ()))
        words = [*[""] * (len(images) - 1), order_sentence(own)]
        shown.setdefault(figure_of(experiments[name]), []).extend(zip(images, words, strict=False))
    return [Figure(title, several) for title, several in shown.items() if several]


def _claims(experiments: Mapping[str, Experiment], verdicts: Sequence[Verdict]) -> list[Claim]:
    """Return a row of the table for every sentence and experiment, with its verdicts by regime."""
    rows: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.id, verdict.experiment), []).append(verdict)
    return [
        Claim(
            own[0].claim or own[0].quote,
            f"{experiments[own[0].experiment].place}: {own[0].experiment}",
            f"“{own[0].quote}”" if own[0].claim else "",
            [Checked(v.regime, outcome(v.verdict, v.vacuous), _numbers(v)) for v in own],
        )
        for own in rows.values()
    ]


def _numbers(v: Verdict) -> str:
    value = f"{v.statistic}: {measured(v.value, v.interval)} {interval(v.interval)}, expected {v.expected}"
    return "; ".join(filter(None, (value, "" if v.claim else f"n = {v.n}", v.vacuous, v.note)))


def _line(found: Found, seconds: float | None) -> str:
    """Return the facts of a run in one line: replicates, time, machine."""
    runs = [result for regimes in found.values() for results in regimes.values() for result in results.values()]
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


def _facts(found: Found, command: str) -> list[tuple[str, str]]:
    settings = [one.settings for regimes in found.values() for results in regimes.values() for one in results.values()]
    versions: dict[str, dict[str, None]] = {}  # a dictionary is a set that keeps its order
    for name, number in (item for one in settings for item in one.get("versions", {}).items()):
        versions.setdefault(name, {})[number] = None
    facts = {
        "command": command,
        "seed": listed(str(one["seed"]) for one in settings if "seed" in one),
        "versions that made the numbers": ", ".join(f"{name} {' / '.join(n)}" for name, n in versions.items()),
        "beside this page": "claims.json, summary.md; for every experiment and regime results.parquet and the figures",
    }
    return [(name, words) for name, words in facts.items() if words]


def _software() -> Citation:
    number = version("banditselect")
    bibtex = f"""@software{{banditselect,
  title   = {{banditselect: linear bandits that choose their own model}},
  author  = {{{{The banditselect authors}}}},
  version = {{{number}}},
  year    = {{2026}}
}}"""
    return Citation(f"This library: The banditselect authors, banditselect {number}.", bibtex)


def _markdown(experiments: Mapping[str, Experiment], found: Found, verdicts: Sequence[Verdict], folder: Path) -> str:
    parts = [f"# {TITLE}", counted(verdicts)]
    for name, regimes in found.items():
        parts.append(f"## {experiments[name].title} (`{name}`, {experiments[name].place})")
        for regime, results in regimes.items():
            tuned = "\n".join(f"* {line}" for line in tuning_summary(results).splitlines())
            tables = [*standing_tables(experiments[name], results, folder / name / regime), *settings_tables(results)]
            words = [f"{one.caption}\n\n{markdown_table(one.head, one.rows)}" for one in tables]
            parts += [f"### {regime}", *words, results.summary(experiments[name].metric, markdown=True), tuned]
    return "\n\n".join(filter(None, parts)) + "\n"
