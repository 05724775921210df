"""Results of simulations: curves, finals, comparisons, plots, tables, and the parquet file that keeps them."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import reporting
from ..runtime import constraints, errors, files
from ..runtime.extras import need
from ..statistics import Comparison, paired_difference
from ..types import Array
from .cells import Failure
from .loop import METRICS

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_KEY = b"banditselect"  #: of the metadata of a file


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Curves of every policy on the same instances.

    Attributes
    ----------
    checkpoints: the rounds after which the metrics were read, ``(C,)``.
    curves: by policy and metric, ``(C, replicates)``; ``banditselect.simulation.METRICS`` explains them.
    settings: what was run: the problem, rounds, replicates, seed, and the arguments that each policy really had.
    """

    metrics: ClassVar[tuple[str, ...]] = tuple(METRICS)

    checkpoints: NDArray[np.int64]
    curves: Mapping[str, Mapping[str, Array]]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def policies(self) -> list[str]:
        """The names of the policies."""
        return list(self.curves)

    @property
    def replicates(self) -> int:
        """The number of replicates."""
        return next((curves["regret"].shape[1] for curves in self.curves.values()), 0)

    def curve(self, policy: str, metric: str = "regret") -> Array:
        """Return a metric at every checkpoint, ``(C, replicates)``."""
        constraints.OneOf(tuple(self.curves)).check("policy", policy, None)
        self._check(metric)
        return self.curves[policy][metric]

    def final(self, policy: str, metric: str = "regret") -> Array:
        """Return a metric after the last round, ``(replicates,)``."""
        return self.curve(policy, metric)[-1]

    def finals(self, metric: str = "regret") -> dict[str, Array]:
        """Return a metric after the last round by policy, ``(replicates,)`` each."""
        return {name: curve[-1] for name, curve in self._of_one_metric(metric)[1].items()}

    def summary(self, metric: str = "regret", *, markdown: bool = False) -> str:
        """Return a table: mean over the replicates, its standard error, median and worst, per policy."""
        return reporting.summary_table(self.finals(metric), metric=metric, markdown=markdown)

    def to_latex(self, metric: str = "regret") -> str:
        """Return a LaTeX table (booktabs): mean and standard error per policy, the best in bold."""
        return reporting.latex_table({metric.replace("_", " "): self.finals(metric)}, metric=metric)

    def __repr__(self) -> str:
        return f"<Result: {', '.join(self.curves)}; {self.checkpoints[-1]} rounds, {self.replicates} replicates>"

    def compare(self, a: str, b: str, metric: str = "regret", *, confidence: float = 0.95) -> Comparison:
        """Return the mean difference of ``a`` and ``b`` after the last round, replicate by replicate, with an interval.

        The policies met the same instances and the same noise, so the difference varies less than either of them.
        """
        finals = {name: self.final(name, metric) for name in (a, b)}
        for name, values in finals.items():
            if not np.isfinite(values).all():
                raise errors.refuse("metric", metric, f"a metric that {name!r} has here: it is NaN")
        return paired_difference(finals[a], finals[b], names=(a, b), metric=metric, confidence=confidence)

    def plot(self, metric: str = "regret", **options: Any) -> "Figure":
        """Return a figure: mean and 95 % interval of every policy against the rounds.

        ``options`` are those of :func:`banditselect.reporting.plot_curves`; :func:`banditselect.reporting.save_figure`
        writes PNG, SVG or PDF.
        """
        return reporting.plot_curves(*self._of_one_metric(metric), metric=metric, **options)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return tidy rows: policy, replicate, round, and a column per metric."""
        return Results({"": self}).to_pandas().drop(columns="problem")

    def save(self, path: str | Path) -> None:
        """Write everything to one parquet file, replaced atomically; ``Result.load`` reads it."""
        Results({"problem": self}).save(path)

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read what ``save`` wrote."""
        results = Results.load(path)
        if len(results) != 1:
            raise errors.refuse(str(path), list(results), "results of one problem; Results.load reads several")
        return next(iter(results.values()))

    def _check(self, metric: str) -> None:
        constraints.OneOf(self.metrics).check("metric", metric, None)

    def _of_one_metric(self, metric: str) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """Return the checkpoints, and the curves of one metric by policy."""
        self._check(metric)
        return self.checkpoints, {name: curves[metric] for name, curves in self.curves.items()}


