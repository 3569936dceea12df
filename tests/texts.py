"""Texts that tests hold to what they were when they were last looked at; ``--golden record`` writes them anew."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq
from pathlib import Path

import pytest


def hold(file: Path, lines: list[str], config: pytest.Config, same: Callable[[str, str], bool] = eq) -> None:
    """Fails where a line is another than in the file. same : whether two lines are alike."""
    if config.getoption("--golden") == "record":
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    then = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    for number, (now, before) in enumerate(zip(lines, then, strict=False), 1):
        assert same(now, before), f"{file.name}:{number}, if that is meant: --golden record\n  {now}\n  {before}"
    assert len(lines) == len(then), file.name
