"""Files of older format versions: what they call by other names than this one does, so that nobody loses a policy."""

from typing import Any

OLDEST = 2
WORKERS = 4  #: the first version that knows of workers
NEWER = ("log_prior",)  #: learned arrays that versions before 5 do not have: they are as the settings make them

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


def part_name(name: str) -> str:
    """Return the name that a part has in a file of version 2.

    Examples
    --------
    >>> part_name("bases[1].my_policy._experts.bank")
    'bases[1].my_policy._bank'
    """
    way = name.split(".")
    k = next((i for i, step in enumerate(way) if step.startswith("_")), len(way))
    own = ".".join(way[k:])
    return ".".join([*way[:k], _PARTS.get(own, own)])


def current(kind: str, content: Any) -> tuple[str, Any]:
    """Return the class and the arguments of a setting; version 2 has schedules by names of its own, without words."""
    if kind not in _SCHEDULES:
        return kind, content
    name, fields = _SCHEDULES[kind]
    return name, dict(zip(fields, content, strict=True))
