"""The LaTeX of our docstrings as text that a terminal can show."""

import re
import textwrap
import unicodedata

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "varepsilon": "ε", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "phi": "φ", "ell": "ℓ", "sum": "Σ", "top": "ᵀ",
    "langle": "⟨", "rangle": "⟩", "le": "≤", "ge": "≥", "ne": "≠", "pm": "±", "sim": "~", "propto": "∝", "in": "∈",
    "xi": "ξ", "leftarrow": "←", "dots": "...",
    "left": "", "right": "", "big": "", "Big": "", "{": "{", "}": "}", "quad": "   ", "qquad": "\n", ",": " ",
}  # fmt: skip
FUNCTIONS = ("arg", "det", "exp", "log", "max", "min")
ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
ENDS = re.compile(r"\s*($|[-+=,)}\]]|\\right|\\q?quad)")  # what may follow a fraction without a factor
NO_SPACE = re.compile(r"$|[\s_^(}]|\\left")  # what may follow a function
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.")
INLINE = re.compile(r":math:`([^`]*)`")
DISPLAYED = re.compile(r"^( *)\.\. math::((?:.*\n)(?:\1 +.*\n)*)", re.MULTILINE)


def readable(formula: str) -> str:
    r"""Return a formula without commands; one that is not known is left as it is.

    What ``\qquad`` sets apart comes on lines of its own.

    Examples
    --------
    >>> readable(r"\frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}")
    "1 / (κ + α_t (ŷ_t(a') - ŷ_t(a)))"
    >>> readable(r"\tfrac12 \log(1 + \frac{v}{s^2})")
    '(1 / 2) log(1 + v / s²)'
    >>> readable(r"\sqrt{\log\det(V_t / \lambda)} |\phi^i|_{V_i^{-1}}")
    '√(log det(V_t / λ)) |φ^i|_(V_i⁻¹)'
    >>> readable(r"C_t = \Big\{ s : \big(a - b\big) \le c \Big\}, s \in C_t")
    'C_t = { s : (a - b) ≤ c }, s ∈ C_t'
    """
    text = _sequence(TOKEN.findall(" ".join(formula.split()))[::-1])
    return re.sub(r" *\n *", "\n", re.sub(r"⟨ | ⟩", lambda found: found[0].strip(), text)).strip()


def without_markup(text: str) -> str:
    """Return a docstring with its formulas readable, and of code and references to classes only the words."""
    text = DISPLAYED.sub(lambda found: textwrap.indent(readable(found[2]), found[1] + "    ") + "\n", text + "\n")
    text = INLINE.sub(lambda found: readable(found[1]), text)
    return re.sub(r"``([^`]*)``", r"\1", re.sub(r":\w+:`~?([^`]*)`", r"\1", text)).rstrip("\n")


def _sequence(tokens: list[str]) -> str:
    """Read tokens, the next one last, up to the end of their group."""
    out = ""
    while tokens and tokens[-1] != "}":
        out += _atom(tokens)
    return out


def _atom(tokens: list[str]) -> str:
    token = tokens.pop()
    if token == "{":
        inside = _sequence(tokens)
        tokens.pop()
        return inside
    if token == "^":
        script = _argument(tokens)
        return script.translate(RAISED) if re.fullmatch("-?[0-9]+", script) else _script("^", script)
    if token == "_":
        return _script("_", _argument(tokens))
    name = token[1:] if token[0] == "\\" else ""
    if name in ("frac", "tfrac"):
        fraction = " / ".join(_bracketed(_argument(tokens)) for _ in range(2))
        return fraction if ENDS.match("".join(tokens[::-1])) else f"({fraction})"
    if name == "sqrt":
        return "√" + _bracketed(_argument(tokens), alone=r"\w+")
    if name in ("text", "mathrm"):
        return _argument(tokens)
    if name in ACCENTS:
        return unicodedata.normalize("NFC", _argument(tokens) + ACCENTS[name])
    if name in FUNCTIONS:
        return name + ("" if NO_SPACE.match("".join(tokens[-1:])) else " ")
    return SYMBOLS.get(name, token)


def _argument(tokens: list[str]) -> str:
    while tokens[-1].isspace():
        tokens.pop()
    return _atom(tokens)


def _script(mark: str, script: str) -> str:
    return script if script == "ᵀ" else mark + _bracketed(script, alone=r"[^\W_]+|.")


def _bracketed(text: str, alone: str = r"[^\s/]+|[^\s/()]*\([^()]*\)[^\s/()]*") -> str:
    """Return a text in brackets, unless it needs none."""
    return text if re.fullmatch(alone, text) else f"({text})"
