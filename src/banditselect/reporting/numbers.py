"""Numbers with as many decimals as their error allows, intervals and durations, as tables and pages show them."""

import math

from ..statistics import decimals

NOTHING = "–"  #: where there is no number


def number(value: float, error: float = math.nan, largest: float = math.nan) -> str:
    """Return a number with as many decimals as its error allows; numbers of one column share ``error`` and ``largest``.

    Examples
    --------
    >>> number(-0.123456, 0.02), number(math.nan), number(math.inf)
    ('−0.123', '–', '∞')
    """
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else "∞" if value > 0 else "−∞"
    digits = decimals(value if math.isnan(largest) else largest, error)
    return f"{value:,.{digits}f}".replace("-", "−").replace(",", "\N{NARROW NO-BREAK SPACE}")


def interval(bounds: tuple[float, float]) -> str:
    """Return an interval, a dash where it has no bounds."""
    if any(map(math.isnan, bounds)):
        return NOTHING
    return f"[{measured(bounds[0], bounds)}, {measured(bounds[1], bounds)}]"


def measured(value: float, bounds: tuple[float, float]) -> str:
    """Return a value with as many decimals as its interval has."""
    known = [abs(bound) for bound in bounds if math.isfinite(bound)]
    return number(value, (bounds[1] - bounds[0]) / 2.0, max(known, default=math.nan))


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> [duration(x) for x in (0.4, 59, 150, 4000, 90_000)]
    ['1 s', '59 s', '2 min 30 s', '1 h 7 min', '1 d 1 h']
    """
    whole = max(1, round(seconds))
    for unit, small, names in ((86_400, 3600, "dh"), (3600, 60, ("h", "min")), (60, 1, ("min", "s"))):
        if whole >= unit:
            large, rest = divmod(round(whole / small), unit // small)
            return f"{large} {names[0]}" + (f" {rest} {names[1]}" if rest else "")
    return f"{whole} s"
