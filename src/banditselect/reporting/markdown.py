"""Tables in Markdown, for pages that a program writes."""

from collections.abc import Sequence

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
