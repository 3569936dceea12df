"""The folders ``shaders/`` and ``assets/``: beside the package's files in a wheel, one folder up in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from raystream.base.errors import ViewerError

PACKAGE = Path(__file__).resolve().parents[1]


@cache  # used by every include
def _folder(name: str) -> Path:
    for parent in (PACKAGE, PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise ViewerError(name, f"folder not found beside {PACKAGE}", "the installation is incomplete; install again")


def shaders() -> Path:
    """The folder of the GLSL sources."""
    return _folder("shaders")


def assets() -> Path:
    """The folder of the built-in scenes' data files."""
    return _folder("assets")
