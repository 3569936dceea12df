"""Sections on scenes: types of rays are told apart, and pictures become files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image
from reproduction import shown, views
from reproduction.context import Context
from reproduction.published.adinetz import TABLE
from reproduction.published.thesis import RATES, SECONDS
from reproduction.sections import table_5_4

from raystream.scene import builtin


def test_each_type_of_ray_runs_to_its_end() -> None:
    hybrid = table_5_4.passes(builtin.build("cornell"), "Cornell Box", 16)
    assert list(hybrid["types"]) == ["S"] and 0 < hybrid["types"]["S"][0] <= 256 and hybrid["grid"] == [8, 8, 8]
    whitted = table_5_4.passes(builtin.build("teapotahedron"), "Teapotahedron, E S R", 16)["types"]
    assert list(whitted) == ["E", "S", "R"] and whitted["E"][0] == 256
    assert whitted["R"][0] < whitted["S"][0] < 256  # of hits, and of those on mirrors
    assert all(min(row) > 0 for row in whitted.values())


def test_the_device_takes_the_simulated_passes(device, tmp_path: Path) -> None:
    found = table_5_4.device_passes(Context(tmp_path), "Cornell Box", 16)
    assert found["setup"] == {"S": 1} and min(found["device"]) > 5
    # No share of them: on the driver that the suite runs on, the walk's float32 is the machine's to the bit.
    assert found["device"] == found["simulated"]


def test_published_figures() -> None:
    assert {entry.scene for entry in TABLE.values()} <= set(builtin.names())
    # Printed with one digit: 17.9 s would be 0.06, 13.25 s 0.08, and both are printed as 0.1.
    off = [1 / t - f for name in SECONDS for t, f in zip(SECONDS[name], RATES[name], strict=True)]
    assert np.abs(off).max() < 0.05 and all(len(row) == 4 for row in SECONDS.values())
    assert {view.name for view in views.VIEWS if view.grid == 64} == {"Bunny Ray Cast"}


def test_pictures_side_by_side() -> None:
    one, two = np.zeros((8, 6, 3), np.uint8), np.full((8, 4, 3), 200, np.uint8)
    assert Image.open(io.BytesIO(shown.webp(one, two, gap=2))).size == (12, 8)
    assert Image.open(io.BytesIO(shown.webp(one, two, gap=2, width=6))).size == (6, 4)
