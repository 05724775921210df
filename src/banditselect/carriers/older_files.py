"""Files of older format versions: what they call by other names than this one does, so that nobody loses a policy."""

from typing import Any

OLDEST = 2

_PARTS = {
    "_experts.bank": "_bank",
    "_experts.expected": "_scale",
    "_experts.sqalg": "_sqalg",
    "_sets": "_forecast",
    "_sets.alarm": "_alarm",
    "_sets.bank": "_bank",
    "_sets.ellipsoid": "_sets",
    "_sets.sets": "_sets",
    "_sets.sqalg": "_sqalg",
    "_sets.target": "_target",
    "_sets.wide": "_rival",
    "_tally": "_record",
}
_SCHEDULES = {
    "power": ("Power", ("scale", "exponent")),
    "latent_reference": ("LatentReference", ("error", "n_arms", "scale")),
}


def part_name(name: str, version: int) -> str:
    """Return the name that a part has in a file of this version.

    Examples
    --------
    >>> part_name("bases[1].policy._experts.bank", 2)
    'bases[1].policy._bank'
    """
    if version > OLDEST:
        return name
    inside = name.partition("_")[0]
    own = name.removeprefix(inside)
    return inside + _PARTS.get(own, own)


def current(kind: str, content: Any) -> tuple[str, Any]:
    """Return the class and the arguments of a setting; version 2 has schedules by names of its own, without words."""
    if kind not in _SCHEDULES:
        return kind, content
    name, fields = _SCHEDULES[kind]
    return name, dict(zip(fields, content, strict=True))
