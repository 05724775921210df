"""Modules that are imported only where they are used; those of an extra are asked for by its name."""

import importlib
from typing import Any

from .errors import refuse


def need(module: str, extra: str) -> Any:
    """Import a module that an extra installs; say which one where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{package} is not installed: pip install "banditselect[{extra}]"') from error


def frame_of(name: str, value: Any) -> Any:
    """Return a DataFrame of any library as one of narwhals, None for anything else; ``name`` is for errors."""
    if not hasattr(type(value), "columns"):
        return None
    import narwhals  # most programs have no table

    try:
        frame = narwhals.from_native(value, eager_only=True, pass_through=True)
    except ValueError as error:
        raise refuse(f"{name}: columns", [*value.columns], "columns of different names") from error
    return frame if isinstance(frame, narwhals.DataFrame) else None
