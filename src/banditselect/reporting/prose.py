"""The little reStructuredText that docstrings use, as blocks for a page: paragraphs, lists, literal text."""

import inspect
import re
from typing import Literal, NamedTuple

_ITEM = re.compile(r"(?:[*+-]|\d+\.)\s+")
_RULE = re.compile(r"[=+-]{4,}")  # the lines of a table, which is shown as it was typed
_INLINE = re.compile(
    r"``(?P<code>.+?)``|:\w+:`(?P<role>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*"
)

Kind = Literal["paragraph", "list", "literal"]


class Span(NamedTuple):
    """Words in one face: "text", "code", "strong" or "em"."""

    face: str
    text: str


class Block(NamedTuple):
    """A paragraph or literal text (one item), or a list."""

    kind: Kind
    items: list[list[Span]]


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text; what is not understood is left as it is, as words.

    Examples
    --------
    >>> [block.kind for block in blocks("Words and ``code``.\\n\\n* one\\n* two,\\n  longer")]
    ['paragraph', 'list']
    """
    found: list[Block] = []
    literal = False
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if not part.strip():
            continue
        lines = part.splitlines()
        if (literal and part[:1].isspace()) or any(_RULE.match(line.strip()) for line in lines):
            found.append(Block("literal", [[Span("text", inspect.cleandoc("\n" + part))]]))
            continue
        literal = part.endswith("::")
        found += _prose(part[:-1] if literal else part)
    return found


def _prose(part: str) -> list[Block]:
    """Return a paragraph, a list, or a paragraph and the list that follows it without an empty line."""
    words: list[str] = []
    items: list[str] = []
    for line in part.splitlines():
        mark = _ITEM.match(line.strip())
        if mark and (items or not words or line[:1].isspace() or line.startswith("*")):
            items.append(line.strip()[mark.end() :])
        elif items:
            items[-1] += " " + line.strip()
        else:
            words.append(line.strip())
    found = [Block("paragraph", [_spans(" ".join(words))])] if words else []
    return found + ([Block("list", [_spans(item) for item in items])] if items else [])


def _spans(text: str) -> list[Span]:
    spans, done = [], 0
    for match in _INLINE.finditer(text):
        if match.start() > done:
            spans.append(Span("text", text[done : match.start()]))
        face = match.lastgroup or "text"
        spans.append(Span("code" if face == "role" else face, match[face]))
        done = match.end()
    return [*spans, Span("text", text[done:])] if done < len(text) else spans
