"""A TOML file that knows on which line each of its keys stands: the parser of the standard library does not tell."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from ..carriers import validation

Key = tuple[str | int, ...]

_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_PART = re.compile(r'[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|\'[^\']*\'')
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]*")


class Document:
    """The content of a TOML file; what is wrong in it is refused with file, line and key.

    Attributes
    ----------
    path: of the file.
    content: what it holds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_bytes().decode()
            self.content = tomllib.loads(text)
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise ValueError(f"{path}:{line}: not TOML: expected text in UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            message, line = _position(str(error), text)
            raise ValueError(f"{path}:{line}: not TOML: {message}") from None
        self._lines = key_lines(text)

    def where(self, key: Key) -> str:
        """Return file, line and key as a message begins with them; a key that is not there is where its table is."""
        line = next((self._lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in self._lines), 1)
        return f"{self.path}:{line}: {dotted(key)}"

    def error(self, key: Key, what: str) -> ValueError:
        """Return the error that says what is wrong with a key."""
        return ValueError(f"{self.where(key)}: {what}")

    def refuse(self, key: Key, value: object, expected: str) -> ValueError:
        """Return the error for a value that cannot be used."""
        return validation.refuse(self.where(key), value, expected)


def dotted(key: Key) -> str:
    """Return a key as it would be written.

    Examples
    --------
    >>> dotted(("policies", "OFUL, S = 10", "bases", 1))
    'policies."OFUL, S = 10".bases[1]'
    """
    written = ""
    for part in key:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            written += ("." if written else "") + (part if bare else json.dumps(part, ensure_ascii=False))
    return written


def key_lines(text: str) -> dict[Key, int]:
    """Return the line, counted from 1, on which every key of a valid TOML text first appears.

    Entries of arrays have their place, from 0, as the last part of their key.

    Examples
    --------
    >>> key_lines("rounds = 5\\n[a]\\nb.c = [1,\\n  2]")
    {('rounds',): 1, ('a',): 2, ('a', 'b'): 3, ('a', 'b', 'c'): 3, ('a', 'b', 'c', 0): 3, ('a', 'b', 'c', 1): 4}
    """
    return _Scanner(text).lines


class _Scanner:
    """Walks through a TOML text that is known to be valid."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Key, int] = {}
        self._text, self._at = text, 0
        self._tables: Counter[Key] = Counter()  # arrays of tables, with their lengths
        table: Key = ()
        while self._next():
            if self._skip("[["):
                table = self._header(more=True)
                self._skip("]]")
            elif self._skip("["):
                table = self._header(more=False)
                self._skip("]")
            else:
                self._pair(table)

    def _next(self) -> str:
        """Pass over blanks and comments; return the next character, nothing at the end."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _skip(self, mark: str) -> bool:
        self._next()
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) * found
        return found

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found.group() if found else ""

    def _key(self) -> list[str]:
        parts: list[str] = []
        while not parts or self._skip("."):
            self._next()
            part = self._take(_PART)
            parts.append(tomllib.loads(f"x = {part}")["x"] if part[:1] in ("'", '"') else part)
        return parts

    def _note(self, key: Key, line: int) -> None:
        for n in range(1, len(key) + 1):
            self.lines.setdefault(key[:n], line)

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _header(self, *, more: bool) -> Key:
        self._next()
        line, parts = self._line(), self._key()
        key: Key = ()
        for part in parts[:-1] if more else parts:
            key = (*key, part)
            key = (*key, self._tables[key] - 1) if key in self._tables else key
        if more:
            key = (*key, parts[-1])
            self._tables[key] += 1
            key = (*key, self._tables[key] - 1)
        self._note(key, line)
        return key

    def _pair(self, table: Key) -> None:
        line = self._line()
        key = (*table, *self._key())
        self._note(key, line)
        self._skip("=")
        self._next()
        self._value(key)

    def _value(self, key: Key) -> None:
        if self._skip("["):
            n = 0
            while self._next() != "]":
                self._note((*key, n), self._line())
                self._value((*key, n))
                self._skip(",")
                n += 1
            self._skip("]")
        elif self._skip("{"):
            while self._next() != "}":
                self._pair(key)
                self._skip(",")
            self._skip("}")
        elif not self._take(_STRING):
            self._take(_SCALAR)


def _position(message: str, text: str) -> tuple[str, Any]:
    """Return what the parser says without the position, and the line."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return message, 1
    return found[1], found[2] or text.rstrip("\n").count("\n") + 1
