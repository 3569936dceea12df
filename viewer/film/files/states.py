"""Saved states of stopped renders: files beside the picture, named after it."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

AUTO = "auto"  # the best state there is, in place of a name


def free_state(target: Path) -> Path:
    """The first unused name of a state of that picture: ``a.png.state.exr``, ``a.png.state.2.exr`` ..."""
    names = (target.with_name(f"{target.name}.state{f'.{k}' if k > 1 else ''}.exr") for k in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())


def existing_states(target: Path) -> list[Path]:
    """The states of that picture, by name."""
    pattern = re.compile(re.escape(target.name) + r"\.state(\.[1-9]\d*)?\.exr")
    try:
        return sorted(path for path in target.parent.iterdir() if pattern.fullmatch(path.name))
    except OSError:  # left to the error of saving
        return []
