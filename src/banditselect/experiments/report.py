"""The report of a reproduction: ``report.html``, ``claims.json``, ``summary.md``, and figures beside the results.

The page has the figures and one table of claims; every other number is in the summary, so that the page stays short.
"""

import base64
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..reporting import figure_bytes, plot_rows
from ..reporting.tables import NOTHING, duration, markdown_table, measured
from ..runtime import errors
from ..runtime.extras import need
from ..runtime.files import replacing
from ..simulation import Result, Results
from ..simulation.engines import cores
from ..simulation.store import Store
from .claims import Ran, Verdict
from .experiment import REGIMES, Experiment
from .ranking import CAPTION, plot_standings, standing_tables
from .words import SIGNS, claims_json, counted, figure_of, listed, order_sentence

FORMATS = ("png", "svg", "pdf")
COLUMN = 6  #: problems whose final values fit into a column of a paper
LONG = 6  #: of a longer list of settings only the length is shown
END = "†"
REPORT_FILES = ("report.html", "claims.json", "summary.md")
TITLE = "Feature and Parameter Selection in Stochastic Linear Bandits, reproduced"
SIDE_BY_SIDE = Path("docs") / "results.md"  #: where the regimes are compared

Picture = dict[str, str]  #: svg, caption and alt


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
    """Write ``report.html``, ``claims.json``, ``summary.md``, and figures beside the results; return all files written.

    ``verdicts``: on these results.  ``seconds``: how long the command took, None if that is not known.
    """
    drawn = _draw_all(experiments, ran) if figures else {}
    page = _page(folder, ran, verdicts, drawn, experiments, seconds, command)
    texts = (page, claims_json(verdicts) + "\n", _markdown(experiments, ran, verdicts, folder))
    files = {folder / name: text.encode() for name, text in zip(REPORT_FILES, texts, strict=True)}
    for (name, regime), several in drawn.items():
        files |= {folder / name / regime / file: content for file, content in several.items()}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    return list(files)


def _draw_all(experiments: Mapping[str, Experiment], ran: Ran) -> dict[tuple[str, str], dict[str, bytes]]:
    """Draw everything, on all cores; return the files by experiment and regime, and by name."""
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
    if experiment.ranked:
        return plot_standings(results)
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


# The page


def _page(
    folder: Path,
    ran: Ran,
    verdicts: Sequence[Verdict],
    drawn: Mapping[tuple[str, str], Mapping[str, bytes]],
    experiments: Mapping[str, Experiment],
    seconds: float | None,
    command: str,
) -> str:
    """Return the page: pictures of one regime of every experiment, by the figure of the paper, claims, details."""
    claims, further = ([v for v in verdicts if bool(v.claim) == of_figure] for of_figure in (True, False))
    names = sorted(dict.fromkeys(name for name, _ in ran), key=lambda name: _order(experiments[name]))
    shown: dict[str, list[tuple[Picture, str]]] = {}
    sections = []
    for name in names:
        experiment = experiments[name]
        regimes = [regime for other, regime in ran if other == name]
        pictures = {one: _pictures(experiment, ran[name, one], drawn.get((name, one), {})) for one in regimes}
        first = "practical" if "practical" in regimes else regimes[0]  # stands at the top, others under the details
        top, pictures[first] = pictures[first], []
        words = order_sentence([v for v in claims if (v.experiment, v.regime) == (name, first)])
        shown.setdefault(figure_of(experiment), []).extend((one, words if one is top[-1] else "") for one in top)
        sections.append(_section(experiment, pictures, folder))
    runs = [result for results in ran.values() for result in results.values()]
    seeds = listed(str(one.settings.get("seed", "")) for one in runs)
    made_by = (f"{name} {own}" for one in runs for name, own in one.settings.get("versions", {}).items())
    return render(
        title=TITLE,
        version=version("banditselect"),
        counts=counted(claims),
        facts=_facts(runs, seconds),
        figures=[(title, several) for title, several in shown.items() if several],
        regimes=REGIMES,
        claims=_rows(experiments, claims),
        further=counted(further),
        practical=any(regime == "practical" for _, regime in ran),
        added=any(experiments[name].added for name in names),
        link=os.path.relpath(SIDE_BY_SIDE, folder) if SIDE_BY_SIDE.is_file() else "",
        sections=sections,
        run={"command": command, "seed": seeds, "numbers made by": listed(made_by)},
    )


def _order(experiment: Experiment) -> tuple[bool, bool, str]:
    figure = figure_of(experiment)
    return not experiment.shown, not figure.startswith("Figure"), figure


def _pictures(experiment: Experiment, results: Results, files: Mapping[str, bytes]) -> list[Picture]:
    """Return the pictures of a regime of an experiment, with captions and text for screen readers."""
    drawn = (*experiment.shown, *experiment.added) or [one for result in results.values() for one in result.curves]
    metric = experiment.metric.replace("_", " ").capitalize()
    n = listed(str(result.replicates) for result in results.values())
    shown = f"mean over n = {n} replicates and Student's 95 % interval of that mean"
    below = " Below, dashed: our policies, with the paper's in grey." if experiment.added else ""
    captions = {
        "figure": f"{experiment.place}. {experiment.title}. {metric}: mean of n = {n} with 95 % intervals.{below}",
        "curves": f"{metric} over the rounds: {shown} (band)",
        "finals": f"{metric} after the last round against {experiment.setting}: {shown} (bar)",
    }
    found = []
    for name in (file.removesuffix(".svg") for file in files if file.endswith(".svg")):
        caption = captions.get(name, f"{CAPTION} {metric.lower()}: {name.removeprefix('ranks-')}")
        alt = f"{listed(drawn, '; ')}. Panels: {'; '.join(results)}."
        found.append({"svg": files[f"{name}.svg"].decode(), "caption": caption, "alt": alt})
    return found


