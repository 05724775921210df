"""Find sentences that break the rules of CONTRIBUTING: ``python -m tools.english [FILE ...]``, part of ``make lint``.

Docstrings and messages begin with a verb or a noun of the field. Some words and turns of phrase are not used at all,
because readers stumble over them.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "tools", "benchmarks", "docs", "examples")

FIRST_WORDS = re.compile(r"(What|Who|Whom|Whose|Whoever|Whatever|Whether|Which|How|Of)\b")
PHRASES = re.compile(
    r"\b(nobody|everybody|somebody|anybody|everyone|whoever|whomever|whatever|whom|(?:her|his) own|of (?:hers|his)"
    r"|is told|are told|was told|told from|told apart|tells|tells? (?:\w+ )?apart"
    r"|as it comes|as they come|will do|stands? for|is none|are none|for ever|of late|of those that"
    r"|(?:with|of|from|by|to|for|than|on|in) what)\b"
    r"|(?:^|[.:;] )(?:What|Who) (?![^.]*\?)"
)


def sentences(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield line, text and whether it opens a docstring, of all prose in a file: docstrings and comments, or a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            fenced ^= line.lstrip().startswith("```")
            if not fenced:
                yield number, line, False
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            for offset, line in enumerate(docstring.splitlines()):
                yield node.body[0].lineno + offset, line, offset == 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: "), False


def faults(path: Path) -> Iterator[str]:
    """Yield every fault of a file as ``file:line: fault: text``."""
    for number, text, opens in sentences(path):
        if found := (opens and FIRST_WORDS.match(text)) or PHRASES.search(text):
            yield f"{path.relative_to(ROOT)}:{number}: {found.group()!r}: {text.strip()}"


def main() -> int:
    """Print the offending sentences; return 1 if there are any."""
    every = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*.md"))
    files = map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(p for p in every if p.suffix in (".py", ".md"))
    found = [fault for path in files for fault in faults(path.resolve())]
    print(*found, sep="\n", end="\n" if found else "")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
