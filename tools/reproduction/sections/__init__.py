"""The sections of the report, a module each; `load` brings them all."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load() -> None:
    """Import every module of this folder: each registers its sections (`reproduction.report.section`)."""
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        import_module(f"{__name__}.{found.name}")
