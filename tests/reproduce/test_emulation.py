"""The classic ray tracer in NumPy against the machines: the same picture, but for filters and edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reproduction.simulators.whitted.back_ends import Emulation
from reproduction.simulators.whitted.model import Traced

from raystream import Renderer
from raystream.scene import builtin

SKY = (0.5, 0.7, 1.0)


@pytest.fixture(scope="module")
def untextured():
    scene = builtin.build("sphere")
    materials = [replace(each, classic=replace(each.classic, textures=())) for each in scene.materials]
    return replace(scene, materials=materials)


@pytest.mark.parametrize("depth", [0, 4])
def test_the_machines_picture(untextured, depth: int) -> None:
    size = (40, 40)
    frame = Emulation(Traced.of(untextured, SKY, depth)).render(untextured.camera(), size)
    renderer = Renderer(
        untextured,
        program="whitted",
        machine="singlepass",
        accel="grid",
        depth=depth,
        environment="0.5,0.7,1",
        pixel_filter="point",
    )
    picture = renderer.render(size, spp=1).linear
    apart = np.abs(frame.pixels - picture).max(axis=2)
    # float64 against float32; where a ray meets an edge the two may take different sides of it.
    assert np.median(apart) < 1e-5 and (apart < 1e-3).mean() > 0.97
    assert len(frame.rays) == depth + 1 and frame.rays[0] == 1600 and frame.intersections == sum(frame.rays)