def _rows(experiments: Mapping[str, Experiment], verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Return a row for every sentence and experiment: where it is, and its verdicts; undecided ones come last."""
    rows: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.id, verdict.experiment), []).append(verdict)
    places = list(SIGNS)
    ordered = sorted(rows.items(), key=lambda row: min(places.index(one.outcome) for one in row[1]))
    return [(f"{experiments[name].place}: {name}", own) for (_, name), own in ordered]


def _section(experiment: Experiment, pictures: Mapping[str, list[Picture]], folder: Path) -> dict[str, Any]:
    """Return the details of an experiment: the pictures that are not at the top, by regime, and what failed."""
    parts = []
    for regime, own in pictures.items():
        failures = Path(experiment.name, regime, "failures.json")
        note = f"Some cells failed: see {failures}." if (folder / failures).is_file() else ""
        without = [one | {"caption": ""} for one in own]
        parts += [{"title": regime, "pictures": without, "note": note}] if own or note else []
    return {"title": f"{experiment.title} ({experiment.place})", "parts": parts}


def _facts(runs: Sequence[Result], seconds: float | None) -> str:
    """Return replicates, rounds, time and machine in one line."""
    sizes = {"replicates": [one.replicates for one in runs], "rounds": [int(one.checkpoints[-1]) for one in runs]}
    parts = [f"{listed([str(min(of)), str(max(of))], ' to ')} {name}" for name, of in sizes.items() if of]
    machine = f"{cores()} cores, {platform.system()} {platform.machine()}"
    own = f"banditselect {version('banditselect')}"
    return " · ".join([*parts, *([] if seconds is None else [duration(seconds)]), machine, own])


def render(**content: Any) -> str:
    """Return the page as HTML, with all words escaped; ``templates/report.html`` says what it has to be given."""
    jinja2 = need("jinja2", "experiments")
    loader = jinja2.PackageLoader(__package__, "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"image": _image, "measured": measured}
    return environment.get_template("report.html").render(signs=SIGNS, **content)


def _image(svg: str) -> str:
    """Return an SVG as an address that an image can have; its text falls back to fonts of the same widths."""
    readable = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml;base64," + base64.b64encode(readable.encode()).decode()


# The summary


def _markdown(experiments: Mapping[str, Experiment], ran: Ran, verdicts: Sequence[Verdict], folder: Path) -> str:
    """Return the summary: all claims, final values, what was tuned, and the arguments of every policy."""
    parts = [f"# {TITLE}", counted(verdicts), verdicts_table(verdicts)]
    for (name, regime), results in ran.items():
        experiment = experiments[name]
        parts.append(f"## {experiment.title} (`{name}`, {experiment.place}): {regime}")
        if experiment.ranked:
            parts.append(standing_tables(results, Store(folder / name / regime).round_times()))
        parts += [results.summary(experiment.metric, markdown=True), _tuned(results), _arguments(results)]
    return "\n\n".join(filter(None, parts)) + "\n"


def verdicts_table(verdicts: Sequence[Verdict]) -> str:
    """Return every verdict with its numbers, in Markdown."""
    rows = [
        [
            v.claim or v.quote,
            f"{v.experiment}, {v.regime}",
            "; ".join(filter(None, (v.statistic, v.note))),
            measured(v.value, v.interval),
            v.expected,
            str(v.n),
            f"{SIGNS[v.outcome].symbol} {v.outcome}" + (f" ({v.vacuous})" if v.vacuous else ""),
        ]
        for v in verdicts
    ]
    head = ["claim", "on", "measured", "value and 95 % interval", "expected", "n", "verdict"]
    return markdown_table(head, rows) if rows else ""


def _tuned(results: Results) -> str:
    """Return which values were tried and chosen; "" if nothing was tuned."""
    records = {name: result.settings["tuning"] for name, result in results.items() if "tuning" in result.settings}
    if not records:
        return ""
    policies = dict.fromkeys(policy for record in records.values() for policy in record["policies"])

    def chosen(policy: str, record: Mapping[str, Any]) -> str:
        tuned = record["policies"].get(policy, {"choice": {}})
        marked = [f"{n} {_short(v)}{END if n in tuned['ends'] else ''}" for n, v in tuned["choice"].items()]
        return ", ".join(marked) or NOTHING

    rows = [[policy, *(chosen(policy, record) for record in records.values())] for policy in policies]
    tried: dict[str, Any] = {}
    for record in records.values():
        tried |= record["grid"]
        tried |= {f"{name} of {p}": v for p, own in record.get("own", {}).items() for name, v in own.items()}
    n = listed(str(record["replicates"][1] - record["replicates"][0]) for record in records.values())
    words = "; ".join(f"{name}: {json.dumps(_short(values)).strip('[]')}" for name, values in tried.items())
    return (
        f"What was tuned, and chosen\n\n{markdown_table(['policy', *records], rows)}\n\n"
        f"Values tried, for every policy that has the argument: {words}. Chosen by the mean over {n} problems that are "
        f"not among those reported. {END} the end of the values tried: another might suit this policy better."
    )


def _arguments(results: Results) -> str:
    """Return the arguments of problems and policies as JSON, with all defaults filled in."""
    rows = []
    for problem, result in results.items():
        told = {"problem": result.settings.get("problem", {}), **result.settings.get("policies", {})}
        rows += [[problem, name, json.dumps(_short(one), ensure_ascii=False)] for name, one in told.items() if one]
    return "Arguments, with all defaults filled in\n\n" + markdown_table(["problem", "", "arguments"], rows)


def _short(value: Any) -> Any:
    """Return settings without what they leave open, long lists by their length."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return f"{len(value)} values" if len(value) > LONG else [_short(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
