"""A scene that had been prepared was overwritten by the next edit of whoever showed it: shown again, or by another
renderer, it had the light of the edit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import raystream
from raystream import Renderer
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.edits.movable import with_light_at
from raystream.scene.light import Light

OPTIONS: dict[str, Any] = {"machine": "singlepass", "camera": "0,1,1 0,0.3,0.3", "environment": "none"}
SHOWN: dict[str, Any] = {"size": (6, 4), "spp": 1}


def test_it_shows_its_own_light_again(device: Any) -> None:
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    ready = prepare(scene, environment="none")
    renderer = Renderer(ready, device=device, **OPTIONS)
    first = renderer.render(**SHOWN).linear
    renderer.update(with_light_at(scene, "lamp", (0.0, 0.5, 0.9)))
    assert not np.array_equal(renderer.render(**SHOWN).linear, first)
    other = Renderer(ready, device=device, **OPTIONS)
    np.testing.assert_array_equal(other.render(**SHOWN).linear, first)
    renderer.update(with_light_at(scene, "lamp", (0.0, 0.5, 0.7)))
    renderer.update(replace(scene, lights=[]))  # for which other programs are compiled
    assert not renderer.render(**SHOWN).linear.any()
    renderer.update(ready)
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, first)
    renderer.release()
    other.release()
