"""The page that a reproduction ends with, and the same as JSON and Markdown: all from stored results."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..reporting.markdown import markdown_table
from ..reporting.page import Citation, Page, render
from ..reporting.verdicts import SIGNS, Check, interval, measured, overall
from ..simulation import Results
from ..simulation.engine import cores, need
from ..simulation.results import save_figures
from ..simulation.store import write_text
from ..simulation.tuning import tuning_summary
from .claims import Verdict
from .experiment import ARMS, Experiment, stored
from .sections import duration, section

TITLE = "Feature and Parameter Selection in Stochastic Linear Bandits, reproduced"
OURS = "-ours"  #: the end of the id of a sentence that is judged on a variant of ours

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
    folder: with the stored results, ``<experiment>/<arm>/results.parquet``; the figures are written beside them.
    experiments: all that could have been run; the page says which were not.
    verdicts: on what was run.
    seconds: how long the command took; None if that is not known.
    command: what was typed.
    figures: whether to draw; without them the page has the tables only.

    Returns
    -------
    All files written.
    """
    found: dict[str, dict[str, Results]] = {}
    for experiment, arm, results in stored(folder, experiments):
        found.setdefault(experiment.name, {})[arm] = results
    files = _figures(folder, experiments, found) if figures else {name: {} for name in found}
    summary = summary_words(experiments, list(found), verdicts)
    page = Page(
        title=TITLE,
        summary=summary,
        arms=ARMS,
        checks=[_check(verdict) for verdict in verdicts],
        sections=[section(experiments[name], arms, files[name], folder / name) for name, arms in found.items()],
        facts=_facts(found, seconds, command),
        citations=[PAPER, _software()],
    )
    written = {
        "report.html": render(page),
        "claims.json": claims_json(verdicts) + "\n",
        "summary.md": _markdown(summary, experiments, found, verdicts),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        write_text(folder / name, text)
    drawn = [path for arms in files.values() for paths in arms.values() for path in paths]
    return [*(folder / name for name in written), *drawn]


def _figures(
    folder: Path, experiments: Mapping[str, Experiment], found: Mapping[str, Mapping[str, Results]]
) -> dict[str, dict[str, list[Path]]]:
    """Draw everything, on all cores; return the files by experiment and arm."""
    joblib = need("joblib", "experiments")
    arms = [(name, arm, results) for name, by_arm in found.items() for arm, results in by_arm.items()]
    drawn = joblib.Parallel(n_jobs=min(cores(), len(arms)) or 1)(
        joblib.delayed(save_figures)(
            results, experiments[name].metric, folder / name / arm, setting=experiments[name].setting
        )
        for name, arm, results in arms
    )
    files: dict[str, dict[str, list[Path]]] = {name: {} for name in found}
    for (name, arm, _), paths in zip(arms, drawn, strict=True):
        files[name][arm] = paths
    return files


def claims_json(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a JSON list; a number that there is not is null."""
    return json.dumps([_plain(asdict(verdict)) for verdict in verdicts], indent=1, allow_nan=False)


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a Markdown table: a row per sentence, and for each arm where it holds and where not."""
    arms = [arm for arm in ARMS if any(verdict.arm == arm for verdict in verdicts)]
    rows = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        rows.append([f"“{quote}”", *(_where([v for v in own if v.arm == arm]) for arm in arms)])
    return markdown_table(["the paper says", *arms], rows)


def _where(own: Sequence[Verdict]) -> str:
    """Return where a sentence holds, where it does not and where that is not decided."""
    names: dict[str, list[str]] = {verdict: [] for verdict in SIGNS}
    for name in dict.fromkeys(verdict.experiment for verdict in own):
        names[overall(verdict.verdict for verdict in own if verdict.experiment == name)].append(name)
    return "; ".join(f"{SIGNS[v].symbol} {v}: {', '.join(found)}" for v, found in names.items() if found) or "–"


def verdict_lines(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal: each sentence, and below it a line for every experiment and arm."""
    lines = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        lines.append(f"“{quote}” ({'; '.join(dict.fromkeys(verdict.place for verdict in own))})")
        lines += [
            f"  {SIGNS[v.verdict].symbol} {v.verdict:13}  {v.experiment}, {v.arm}: {v.statistic}: "
            f"{measured(v.value, v.interval)} {interval(v.interval)}, expected {v.expected}, n = {v.n}"
            for v in own
        ]
    return "\n".join(lines)


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many judgements came out how, by arm, in words."""
    ours = [verdict for verdict in verdicts if verdict.id.endswith(OURS)]
    printed = _counts([verdict for verdict in verdicts if verdict not in ours])
    told = [f"Of the verdicts on the paper's algorithms, {printed}" if printed else ""]
    told.append(f"Of those on variants of ours, {_counts(ours)}" if ours else "")
    return " ".join(filter(None, told))


def _counts(verdicts: Sequence[Verdict]) -> str:
    told = []
    for arm in (arm for arm in ARMS if any(verdict.arm == arm for verdict in verdicts)):
        found = [verdict.verdict for verdict in verdicts if verdict.arm == arm]
        holds, fails, undecided = (found.count(verdict) for verdict in SIGNS)
        told.append(f"in the arm “{arm}” {holds} of {len(found)} hold, {fails} fail, {undecided} stay open")
    return "; ".join(told) + "." if told else ""


def summary_words(experiments: Mapping[str, Experiment], run: Sequence[str], verdicts: Sequence[Verdict]) -> list[str]:
    """Return what was judged and what came out, in words, and what was not run."""
    missing = [name for name in experiments if name not in run]
    sentences = {verdict.quote for verdict in verdicts if not verdict.id.endswith(OURS)}
    words = f"{'All' if not missing else len(run)} of the paper's {len(experiments)} experiments were run"
    if sentences:
        judged = "1 sentence of its text was" if len(sentences) == 1 else f"{len(sentences)} sentences of its text were"
        words += f", and {judged} judged, each on every experiment that it speaks of"
    paragraphs = [f"{words}. {counted(verdicts)}".strip()]
    return paragraphs + ([f"Not run, and left out of all that follows: {', '.join(missing)}."] if missing else [])


def _facts(found: Mapping[str, Mapping[str, Results]], seconds: float | None, command: str) -> list[tuple[str, str]]:
    settings = [one.settings for arms in found.values() for results in arms.values() for one in results.values()]
    versions: dict[str, list[str]] = {}
    for told in settings:
        for name, number in told.get("versions", {}).items():
            versions.setdefault(name, [])
            versions[name] += [number] if number not in versions[name] else []
    seeds = ", ".join(dict.fromkeys(str(told["seed"]) for told in settings if "seed" in told))
    facts = {
        "command": command,
        "time": "" if seconds is None else duration(seconds),
        "seed": seeds,
        "versions that made the numbers": ", ".join(f"{name} {' / '.join(n)}" for name, n in versions.items()),
        "version that made the page": f"banditselect {version('banditselect')}",
        "beside this page": "claims.json, summary.md; for every experiment and arm results.parquet and the figures",
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


def _check(verdict: Verdict) -> Check:
    told = asdict(verdict)
    told["section"] = told.pop("experiment")
    del told["id"]
    return Check(**told)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _markdown(
    summary: Sequence[str],
    experiments: Mapping[str, Experiment],
    found: Mapping[str, Mapping[str, Results]],
    verdicts: Sequence[Verdict],
) -> str:
    parts = [f"# {TITLE}", *summary, *([claims_table(verdicts)] if verdicts else [])]
    for name, arms in found.items():
        parts.append(f"## {experiments[name].title} (`{name}`, {experiments[name].place})")
        for arm, results in arms.items():
            tuned = "\n".join(f"* {line}" for line in tuning_summary(results).splitlines())
            parts += [f"### {arm}", results.summary(experiments[name].metric, markdown=True), tuned]
    return "\n\n".join(filter(None, parts)) + "\n"
