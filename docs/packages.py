"""Draw the packages, docs/figures/packages.svg, from the import rules in pyproject.toml: python docs/packages.py

Each row shows a package, the first sentence of its docstring, and a dot for each package above that it imports from.
"""

import ast
import tomllib
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib.figure import Figure

HERE = Path(__file__).parent
LIBRARY = HERE.parent / "src" / "banditselect"


def packages() -> list[str]:
    """Return the packages in the order of the rules, the one that imports from no other first."""
    rules = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(rule["layers"] for rule in rules if rule.get("containers") == ["banditselect"])
    return [name.strip() for layer in reversed(layers) for name in layer.replace("|", ":").split(":")]


def sentence(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    path = LIBRARY / package / "__init__.py"
    text = ast.get_docstring(ast.parse((path if path.exists() else LIBRARY / f"{package}.py").read_text())) or ""
    words = " ".join(text.replace("`", "").split())
    return words.partition(". ")[0].rstrip(".")


def imports() -> set[tuple[str, str]]:
    """Return the pairs (package, a package that one of its modules imports from)."""
    graph = grimp.build_graph("banditselect")
    found = set()
    for module in graph.modules - {"banditselect.__main__"}:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = tuple(name.split(".")[1] for name in (module, imported) if "." in name)
            if len(set(pair)) == 2:
                found.add(pair)
    return found


def draw(path: Path) -> None:
    """Draw the packages, top down, and which imports from which."""
    names, edges = packages(), imports()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "packages", "font.family": "sans-serif"}):
        figure = Figure(figsize=(11.0, 0.36 * len(names) + 1.2))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, 110.0)
        axes.set_ylim(len(names) + 0.3, -3.0)
        axes.axis("off")
        left, step = 67.5, 1.75
        for i, name in enumerate(names):
            axes.axhspan(i - 0.44, i + 0.44, 0.008, 0.992, color="#eef2f6" if i % 2 else "#f8fafc", lw=0)
            axes.text(2.0, i, name, va="center", size=9.5, weight="bold", color="#12304a")
            said = sentence(name)
            axes.text(12.5, i, said if len(said) <= 98 else said[:95] + "...", va="center", size=7.0, color="#33414d")
            axes.text(left + step * i, -0.75, name, rotation=55, size=7.6, color="#12304a")
            for j, other in enumerate(names[:i]):
                there = (name, other) in edges
                axes.plot(left + step * j, i, "o", ms=4.6 if there else 1.6, color="#1f6f9f" if there else "#c7d0d8")
        title = "A package imports only from the packages above it"
        axes.text(2.0, -1.6, title, size=11, weight="bold", color="#12304a")
        legend = "dot: imports from the package of this column"
        axes.text(left - 1.5, len(names) - 0.2, legend, size=7.0, color="#5b6872")
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(HERE / "figures" / "packages.svg")
