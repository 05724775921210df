"""Markdown for pages that are written by a program: tables, and what stands between two markers of a file."""

from collections.abc import Sequence

from ..runtime import errors

# what Markdown or HTML would take for a sign
PLAIN = str.maketrans({"&": "&amp;", "<": "&lt;"} | {sign: "\\" + sign for sign in "\\|*_`["})


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """Return a table whose cells are plain words: what Markdown or HTML would take for a sign is shown as it is.

    ``numbers``: all columns but the first are flush right.

    Examples
    --------
    >>> print(markdown_table(["sentence", "verdict"], [["a < b | c", "holds"]]))
    | sentence | verdict |
    |---|---|
    | a &lt; b \\| c | holds |
    """
    words = [[" ".join(cell.split()).translate(PLAIN) for cell in cells] for cells in (head, *rows)]
    lines = ["| " + " | ".join(cells) + " |" for cells in words]
    rule = "|:---|" + "---:|" * (len(head) - 1) if numbers else "|" + "---|" * len(head)
    return "\n".join([lines[0], rule, *lines[1:]])


def replace_between(text: str, marker: str, content: str) -> str:
    """Return a text with ``content`` between ``<!-- marker -->`` and ``<!-- end of marker -->``, each on its own line.

    Examples
    --------
    >>> print(replace_between("<!-- claims -->\\nold\\n<!-- end of claims -->", "claims", "new"))
    <!-- claims -->
    new
    <!-- end of claims -->
    """
    first, last = f"<!-- {marker} -->", f"<!-- end of {marker} -->"
    if text.count(first) != 1 or text.count(last) != 1 or text.index(first) > text.index(last):
        raise errors.refuse("text", text, f"a text with {first!r} and, after it, {last!r}, once each")
    before, rest = text.split(first)
    return f"{before}{first}\n{content.strip()}\n{last}{rest.split(last)[1]}"
