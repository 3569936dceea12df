"""Inspector and probe kept their machine by the program's name: over a map of another kind, or with a final gather,
they ran the search over the streams of the map before, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.scene.light import Light
from raystream.viewport.debug_views.inspector import Inspector, program_form
from raystream.viewport.debug_views.probe import probe

SIZE = (8, 4)  # powers of two, as of the probe's one ray: llvmpipe compiles for these apart
# Both gather: most of their kernels are the same, and compiled once.
CHANGES: tuple[dict[str, Any], ...] = ({"final_gather": 1}, {"photon_map": "stencil"})


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    """Of two walls that meet at a right angle, so that photons come to a second surface."""
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "photon_bounces": 2}
    options |= {"estimate": "nearest", "nearest": 4, "photon_grid": "2x2x2", "photon_radius": 1}
    options |= {"environment": "none", "pixel_filter": "point", "depth": 1, "camera": "0,1,1 0,0.3,0.3"}
    return Renderer(scene, device=device, **options)


def test_a_final_gather_makes_another_machine(renderer: Renderer) -> None:
    before = program_form(renderer)
    renderer.update(final_gather=1)
    assert program_form(renderer) != before
    renderer.update(final_gather=0)
    assert program_form(renderer) == before


def test_each_runs_over_the_map_that_there_is(renderer: Renderer) -> None:
    inspector = Inspector(renderer, SIZE)
    for change in CHANGES:
        renderer.update(**change)
        linear = renderer.render(SIZE, spp=1).linear
        inspector.begin(renderer.camera)
        assert inspector.run_to_end()
        np.testing.assert_array_equal(inspector.values("film.sum")[0], linear)
        y, x = np.argwhere(linear.any(axis=-1))[0]
        found = probe(renderer, renderer.camera, SIZE, (int(x), int(y)))
        assert found.complete
        np.testing.assert_array_equal(found.results["film"]["sum"], linear[y, x])
    inspector.release()
