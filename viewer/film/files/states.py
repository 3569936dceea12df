"""Where renders that were stopped have left their states: beside the picture, under names that follow from its own."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

AUTO = "auto"  # in place of a state's name: the best that there is


def free(target: Path) -> Path:
    """The first name for a state of that picture that nothing bears: ``a.png.state.exr``, ``a.png.state.2.exr`` ..."""
    names = (target.with_name(f"{target.name}.state{f'.{k}' if k > 1 else ''}.exr") for k in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())


def existing(target: Path) -> list[Path]:
    """The states of that picture, by name."""
    pattern = re.compile(re.escape(target.name) + r"\.state(\.[1-9]\d*)?\.exr")
    try:
        return sorted(path for path in target.parent.iterdir() if pattern.fullmatch(path.name))
    except OSError:  # saving will say why
        return []
