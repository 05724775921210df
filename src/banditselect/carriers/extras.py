"""Modules that the library works without: imported where they are used, and asked for by the extra that brings them."""

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """Import a module that an extra installs; say which one where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{package} is not installed: pip install "banditselect[{extra}]"') from error
