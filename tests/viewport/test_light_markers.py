"""Markers of lights, in a scene off the origin: their places in closed form, and lights where markers are put."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.scene import Scene
from raystream.viewport.editing import FAR_AWAY, LightMarkers, moved_light
from raystream.viewport.viewport import PictureArea

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
    assert markers.marker_position(bulb).tolist() == [1, 2, 3] and markers.marker_position(lamp).tolist() == [4, 5, 6]
    np.testing.assert_array_equal(markers.marker_position(sun), np.add(MIDDLE, (0, FAR_AWAY * DIAGONAL, 0)))


def test_positions_of_shifted_markers(markers: LightMarkers) -> None:
    """A directional light's is the direction from the scene's middle; none where the marker is in the middle itself."""
    bulb, sun, _ = markers.listed()
    assert markers.shifted(bulb, np.array([1.0, -2.0, 0.5])) == (2.0, 0.0, 3.5)
    assert markers.shifted(sun, np.array([3.0, -1.0, 2.0])) == (3.0, FAR_AWAY * DIAGONAL - 1, 2.0)
    assert markers.shifted(sun, np.array([0.0, -FAR_AWAY * DIAGONAL, 0.0])) == sun.position == (0, 1, 0)


@pytest.fixture
def seen(scene: Scene) -> LightMarkers:
    """Two lamps in a picture of 200 x 100 whose middle is (100, 50): a unit at their distance is 10 wide."""
    scene.lights = [Light("point", name, position=place) for name, place in PLACES.items()]
    controller = SimpleNamespace(camera=Camera((0, 0, 5), (0, 0, 0), fov=90.0))
    view: Any = SimpleNamespace(scene=scene, controller=controller, area=PictureArea((200, 100)))
    made = LightMarkers(view)
    made.visible = True
    return made


PLACES = {"left": (-2.0, 0.0, 0.0), "behind": (0.0, 0.0, 6.0), "right": (1.0, 3.0, 0.0), "beside": (2.0, 3.0, 0.0)}


def test_where_markers_are(seen: LightMarkers) -> None:
    found = {light.name: place for light, place in seen.markers()}
    assert list(found) == ["left", "right", "beside"], "not what is behind the camera"
    for name, place in {"left": (80, 50), "right": (110, 20), "beside": (120, 20)}.items():
        assert found[name] == pytest.approx(place, abs=1e-9)


@pytest.mark.parametrize(
    ("cursor", "name"),
    [
        ((80, 50), "left"),
        ((80 + 13.9, 50), "left"),
        ((80, 50 - 13.9), "left"),
        ((80 + 14.1, 50), None),
        ((80 - 10, 50 - 10), None),  # by the distance, not along each axis
        ((80 - 9.8, 50 + 9.8), "left"),
        ((114, 20), "right"),
        ((116, 20), "beside"),
        ((100, 50), None),
    ],
)
def test_the_nearest_marker_is_taken(seen: LightMarkers, cursor: tuple[float, float], name: str | None) -> None:
    found = seen.under(cursor)
    assert (found.name if found is not None else None) == name
    seen.visible = False
    assert seen.under(cursor) is None


def test_moved_lights(scene: Scene, markers: LightMarkers) -> None:
    """All else of the light stays, and so does the scene that it was moved in."""
    bulb, sun, lamp = markers.listed()
    moved = moved_light(scene, sun, (1, 2, -3))
    assert moved.lights[1] == replace(scene.lights[1], direction=(-1.0, -2.0, 3.0))
    assert moved.lights[::2] == scene.lights[::2] and scene.lights[1].direction == (0, -1, 0)
    moved = moved_light(scene, lamp, np.array([7, 8, 9]))
    assert moved.lights[2] == replace(scene.lights[2], position=(7.0, 8.0, 9.0))
    assert moved.lights[:2] == scene.lights[:2] and moved.meshes == scene.meshes
    assert bulb.kind == "point"


def test_a_light_that_is_moved_stands_still(markers: LightMarkers, scene: Scene) -> None:
    """Of an exposure: its keys are those of another place."""
    scene.lights = [replace(each, motion=(each, each)) for each in scene.lights]
    for number, light in enumerate(markers.listed()):
        moved = moved_light(scene, light, (7.0, 8.0, 9.0))
        assert [bool(each.motion) for each in moved.lights] == [k != number for k in range(3)]