class Results(dict[str, Result]):
    """Results by name of the problem: what a sweep returns.

    Attributes
    ----------
    failures: the cells that failed, with their settings; their policies are not in the results of that problem.
    """

    def __init__(self, results: Mapping[str, Result], failures: Sequence[Failure] = ()) -> None:
        super().__init__(results)
        self.failures = tuple(failures)

    def __missing__(self, problem: str) -> NoReturn:
        raise KeyError(f"problem: got {problem!r}, expected one of {', '.join(map(repr, self))}")

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} cells failed" if self.failures else ""
        return f"<Results: {', '.join(self)}{failed}>"

    def summary(self, metric: str = "regret", *, markdown: bool = False) -> str:
        """Return a table per problem, and what failed."""
        parts = []
        for name, result in self.items():
            if result.curves:
                when = f"after {result.checkpoints[-1]} rounds, {result.replicates} replicates"
                table = result.summary(metric, markdown=markdown)
                parts.append(f"{name}: {metric.replace('_', ' ')} {when}\n\n{table}")
            failed = {f.cell.policy: f.error for f in reversed(self.failures) if f.cell.problem == name}
            parts += [f"{name}: {policy} failed: {error!r}" for policy, error in failed.items()]
        return "\n\n".join(parts)

    def to_latex(self, metric: str = "regret") -> str:
        """Return a LaTeX table (booktabs): a row per policy, a column per problem; see ``Result.to_latex``."""
        return reporting.latex_table({name: r.finals(metric) for name, r in self._played.items()}, metric=metric)

    def plot(self, metric: str = "regret", **options: Any) -> "Figure":
        """Return a figure with a panel per problem; ``options`` are those of ``reporting.plot_panels``."""
        panels = {name: result._of_one_metric(metric) for name, result in self._played.items()}
        return reporting.plot_panels(panels, metric=metric, **options)

    def plot_finals(self, metric: str = "regret", **options: Any) -> "Figure":
        """Return a figure: the metric after the last round against the number in which the problems differ, if there is
        one, else against their names. ``options`` are those of ``reporting.plot_finals``.
        """
        setting, numbers = _varied(list(self._played.values()))
        finals = {name: result.finals(metric) for name, result in self._played.items()}
        return reporting.plot_finals(finals, metric=metric, **({"setting": setting, "x": numbers} | options))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return tidy rows: problem, policy, replicate, round, and a column per metric."""
        need("pandas", "experiments")
        return self._table().to_pandas()

    def save(self, path: str | Path) -> None:
        """Write everything to one parquet file, replaced atomically; the same content gives the same bytes."""
        parquet = need("pyarrow.parquet", "experiments")
        if Path(path).suffix != ".parquet":
            raise errors.refuse("path", str(path), "a file name that ends in .parquet")
        about = json.dumps({"format": 1, "settings": {name: result.settings for name, result in self.items()}})
        table = self._table().replace_schema_metadata({_KEY: about.encode()})
        with files.replacing(path) as file:
            parquet.write_table(table, file, compression="zstd")

    @classmethod
    def load(cls, path: str | Path) -> "Results":
        """Read what ``save`` wrote; any other file raises ValueError."""
        pa, parquet = need("pyarrow", "experiments"), need("pyarrow.parquet", "experiments")
        try:
            table = parquet.read_table(path)
            settings = json.loads(table.schema.metadata[_KEY])["settings"]
            numbers = {name: table.column(name).to_numpy() for name in ("replicate", "round")}
            unknown = np.full(len(table), np.nan)  # an older table has fewer metrics
            numbers |= {m: table.column(m).to_numpy() if m in table.column_names else unknown for m in METRICS}
            problems, policies = (table.column(name).to_pylist() for name in ("problem", "policy"))
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: not a table of results, or damaged: {error}") from None
        checkpoints = dict.fromkeys(settings, np.empty(0, np.int64))
        curves: dict[str, dict[str, dict[str, Array]]] = {name: {} for name in settings}
        start = 0
        for (problem, policy), group in itertools.groupby(zip(problems, policies, strict=True)):
            stop = start + sum(1 for _ in group)
            checkpoints[problem] = np.unique(numbers["round"][start:stop])
            rows = {m: numbers[m][start:stop].reshape(-1, checkpoints[problem].size) for m in METRICS}
            curves[problem][policy] = {m: np.ascontiguousarray(row.T) for m, row in rows.items()}
            start = stop
        return cls({name: Result(checkpoints[name], curves[name], settings[name]) for name in settings})

    @property
    def _played(self) -> dict[str, Result]:
        """The results of which there is a curve."""
        return {name: result for name, result in self.items() if result.curves}

    def _table(self) -> Any:
        """Return the rows as a table of pyarrow; words are codes into a list."""
        pa = need("pyarrow", "experiments")
        policies = list(dict.fromkeys(policy for result in self.values() for policy in result.curves))
        rows: dict[str, list[NDArray[Any]]] = {n: [] for n in ("problem", "policy", "replicate", "round", *METRICS)}
        for i, result in enumerate(self.values()):
            for policy, curves in result.curves.items():
                C, R = next(iter(curves.values())).shape
                rows["problem"].append(np.full(R * C, i))
                rows["policy"].append(np.full(R * C, policies.index(policy)))
                rows["replicate"].append(np.repeat(np.arange(R), C))
                rows["round"].append(np.tile(result.checkpoints, R))
                for metric in METRICS:
                    rows[metric].append(curves[metric].T.ravel() if metric in curves else np.full(R * C, np.nan))
        columns = {name: np.concatenate(pieces or [np.empty(0)]) for name, pieces in rows.items()}
        words = {"problem": list(self), "policy": policies}
        labels = {n: pa.DictionaryArray.from_arrays(columns[n].astype(np.int32), words[n]) for n in words}
        return pa.table(columns | labels)


def _varied(results: Sequence[Result]) -> tuple[str, list[float] | None]:
    """Return the one argument in which the problems differ and its values, if they are growing numbers."""
    arguments = [dict(result.settings.get("problem", {}).get("arguments", {})) for result in results]
    names = arguments[0] if arguments else ()
    varied = [name for name in names if len({repr(own.get(name)) for own in arguments}) > 1]
    if len(varied) == 1:
        values = [own.get(varied[0]) for own in arguments]
        numbers = [v for v in values if isinstance(v, int | float)]
        if len(numbers) == len(values) and numbers == sorted(set(numbers)):
            return varied[0], numbers
    return "problem", None
