"""The files of a report: the page with figures and verdicts, the verdicts as JSON, a summary as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from ...carriers.extras import need
from ...reporting.markdown import markdown_table
from ...reporting.numbers import duration
from ...reporting.page import Citation, Page, render
from ...reporting.verdicts import CheckedSentence
from ...simulation import Results
from ...simulation.engine import cores
from ...simulation.results import save_figures
from ...simulation.store import write_text
from ...simulation.tuning import tuning_summary
from ..claims import Verdict
from ..experiment import REGIMES, Experiment, Ranking, stored
from .sections import section
from .standings import save_ranks, standing_tables
from .words import claims_json, claims_tables, summary_words

REPORT_FILES = ("report.html", "claims.json", "summary.md")
TITLE = "Feature and Parameter Selection in Stochastic Linear Bandits, reproduced"

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
    folder: with the stored results, ``<experiment>/<regime>/results.parquet``; the figures are written beside them.
    experiments: all that could have been run; the page says which were not.
    verdicts: on what was run.
    seconds: how long the command took; None if that is not known.
    command: what was typed.
    figures: whether to draw; without them the page has the tables only.

    Returns
    -------
    All files written.
    """
    ran = list(stored(folder, experiments))
    drawn = _figures(folder, ran) if figures else [[] for _ in ran]
    found: dict[str, dict[str, Results]] = {}
    files: dict[str, dict[str, list[Path]]] = {}
    for (experiment, regime, results), paths in zip(ran, drawn, strict=True):
        found.setdefault(experiment.name, {})[regime] = results
        files.setdefault(experiment.name, {})[regime] = paths
    summary = summary_words(experiments, list(found), verdicts)
    page = Page(
        title=TITLE,
        summary=summary,
        regimes=REGIMES,
        checks=[_check(verdict) for verdict in verdicts],
        sections=[section(experiments[name], regimes, files[name], folder / name) for name, regimes in found.items()],
        facts=_facts(found, seconds, command),
        citations=[PAPER, _software()],
    )
    texts = (render(page), claims_json(verdicts) + "\n", _markdown(summary, experiments, found, verdicts, folder))
    written = dict(zip(REPORT_FILES, texts, strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        write_text(folder / name, text)
    return [*(folder / name for name in written), *chain.from_iterable(drawn)]


def _figures(folder: Path, ran: Sequence[tuple[Experiment, str, Results]]) -> list[list[Path]]:
    """Draw everything, on all cores; return the files of each."""
    joblib = need("joblib", "experiments")
    draw = joblib.delayed(_draw)
    tasks = (
        draw(one.metric, one.setting, one.ranking, results, folder / one.name / regime) for one, regime, results in ran
    )
    return list(joblib.Parallel(n_jobs=min(cores(), len(ran)) or 1)(tasks))


def _draw(metric: str, setting: str, ranking: Ranking | None, results: Results, folder: Path) -> list[Path]:
    """Draw what a regime of an experiment showed: curves and final values, or ranks."""
    if ranking is not None:
        return save_ranks(results, ranking, folder)
    return save_figures(results, metric, folder, setting=setting)


def _facts(found: Mapping[str, Mapping[str, Results]], seconds: float | None, command: str) -> list[tuple[str, str]]:
    settings = [one.settings for regimes in found.values() for results in regimes.values() for one in results.values()]
    versions: dict[str, dict[str, None]] = {}  # a dictionary is a set that keeps its order
    for name, number in (item for one in settings for item in one.get("versions", {}).items()):
        versions.setdefault(name, {})[number] = None
    seeds = ", ".join(dict.fromkeys(str(one["seed"]) for one in settings if "seed" in one))
    facts = {
        "command": command,
        "time": "" if seconds is None else duration(seconds),
        "seed": seeds,
        "versions that made the numbers": ", ".join(f"{name} {' / '.join(n)}" for name, n in versions.items()),
        "version that made the page": f"banditselect {version('banditselect')}",
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


def _check(verdict: Verdict) -> CheckedSentence:
    fields = asdict(verdict)
    fields["section"], fields["quoted"] = fields.pop("experiment"), not fields.pop("ours")
    del fields["id"], fields["claim"], fields["note"]
    return CheckedSentence(**fields)


def _markdown(
    summary: Sequence[str],
    experiments: Mapping[str, Experiment],
    found: Mapping[str, Mapping[str, Results]],
    verdicts: Sequence[Verdict],
    folder: Path,
) -> str:
    parts = [f"# {TITLE}", *summary, *claims_tables(verdicts)]
    for name, regimes in found.items():
        parts.append(f"## {experiments[name].title} (`{name}`, {experiments[name].place})")
        for regime, results in regimes.items():
            tuned = "\n".join(f"* {line}" for line in tuning_summary(results).splitlines())
            tables = standing_tables(experiments[name], results, folder / name / regime)
            words = [f"{one.caption}\n\n{markdown_table(one.head, one.rows)}" for one in tables]
            parts += [f"### {regime}", *words, results.summary(experiments[name].metric, markdown=True), tuned]
    return "\n\n".join(filter(None, parts)) + "\n"
