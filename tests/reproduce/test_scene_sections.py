"""Sections on scenes: types of rays are told apart, and pictures become files."""

from __future__ import annotations

from pathlib import Path

from reproduction.context import Context
from reproduction.sections import tracing

from raystream.scene import builtin


def test_each_type_of_ray_runs_to_its_end() -> None:
    hybrid = tracing.passes(builtin.build("cornell"), "Cornell Box", 16)
    assert list(hybrid["types"]) == ["S"] and 0 < hybrid["types"]["S"][0] <= 256 and hybrid["grid"] == [8, 8, 8]
    whitted = tracing.passes(builtin.build("teapotahedron"), "Teapotahedron, E S R", 16)["types"]
    assert list(whitted) == ["E", "S", "R"] and whitted["E"][0] == 256
    assert whitted["R"][0] < whitted["S"][0] < 256  # of hits, and of those on mirrors
    assert all(min(row) > 0 for row in whitted.values())


def test_the_device_takes_the_simulated_passes(device, tmp_path: Path) -> None:
    found = tracing.device_passes(Context(tmp_path), "Cornell Box", 16)
    assert found["setup"] == {"S": 1} and min(found["device"]) > 5
    # No share of them: on the driver that the suite runs on, the walk's float32 is the machine's to the bit.
    assert found["device"] == found["simulated"]
