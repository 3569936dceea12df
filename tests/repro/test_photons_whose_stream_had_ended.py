"""The window drew photons as points from streams that had ended: when other options wanted photons of another size, and
their map was being made, and when the rays that hide photons had given their memory to machines used later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.renderer.sampling.sampler import FramePlan
from raystream.scene.light import Light
from raystream.stream.gl.stream import Stream
from raystream.viewport.debug_views.photons import PhotonPicture

SIZE = (8, 4)


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    """Of two walls that meet at a right angle, so that photons come to a second surface."""
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    return Renderer(
        scene,
        device=device,
        program="photon",
        machine="singlepass",
        depth=1,
        photons=256,
        photon_bounces=3,
        environment="none",
    )


class Points:
    """Photons drawn as the window draws them."""

    def __init__(self, renderer: Renderer) -> None:
        self.renderer, self.picture = renderer, PhotonPicture(renderer.device)
        context = renderer.device.context
        self.target = context.framebuffer([context.texture((64, 48), 4, dtype="f4")])

    def draw(self, hits: Stream | None = None) -> int:
        """Pixels with ink; raises what OpenGL has against a stream that is no more."""
        streams, maps = self.renderer.photon_map.streams, self.renderer.photon_map
        self.target.clear()
        if streams and maps is not None:
            self.picture.points(self.target, (64, 48), self.renderer.camera, streams, maps.stored, hits, 3.0)
        return int((np.frombuffer(self.target.read(components=4, dtype="f4"), np.float32) > 0).sum())


def test_photons_of_another_size(renderer: Renderer) -> None:
    """They are drawn between any two passes of the next map, as long as there are any."""
    renderer.render(SIZE, spp=1)
    points = Points(renderer)
    before = points.draw()
    assert before > 0
    renderer.update(photons=2048)
    for _ in renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, SIZE)):
        points.draw()
    assert points.draw() > before


def test_what_hides_photons_outlives_its_machine(renderer: Renderer) -> None:
    renderer.render(SIZE, spp=1)
    points, hits = Points(renderer), renderer.ray_queries.coarse_hits(renderer.settings, renderer.camera, SIZE)
    hidden, before = points.draw(hits), hits.read()["t"]
    renderer.gpu_scene.machines.release()  # as machines that are used later do, one by one
    assert points.draw(hits) == hidden > 0 and np.array_equal(hits.read()["t"], before)
