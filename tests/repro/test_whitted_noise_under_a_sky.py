"""Whitted's tracer sampled one direction of the environment for each surface: at one sample salt and pepper."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer, Scene
from raystream.scene.environment import sky
from raystream.scene.light import Light
from raystream.scene.scene import Instance

CLEAN: dict[str, Any] = {"machine": "singlepass", "pixel_filter": "point", "environment": sky(64)}
SQUARE = places.quads([[(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)]])


def plate_over_floor() -> Scene:
    """Seen from above, the picture's top towards -Z."""
    plate = np.diag([0.6, 1.0, 0.6, 1.0])
    plate[1, 3] = 1.0
    mesh = places.flat(SQUARE)
    camera = Camera((0, 8, 0), (0, 0, 0), (0, 0, -1), fov=40)
    return Scene(
        [mesh], [Instance(0, np.diag([3.0, 1.0, 3.0, 1.0])), Instance(0, plate)], [places.material(1.0)], [camera]
    )


@pytest.mark.parametrize("program", ["whitted", "shadow"])
def test_nothing_is_random_under_a_sky(program, device):
    one, other = (Renderer(plate_over_floor(), device=device, program=program, seed=seed, **CLEAN) for seed in (1, 2))
    picture = one.render((24, 18), spp=1).linear
    assert picture.std() > 0.05 and np.array_equal(picture, other.render((24, 18), spp=1).linear)


def test_a_turned_sun_casts_a_turned_shadow(device):
    """A floor under a plate: the picture of a renderer made anew, and of the sun as a directional light."""
    scene = plate_over_floor()
    options = {**CLEAN, "program": "whitted", "device": device}
    renderer = Renderer(scene, **options)
    renderer.render((32, 32), spp=1)
    compiled = device.compiled
    renderer.update(environment_rotation=90)
    turned = renderer.render((32, 32), spp=1).linear
    assert device.compiled == compiled
    assert np.array_equal(turned, Renderer(scene, **options, environment_rotation=90).render((32, 32), spp=1).linear)
    # The sky's sun is at (0.7, 0.65, 0.4): turned, +X is towards -Z, and +Z towards +X.
    scene.lights.append(Light("directional", "sun", direction=(-0.4, -0.65, 0.7), intensity=(9.0, 9.0, 9.0)))
    lamp = Renderer(scene, **{**options, "environment": "none"}).render((32, 32), spp=1).linear
    dark = turned < (turned.max() + turned.min()) / 2
    assert 0.02 < (lamp == 0).mean() < 0.2 and (dark == (lamp == 0)).mean() > 0.98  # but for pixels at its edge
