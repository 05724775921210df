"""Hashes of words that are the same in every process, on every machine and in every version of Python."""

import hashlib
from collections.abc import Callable
from typing import Any

MOST = 50_000  #: values whose hash is remembered


def hash_of(*words: str) -> int:
    """Return 64 bits of a sequence of words; ``("ab", "c")`` and ``("a", "bc")`` differ."""
    parts = [word.encode("utf-8", "surrogatepass") for word in words]
    told = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")


def remembered(memory: dict[Any, Any], values: list[Any], make: Callable[[Any], Any]) -> list[Any]:
    """Return ``make`` of every value, looked up where it was made before; it must not raise."""
    if len(memory) > MOST:
        memory.clear()
    found = []
    for value in values:
        try:
            found.append(memory[value])
        except KeyError:
            memory[value] = made = make(value)
            found.append(made)
        except TypeError:  # what cannot be looked up: a list, a dict
            found.append(make(value))
    return found
