"""Nothing was seen of a light that was dragged under photon mapping: after each of its moves the photons' kernels were
taken for kernels to compile, and all photons were traced to warm them; the next move began that anew."""

from __future__ import annotations

from typing import Any

import raystream
from raystream import Renderer
from raystream.renderer.photon_map import MIN_PHOTONS
from raystream.renderer.session.session import Session
from raystream.scene.edits.movable import with_light_at
from raystream.scene.light import Light
from tests.renderer.test_session import Paper


def test_every_move_shows_a_picture_and_compiles_nothing(device: Any) -> None:
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 4 * MIN_PHOTONS, "depth": 1}
    renderer = Renderer(scene, device=device, camera="0,1,1 0,0.3,0.3", environment="none", photon_bounces=2, **options)
    session = Session(renderer, (8, 6), screen=Paper())
    while not session.idle:
        session.advance(1e-3)
    maps = renderer.photon_map
    for step in range(3):
        compiled, pictures, traced = device.compiled, session.pictures, maps.trace_count
        session.update(with_light_at(renderer.scene, "lamp", (0.0, 0.5, 0.6 + 0.1 * step)))
        while session.pictures == pictures:
            session.advance(1e-3, moving=True)
            assert not session.compiling
        assert device.compiled == compiled and maps.trace_count == traced + 1
    session.release()
    renderer.release()
