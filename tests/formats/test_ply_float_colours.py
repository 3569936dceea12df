"""Colours of PLY that are floats: light, or sRGB of 0 to 255."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import SQUARE, load_bytes, ply


@pytest.mark.parametrize(
    ("values", "srgb"),
    [
        ([0.0, 1.0, 12.0], True),  # whole numbers, some above 1
        ([0.0, 1.0, 1.0], False),
        ([0.0, 1.5, 12.0], False),  # light, brighter than white
        ([0.0, 1.5, 40.5], True),  # brighter than any
        ([0.0, 128.0, 255.0], True),
        ([0.0, 128.0, 256.0], False),  # not of that range
    ],
)
def test_float_colors_that_are_of_0_to_255(values: list[float], srgb: bool, tmp_path: Path) -> None:
    """And a warning says so."""
    places = {axis: ("float", [float(point[k]) for point in SQUARE[:3]]) for k, axis in enumerate("xyz")}
    vertex = {**places, **dict.fromkeys(("red", "green", "blue"), ("float", values))}
    scene = load_bytes("mesh.ply", tmp_path, ply("ascii", vertex, [[0, 1, 2]]))
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in values]
    assert scene.meshes[0].colors[:, 1] == pytest.approx(linear if srgb else values, rel=1e-6)
    assert any("taken for sRGB" in warning for warning in scene.warnings) is srgb
