"""Pictures that would show nothing: seen from behind, cameras that look past, closed dark rooms, no light."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerWarning
from raystream.renderer.empty_view import ENCLOSED, NOTHING_SEEN, add_camera_lamp, model_out_of_view, shows_scene
from raystream.renderer.inputs.lighting import DARK
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import FROM_THE_FRONT, from_the_front, invisible
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

SIZE = (32, 24)
CULLED = Material(base_color=(0.8, 0.8, 0.8, 1.0), backface_culling=True)


def square(normal: tuple[float, float, float], material: Material = CULLED) -> Scene:
    """Of side 2 around the origin, seen from where its normal points."""
    z = np.array(normal, float)
    x = np.cross([0.3, 1, 0.2], z)
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    corners = np.array([-x - y, x - y, x + y, y - x])
    return Scene([Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))], [Instance(0)], [material])


def test_hits_at_few_places_are_those_of_the_camera_asked_for(device: Any) -> None:
    """Whichever was asked for before; and of a size whose shape is another."""
    renderer = Renderer(square((0, 0, 1)), device=device, program="cast", machine="singlepass", ground="none")
    front, past = Camera((0, 0, 3), (0, 0, 0), fov=60.0), Camera((0, 0, 3), (0, 0, 9))
    seen = [
        shows_scene(renderer.ray_queries.coarse_hits(renderer.settings, *asked))
        for asked in ((front, SIZE), (past, SIZE), (front, SIZE), (front, (96, 24)))
    ]
    renderer.release()
    assert not seen[1].any() and np.array_equal(seen[0], seen[2])
    share = 1 / (3 * np.tan(np.radians(30))) ** 2  # of a picture that is as wide as it is high
    assert seen[0].mean() == pytest.approx(share * 3 / 4, rel=0.03)
    assert seen[3].mean() == pytest.approx(share / 4, rel=0.03)


def room(inside: bool) -> Scene:
    """A cube of side 4, of which the inner or the outer sides are the front."""
    corners = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)]) * 4.0 - 2.0
    faces = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    mesh = Mesh(corners, triangles[:, ::-1] if inside else triangles)
    return Scene([mesh], [Instance(0)], [Material()], cameras=[Camera((0, 0, 1), (0, 0, -1), name="inner")])


@pytest.mark.parametrize("normal", [(0, 0, -1), (0, -1, 0), (-0.6, -0.48, -0.64)])
def test_single_sided_models_are_seen_from_their_front(normal: tuple[float, float, float], device: Any) -> None:
    scene = square(normal)
    turned = from_the_front(scene)
    assert turned.warnings == [f"scene: {FROM_THE_FRONT}"]
    assert np.dot(turned.camera().origin, normal) > 0
    assert model_out_of_view(Renderer(scene, device=device), SIZE)[0].startswith(NOTHING_SEEN)
    assert model_out_of_view(Renderer(turned, device=device), SIZE) == []


def test_models_that_face_the_view_or_have_two_sides_stay() -> None:
    for scene in (square((0, 0, 1)), square((0, 0, -1), Material()), room(True)):
        assert from_the_front(scene) is scene
    camera = [Camera((0, 0, 5), (0, 0, 0))]
    own = square((0, 0, -1)).with_parts(cameras=camera)
    assert from_the_front(own) is own


def test_cameras_that_see_nothing_are_told(device: Any) -> None:
    scene = square((0, 0, 1))
    for camera, reason in (
        (Camera((0, 0, 5), (0, 0, 9)), "not before the camera"),
        (Camera((0, 0, 5), (0, 0, 0)), None),
    ):
        notes = model_out_of_view(Renderer(scene, camera=camera, device=device), SIZE)
        assert len(notes) == (reason is not None) and all(reason in note for note in notes if reason)
    assert model_out_of_view(Renderer(scene, camera="0,0,-5 0,0,0", device=device), SIZE)[0].startswith(NOTHING_SEEN)
    assert model_out_of_view(Renderer(square((0, 0, 1), Material()), camera="0,0,-5 0,0,0", device=device), SIZE) == []
    ball = Scene([Quadric.sphere((0, 0, 0), 1.0)], [Instance(0)], [Material()])
    assert model_out_of_view(Renderer(ball, device=device), SIZE) == []
    far = Camera((0, 0, 400), (0, 0, 0))  # smaller than a pixel
    assert model_out_of_view(Renderer(scene, camera=far, device=device), SIZE) == []


def test_a_closed_room_without_light_gets_a_lamp(device: Any) -> None:
    """And stays dark where that is asked for, where it has a light, and seen from outside."""
    renderer = Renderer(room(True), device=device)
    assert renderer.render(size=SIZE, spp=4).linear.max() == 0
    assert add_camera_lamp(renderer, SIZE) == [ENCLOSED]
    picture = renderer.render(size=SIZE, spp=4).linear
    assert (picture > 0).all() and len(renderer.scene.lights) == 1
    assert add_camera_lamp(renderer, SIZE) == []
    lit = room(True).with_parts(lights=[Light("point", intensity=(9, 9, 9))])
    outside = room(False).with_parts(cameras=[])
    for scene in (lit, outside):
        assert add_camera_lamp(Renderer(scene, device=device), SIZE) == []


def test_materials_that_are_all_invisible() -> None:
    clear = Material(base_color=(1, 1, 1, 0), alpha_mode="blend")
    assert invisible(square((0, 0, 1), clear)) and not invisible(square((0, 0, 1)))
    assert not invisible(square((0, 0, 1)).with_parts(materials=[CULLED, clear]))


TRIANGLE = np.eye(3)


def scene(**material: Any) -> Scene:
    made = Scene.from_triangles(TRIANGLE, [[0, 1, 2]])
    return replace(made, materials=[Material(**material)])


@pytest.mark.parametrize(
    ("given", "options", "dark"),
    [
        (scene(), {"environment": "none"}, True),
        (scene(), {"environment": (0.0, 0.0, 0.0)}, True),
        (scene(), {"environment": "none", "background": (1, 1, 1)}, True),
        (scene(), {}, False),
        (scene(), {"environment": (0.0, 0.1, 0.0)}, False),
        (scene(emission=(1.0, 1.0, 1.0)), {"environment": "none"}, False),
        (scene(kind="principled", unlit=True), {"environment": "none"}, False),
        (scene(kind="classic"), {"environment": "none"}, False),
        (replace(scene(), lights=[Light("point", position=(1.0, 1.0, 1.0))]), {"environment": "none"}, False),
    ],
)
def test_a_scene_without_light(device: Any, given: Scene, options: dict[str, Any], dark: bool) -> None:
    renderer = Renderer(given, device=device, machine="singlepass", **options)
    assert (DARK in renderer.notes) == dark
    if "background" not in options:
        assert (not renderer.render((8, 8), spp=1).linear.any()) == dark
    renderer.release()


def test_it_is_told_and_taken_back(device: Any) -> None:
    renderer = Renderer(scene(), device=device, machine="singlepass")
    renderer.update(environment="none")
    with pytest.warns(ViewerWarning, match=r"nothing lights the scene: its surfaces are black \(leave out environment"):
        renderer.render((8, 8), spp=1)
    renderer.update(environment="sky")
    assert DARK not in renderer.notes
    renderer.release()
