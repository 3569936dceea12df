"""Whitted's tracer showed the built-in scenes in salt and pepper at one sample: they had no lights but the sky."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer
from raystream.scene import builtin
from raystream.scene.scene import Scene

LIGHTS = {"teapotahedron": 1, "balls": 2}


@pytest.mark.parametrize("name", LIGHTS)
def test_lights_have_no_extent(name: str) -> None:
    scene = builtin.build(name)
    assert [light.kind for light in scene.lights] == ["point"] * LIGHTS[name]
    assert not any(any(material.emission) for material in scene.materials)


def test_one_sample_is_all_there_is(device) -> None:
    scene: Scene = builtin.build("teapotahedron")
    renderer = Renderer(scene, device=device, program="whitted", machine="singlepass", pixel_filter="point")
    assert renderer.notes == []
    one, two = (renderer.render((48, 30), spp).linear for spp in (1, 2))
    assert one.max() > 0.1 and np.array_equal(one, two)
