"""Markers of lights, in a scene off the origin: their places in closed form, and lights where markers are put."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from viewer.scene.light import Light
from viewer.scene.scene import Scene
from viewer.viewport.light_markers import FAR_AWAY, LightMarkers

MIDDLE, DIAGONAL = (13.0, 22.0, 36.0), 26.0  # of a box with sides of 6, 8 and 24


@pytest.fixture
def scene() -> Scene:
    found = Scene.from_triangles([[10, 18, 24], [16, 26, 48], [10, 26, 48]], [[0, 1, 2]])
    found.lights = [
        Light("point", "bulb", position=(1, 2, 3)),
        Light("directional", "sun", direction=(0, -1, 0)),
        Light("spot", "lamp", position=(4, 5, 6), direction=(1, 0, 0)),
    ]
    return found


@pytest.fixture
def markers(scene: Scene) -> LightMarkers:
    view: Any = SimpleNamespace(scene=scene, controller=None)
    return LightMarkers(view)


def test_places(markers: LightMarkers) -> None:
    """Of a directional light half of the scene's diagonal from its middle, towards the light."""
    bulb, sun, lamp = markers.listed()
    assert markers.place(bulb).tolist() == [1, 2, 3] and markers.place(lamp).tolist() == [4, 5, 6]
    np.testing.assert_array_equal(markers.place(sun), np.add(MIDDLE, (0, FAR_AWAY * DIAGONAL, 0)))


def test_positions_of_shifted_markers(markers: LightMarkers) -> None:
    """A directional light's is the direction from the scene's middle; none where the marker is in the middle itself."""
    bulb, sun, _ = markers.listed()
    assert markers.shifted(bulb, np.array([1.0, -2.0, 0.5])) == (2.0, 0.0, 3.5)
    assert markers.shifted(sun, np.array([3.0, -1.0, 2.0])) == (3.0, FAR_AWAY * DIAGONAL - 1, 2.0)
    assert markers.shifted(sun, np.array([0.0, -FAR_AWAY * DIAGONAL, 0.0])) == sun.position == (0, 1, 0)


def test_a_shifted_marker_is_where_it_was_put(markers: LightMarkers, scene: Scene) -> None:
    """And the others stay as they are: of a directional light along the way to it."""
    for number, light in enumerate(markers.listed()):
        moved = LightMarkers.moved(scene, light, markers.shifted(light, np.array([3.0, 1.0, 2.0])))
        assert [a == b for a, b in zip(moved.lights, scene.lights, strict=True)] == [k != number for k in range(3)]
        view: Any = SimpleNamespace(scene=moved, controller=None)
        there = LightMarkers(view)
        put, found = markers.place(light) + (3.0, 1.0, 2.0), there.place(there.listed()[number])
        if light.kind == "directional":
            put, found = (at - MIDDLE for at in (put, found))
            put, found = (at / np.linalg.norm(at) for at in (put, found))
        np.testing.assert_allclose(found, put, rtol=0, atol=1e-12)


def test_one_after_the_other(markers: LightMarkers) -> None:
    """From the first on, and round; the selected one is found again when the scene has changed."""
    assert not markers.visible
    for name in ("bulb", "sun", "lamp", "bulb"):
        light = markers.next()
        assert light is not None and light.name == name and markers.visible
        assert [markers.is_chosen(each) for each in markers.listed()] == [each == light for each in markers.listed()]
        markers.forget()
    markers.view.scene.lights = []
    markers.forget()
    assert markers.next() is None and markers.listed() == []
