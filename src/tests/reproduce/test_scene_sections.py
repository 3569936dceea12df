"""Sections on scenes: types of rays are told apart, and pictures become files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from reproduction import shown, views
from reproduction.published.adinetz import TABLE
from reproduction.published.thesis import RATES, SECONDS
from reproduction.sections import table_5_4

from viewer.scene import builtin


def test_each_type_of_ray_runs_to_its_end() -> None:
    hybrid = table_5_4.passes(builtin.build("cornell"), "Cornell Box", 16)
    assert list(hybrid) == ["S"] and 0 < hybrid["S"]["rays"] <= 256
    whitted = table_5_4.passes(builtin.build("teapotahedron"), "Teapotahedron, E S R", 16)
    assert list(whitted) == ["E", "S", "R"] and whitted["E"]["rays"] == 256
    assert whitted["R"]["rays"] < whitted["S"]["rays"] < 256  # of hits, and of those on mirrors
    assert all(row["traversal"] > 0 and row["intersection"] > 0 for row in whitted.values())


def test_published_figures() -> None:
    assert {entry.scene for entry in TABLE.values()} <= set(builtin.names())
    # Printed with one digit: 17.9 s would be 0.06, 13.25 s 0.08, and both are printed as 0.1.
    off = [1 / t - f for name in SECONDS for t, f in zip(SECONDS[name], RATES[name], strict=True)]
    assert np.abs(off).max() < 0.05 and all(len(row) == 4 for row in SECONDS.values())
    assert {view.name for view in views.VIEWS if view.grid == 64} == {"Bunny Ray Cast"}


def test_pictures_side_by_side() -> None:
    one, two = np.zeros((8, 6, 3), np.uint8), np.full((8, 4, 3), 200, np.uint8)
    assert Image.open(io.BytesIO(shown.jpeg(one, two, gap=2))).size == (12, 8)
