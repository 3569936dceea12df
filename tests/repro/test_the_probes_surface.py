"""The probe of a program with samples said "hits nothing" of every pixel, and followed the first sample's ray, which
filter and lens may take past the surface that the pixel shows; in flight it told of another picture's pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.renderer.session.session import Session
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.debug_views.probe import probe
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import Viewport
from raystream.window.panels.debug_views import surface_text

SIZE = (24, 18)
SCENE = raystream.load("cornell")


@pytest.fixture(scope="module")
def layers(device: Any) -> dict[str, np.ndarray]:
    """What the middles of the pixels show."""
    caster = Renderer(SCENE, device=device, program="cast", machine="singlepass")
    return caster.render(SIZE, layers=("triangle", "instance", "depth")).layers


@pytest.mark.parametrize(
    ("program", "choices"),
    [
        ("path", {"pixel_filter": "gaussian", "aperture": 60.0, "focus": 900.0}),
        ("whitted", {"accel": "two-level-bvh"}),
        ("shadow", {"accel": "grid"}),
    ],
)
def test_it_is_the_one_that_the_pixel_shows(
    device: Any, layers: dict[str, np.ndarray], program: str, choices: dict[str, Any]
) -> None:
    pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
    renderer = Renderer(SCENE, device=device, program=program, machine="singlepass", depth=1, **choices)
    triangle = layers["triangle"]
    y, x = np.nonzero(triangle != np.roll(triangle, 1, axis=1))  # at edges samples go astray
    pixels = [(int(x[k]), int(y[k])) for k in range(0, len(x), max(1, len(x) // 10))]
    assert len(pixels) >= 8
    for column, row in [(0, 0), *pixels]:
        found = probe(renderer, renderer.camera, SIZE, (column, row))
        number, instance = layers["triangle"][row, column], layers["instance"][row, column]
        if number < 0:
            assert found.surface is None and surface_text(found) == "nothing"
        else:
            assert found.surface is not None
            assert (found.surface.triangle, found.surface.instance) == (number, instance)
            assert found.surface.name == SCENE.instances[instance].name or SCENE.meshes[instance].name
            # The scene's units are hundreds; float32, by another structure.
            assert found.surface.distance == pytest.approx(layers["depth"][row, column], rel=1e-5)
            assert surface_text(found).startswith(f"{found.surface.name}, triangle {number} at ")


def test_in_flight_it_is_of_the_picture_on_show(device: Any) -> None:
    """A preview: smaller, and of the camera a moment ago."""
    renderer = Renderer(SCENE, device=device, program="cast", machine="singlepass")

    class Paper:
        begin = end = put = drop = lambda *_: None

    session = Session(renderer, (96, 72), screen=Paper())  # type: ignore[arg-type]
    view = Viewport(session, Preferences(), Keymap())
    view.area.size, view.area.pixels, view.input.cursor = (96, 72), (96, 72), (95.0, 71.0)
    view.controller = CameraController(renderer.camera, SCENE.bounds())
    session.finish(converged=False)
    assert session.shown == (renderer.camera, (96, 72))
    shown = renderer.camera
    session.scheduler.light.rate = 1.0  # as small as it can be
    session.update(seed=1)
    session.advance(1e-6, moving=True)
    while session.previewing:
        session.advance(1e-6, moving=True)
    view.controller.orbit(40, 0)
    view.apply_camera()
    assert renderer.camera != shown
    debug_views = DebugViews(view)
    debug_views.toggle_probe()
    view.drawn()
    view.compilation.run()
    found = debug_views.probe
    assert session.shown == (shown, (12, 9)) and found is not None
    assert (found.size, found.pixel) == ((12, 9), (11, 8))
    ray = shown.rays(12, 9)[1][8, 11]
    *_, found = debug_views.probing or (found,)
    np.testing.assert_allclose(found.segments[0].direction, ray, atol=1e-6)
