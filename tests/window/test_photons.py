"""Photons in the window: key 5, points straight from their stream, a light that is dragged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from raystream import Renderer
from raystream.renderer.device.machine_pool import Key
from raystream.viewport.debug_views.wires import project_points
from tests.window.conftest import Hands, application, current

SIZE = (120, 90)
FEW = {"photons": 4096, "photon_bounces": 2, "depth": 2}
CAMERA = "0,0.62,0.62 0,0,0.02"


@pytest.fixture(scope="module")
def opened_ring(screen: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hands]:
    """One window on the ring, without panels, whose kernels are compiled once."""
    import glfw

    from raystream.viewport.preferences import Preferences

    path = tmp_path_factory.mktemp("ring") / "settings.toml"
    preferences = Preferences(path=path, panels=False, samples=2, exposure=0.0)
    with application(screen, "ring", SIZE, preferences, CAMERA, 40.0, denoise="none", **FEW) as hands:
        hands.rest()
        glfw.make_context_current(None)
        yield hands


@pytest.fixture
def ring(opened_ring: Hands, place: Path) -> Iterator[Hands]:
    with current(opened_ring):
        yield opened_ring


@pytest.fixture
def mapped(ring: Hands) -> Hands:
    """With photons, both samples there."""
    if ring.app.view.renderer.settings.program != "photon":
        ring.quietly("5")
    ring.until(lambda: ring.app.session.converged, "samples")
    ring.app.view.say("")  # a note of what a key did lies over the picture
    return ring


def test_key_5_maps_photons(ring: Hands) -> None:
    """What is compiled is told, and compiled before the first picture begins: no kernel is afterwards."""
    app = ring.app

    def kernels() -> dict[Key, list[int]]:
        machines = app.view.renderer.gpu_scene.machines
        return {key: [id(shader) for shader in machines[key].shaders.values()] for key in machines}

    ring.key("5")
    ring.until(lambda: app.session.compiling == "photon")
    ring.until(lambda: not app.session.compiling)
    compiled = kernels()
    ring.until(lambda: app.session.converged, "samples")
    assert app.view.renderer.settings.program == "photon" and app.session.samples == 2
    assert kernels() == compiled and len(compiled) == 4  # of the ray caster, two frames of photons, and the picture
    renderer = app.view.renderer
    other = Renderer(app.view.scene, renderer.settings, camera=renderer.camera, device=app.device)
    np.testing.assert_array_equal(app.session.linear(), other.render(app.session.size, spp=2).linear)


def test_photons_are_points_where_they_are(mapped: Hands) -> None:
    """Those that a ray from the eye comes to are drawn, in their colour; those well behind a surface are not."""
    app = mapped.app
    view, renderer = app.view, app.view.renderer
    without = mapped.pixels().astype(int)
    mapped.quietly("shift+5")
    mapped.until(lambda: not view.compiling)
    mapped.turn(4)
    assert app.debug_views.photons.points
    drawn = mapped.pixels().astype(int)
    photons = renderer.photon_map.streams["photons"].read().ravel()
    photons = photons[photons["stored"] > 0]
    assert len(photons) == renderer.photon_map.stored > 20
    camera = view.controller.camera
    places, before = project_points(camera, SIZE, photons["position"])
    inside = before & (places > 2).all(axis=1) & (places < np.array(SIZE) - 2).all(axis=1)
    away = photons["position"] - np.asarray(camera.origin)
    distance = np.linalg.norm(away, axis=1)
    hit = renderer.trace(np.tile(camera.origin, (len(away), 1)), away / distance[:, None]).distance
    seen = inside & (distance < hit * 1.001)
    hidden = inside & (distance > hit * 1.1)
    assert seen.sum() > 20 and hidden.any()
    columns, rows = places.astype(int).T
    # A point of three pixels covers the pixel of its middle; its strongest channel is full but at its edge.
    assert (drawn[rows[seen], columns[seen]].max(axis=1) > 140).all()
    near = np.linalg.norm(places[hidden][:, None] - places[seen][None], axis=-1).min(axis=1) < 5
    alone = np.flatnonzero(hidden)[~near]
    dimmed = without[rows[alone], columns[alone]].max(axis=1)
    assert (drawn[rows[alone], columns[alone]].max(axis=1) <= dimmed + 1).all()
    mapped.quietly("shift+5")
    np.testing.assert_array_equal(mapped.pixels(), without)


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_photons_have_the_colour_of_their_power(mapped: Hands, channel: int) -> None:
    """Their strongest channel full, whichever it is, and the others in proportion."""
    view, stream = mapped.app.view, mapped.app.view.renderer.photon_map.streams["photons"]
    kept = stream.read()
    changed = kept.copy()
    power = np.roll((1.0, 0.5, 0.25), channel).astype(np.float32)
    changed["power"] = power * np.float32(1e-3)
    mapped.quietly("shift+5")
    try:
        stream.write(changed)
        mapped.until(lambda: not view.compiling)
        mapped.turn(4)
        drawn = mapped.pixels().astype(int)
    finally:
        stream.write(kept)
        mapped.quietly("shift+5")
    places, before = project_points(view.controller.camera, SIZE, kept["position"][kept["stored"] > 0])
    inside = before & (places > 2).all(axis=1) & (places < np.array(SIZE) - 2).all(axis=1)
    columns, rows = places[inside].astype(int).T
    assert (np.abs(drawn[rows, columns] - 255 * power) <= 1).all(axis=1).sum() > 20


def test_a_dragged_light_takes_its_photons_along(mapped: Hands) -> None:
    """Ctrl and a right drag move the light in the plane of the view, from wherever the mouse is."""
    app = mapped.app
    light = app.view.scene.lights[0]
    before, traced = app.session.linear(), app.view.renderer.photon_map.trace_count
    mapped.drag(3, (60, 45), (72, 51), "ctrl")
    mapped.until(lambda: app.session.converged and not app.editing.grabbing)
    moved = app.view.scene.lights[0]
    shift = np.subtract(moved.position, light.position)
    right, up, forward = app.view.controller.camera.basis()
    # As far as the mouse at the light's depth: 12 pixels to the right and 6 down, of 90 in the field of view.
    depth = float(np.subtract(light.position, app.view.controller.camera.origin) @ forward)
    pixel = 2 * np.tan(np.radians(20)) * depth / SIZE[1]
    np.testing.assert_allclose([shift @ right, shift @ up, shift @ forward], [12 * pixel, -6 * pixel, 0], atol=1e-6)
    after = app.session.linear()
    assert app.view.renderer.photon_map.trace_count > traced and (after != before).any()
    renderer = app.view.renderer
    other = Renderer(app.view.scene, renderer.settings, camera=renderer.camera, device=app.device)
    np.testing.assert_array_equal(after, other.render(app.session.size, spp=2).linear)
