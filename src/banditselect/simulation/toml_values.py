"""Policies, problems and their arguments, made from the values of a TOML file.

What is wrong raises ValueError that begins with the key, as it would be written in the file.
"""

import dataclasses
import difflib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..carriers import validation
from ..carriers.binding import Several
from ..parts.exploration import SCHEDULES
from ..policies import Binding, Pending, given, on_every_ball, on_every_map, on_map, registered
from ..problems import Problem
from .sweeps import grid
from .user_files import message_of

_SEVERAL: dict[str, Callable[[Binding[Any]], Several]] = {"on_every_map": on_every_map, "on_every_ball": on_every_ball}
_TABLES = (
    "a policy { type = ... }, several { on_every_map = { type = ... } } or { on_every_ball = { type = ... } }, "
    "or a schedule { power = [scale, exponent] } or { latent_reference = [error, n_arms, scale] }"
)
_GIVEN = re.compile(r"given\.([A-Za-z]\w*)")


def dotted(key: str, part: str | int) -> str:
    """Return the key of a part of a table or a list, as it would be written.

    Examples
    --------
    >>> dotted(dotted(dotted("policies", "OFUL, S = 10"), "bases"), 1)
    'policies."OFUL, S = 10".bases[1]'
    """
    if isinstance(part, int):
        return f"{key}[{part}]"
    written = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else json.dumps(part, ensure_ascii=False)
    return f"{key}.{written}" if key else written


def check_keys(key: str, table: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """Refuse a key that is not known."""
    for name in table:
        if name not in known:
            raise ValueError(f"{dotted(key, name)}: not {what}; expected {one_of(name, known)}")


def one_of(value: object, known: Iterable[str]) -> str:
    """Return the choices in words, and the one that was probably meant.

    Examples
    --------
    >>> one_of("nois", ["delta", "noise"])
    "one of delta, noise (did you mean 'noise'?)"
    """
    names = sorted(known)
    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(str(value).lower(), lower, n=1, cutoff=0.6)
    return f"one of {', '.join(names)}" + (f" (did you mean {lower[near[0]]!r}?)" if near else "")


def read_policy(key: str, table: Any) -> Binding[Any]:
    """Return the policy that a table describes: ``type``, its arguments and, if it looks at one map, ``on_map``."""
    cls = _class(key, table, registered(), "policy")
    own = [name for name in inspect.signature(cls).parameters if name not in ("lanes", "seed")]
    check_keys(key, table, ["type", "on_map", *own], f"an argument of {cls.__name__}")
    arguments = {}
    for name, content in table.items():
        if name not in ("type", "on_map"):
            arguments[name] = _value(dotted(key, name), content)
            if name in cls.constraints and not _pending(arguments[name]):
                cls.constraints[name].check(dotted(key, name), arguments[name], None)
    binding: Binding[Any] = cls.bind(**arguments)
    if "on_map" not in table:
        return binding
    validation.Number(low=0, integer=True).check(dotted(key, "on_map"), table["on_map"], None)
    return on_map(binding, int(table["on_map"]))


def read_problems(key: str, table: Any, known: Mapping[str, type[Problem]]) -> dict[str, Problem]:
    """Return the problems that a table describes, by label; see :func:`grid`."""
    cls = _class(key, table, known, "problem")
    parameters = inspect.signature(cls).parameters
    check_keys(key, table, ["type", *parameters], f"an argument of {cls.__name__}")
    arguments = {name: value for name, value in table.items() if name != "type"}
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise ValueError(f"{dotted(key, name)}: missing; {cls.__name__} needs it")
    for name, values in arguments.items():
        if not isinstance(values, list):
            continue
        if not values or any(value in values[:k] for k, value in enumerate(values)):
            raise validation.refuse(dotted(key, name), values, "different values; at least one")
    try:
        return grid(cls, **arguments)
    except Exception as error:
        raise located(error, key, table) from error


def constants_in(key: str, content: Any) -> Iterator[tuple[str, str]]:
    """Yield every constant that is asked for with ``"given.<name>"``, and where."""
    for place, value in _values_in(key, content):
        if isinstance(value, str) and (found := _GIVEN.fullmatch(value)):
            yield place, found[1]


def located(error: Exception, key: str, table: Any, where: str = "") -> ValueError:
    """Return an error of a constructor with the key of the argument that it names, or else of the table."""
    if isinstance(error, validation.ArgumentError) and error.owner:
        for place, part in _values_in(key, table):
            if isinstance(part, dict) and part.get("type", error.owner) == error.owner and error.argument in part:
                return validation.refuse(dotted(place, error.argument), error.value, error.expected + where)
    return ValueError(f"{key}: {message_of(error)}{where}")


def missing_arguments(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every argument that a resolved policy, or one inside it, lacks: its class and its name."""
    if isinstance(value, Binding):
        for name, parameter in value.parameters.items():
            if parameter.default is parameter.empty and name not in value.arguments:
                yield value.cls.__name__, name
        value = list(value.arguments.values())
    for part in value if isinstance(value, list) else ():
        yield from missing_arguments(part)


def _values_in(key: str, content: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value and all values inside it, each with its key."""
    yield key, content
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, part in inside:
        yield from _values_in(dotted(key, name), part)


def _class(key: str, table: Any, known: Mapping[str, Any], what: str) -> Any:
    if not isinstance(table, dict):
        raise validation.refuse(key, table, f"a table: the type of a {what} and its arguments")
    if "type" not in table:
        raise ValueError(f"{dotted(key, 'type')}: missing; expected {one_of('', known)}")
    name = table["type"]
    if not isinstance(name, str) or name not in known:
        raise validation.refuse(dotted(key, "type"), name, one_of(name, known))
    return known[name]


def _value(key: str, content: Any) -> Any:
    """Return an argument of a policy."""
    if isinstance(content, list):
        return [_value(dotted(key, k), part) for k, part in enumerate(content)]
    if isinstance(content, str):
        found = _GIVEN.fullmatch(content)
        return getattr(given, found[1]) if found else content
    if isinstance(content, bool | int | float):
        return content
    if isinstance(content, dict) and "type" in content:
        return read_policy(key, content)
    if isinstance(content, dict) and len(content) == 1:
        ((kind, inside),) = content.items()
        if kind in _SEVERAL:
            policy = read_policy(dotted(key, kind), inside)
            try:
                return _SEVERAL[kind](policy)
            except ValueError as error:
                raise ValueError(f"{dotted(key, kind)}: {error}") from None
        if kind in SCHEDULES:
            return _schedule(dotted(key, kind), kind, inside)
    raise validation.refuse(key, content, f"a number, a string, a list, {_TABLES}")


def _schedule(key: str, kind: str, content: Any) -> Any:
    fields = dataclasses.fields(SCHEDULES[kind])
    expected = f"[{', '.join(field.name for field in fields)}]"
    if not isinstance(content, list) or len(content) > len(fields):
        raise validation.refuse(key, content, expected)
    values = {f.name: _value(dotted(key, k), part) for k, (f, part) in enumerate(zip(fields, content, strict=False))}
    whole = {f.name for f in fields if f.type is int}
    try:
        arguments: dict[str, Any] = {n: float(v) if type(v) is int and n not in whole else v for n, v in values.items()}
        return SCHEDULES[kind](**arguments)
    except TypeError:  # too few
        raise validation.refuse(key, content, expected) from None
    except ValueError as error:
        raise validation.refuse(key, content, f"{expected}; {error}") from None


def _pending(value: Any) -> bool:
    return isinstance(value, Pending) or (isinstance(value, list) and any(map(_pending, value)))
