"""The examples of tools/examples: ten short scripts, each of which runs and leaves its picture."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from PIL import Image

SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "tools" / "examples").glob("[0-9]*.py"))
SIZE = 8


def test_ten_short_ones():
    assert [script.name[:2] for script in SCRIPTS] == [f"{number:02}" for number in range(1, 11)]
    assert all(len(script.read_text().splitlines()) <= 30 for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_runs(script, tmp_path, monkeypatch, device):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXAMPLE_SIZE", str(SIZE))
    monkeypatch.setenv("EXAMPLE_SPP", "2")
    runpy.run_path(str(script), run_name="__main__")
    with Image.open(f"{script.stem}.png") as picture:
        width, height = picture.size
        assert height == SIZE and 0 < width <= SIZE
        assert max(high for _, high in picture.convert("RGB").getextrema()) > 0
