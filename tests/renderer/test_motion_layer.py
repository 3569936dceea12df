"""Motion in pixels: of cameras, objects and poses, against float64 of the points themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import render_frames
from raystream.scene.camera import Camera
from raystream.scene.deform import with_vertices
from raystream.scene.scene import Scene

SIZE = (48, 36)
CLOSE = 2e-3  # pixels: hits are float32
FROM = Camera((0.2, 0.5, 4.0), (0, 0, 0), fov=40.0)
TO = Camera((0.6, 0.3, 3.5), (0.1, 0.1, 0), fov=42.0)


def pair() -> Scene:
    """Two spheres."""
    ball = places.sphere(3)
    meshes = [places.flat(0.7 * ball + np.array([-0.8, 0, 0])), places.flat(0.6 * ball + np.array([0.8, 0, 0]))]
    return places.scene(meshes, [places.material(0.5)], FROM)


def pixels(camera: Camera, points: Any) -> Any:
    """(H, W, 2) where points (H, W, 3) are seen, by matrices."""
    right, up, forward = camera.basis()
    relative = points - np.asarray(camera.origin)
    slope = np.tan(np.radians(camera.fov) / 2)
    depth = relative @ forward
    x, y = (relative @ right) / depth / slope / (SIZE[0] / SIZE[1]), (relative @ up) / depth / slope
    return np.stack([(x + 1) / 2 * SIZE[0], (1 - y) / 2 * SIZE[1]], axis=-1)


def shown(renderer: Renderer) -> tuple[Any, Any, Any]:
    """The motion of a picture, the points, and the instances."""
    layers = renderer.render(SIZE, spp=1, layers="motion,position,instance").layers
    return layers["motion"], layers["position"].astype(np.float64), layers["instance"]


def centres() -> Any:
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    return np.stack([x, y], axis=-1) + 0.5


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
@pytest.mark.parametrize("program", ["cast", "path"])
def test_a_camera_and_an_object_that_move(device, accel, program) -> None:
    renderer = Renderer(pair(), program=program, accel=accel, device=device)
    first, _, _ = shown(renderer)
    assert not first.any()
    turn = np.array([[0.8, -0.6, 0, 0.1], [0.6, 0.8, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1.0]])
    renderer.move({1: turn})
    renderer.update(camera=TO)
    found, at, instance = shown(renderer)
    was = at.copy()
    moved = instance == 1
    was[moved] = (at[moved] - turn[:3, 3]) @ np.linalg.inv(turn[:3, :3]).T
    expected = np.where((instance >= 0)[..., None], centres() - pixels(FROM, was), 0)
    assert moved.any() and (instance == 0).any() and (instance < 0).any()
    assert np.abs(found - expected).max() < CLOSE and np.abs(expected).max() > 3
    again, _, _ = shown(renderer)
    assert not again.any()  # nothing has moved since
    renderer.release()


def test_an_object_that_moves_along_an_axis_before_a_camera_at_rest(device) -> None:
    renderer = Renderer(pair(), program="cast", device=device)
    shown(renderer)
    along = np.eye(4)
    along[0, 3] = -0.25
    renderer.move({1: along})
    found, at, instance = shown(renderer)
    moved = (instance == 1)[..., None]
    assert np.abs(found - np.where(moved, centres() - pixels(FROM, at - along[:3, 3]), 0)).max() < CLOSE
    assert not found[~moved[..., 0]].any() and (found[moved[..., 0], 0] < -2).all()
    renderer.release()


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_a_mesh_in_another_pose(device, accel) -> None:
    start = pair()
    node = np.array([[0.8, -0.6, 0, -0.3], [0.6, 0.8, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1.0]])
    start.instances[0].transform = node
    rest = start.meshes[0].positions.astype(np.float64)

    def bent(amount: float) -> Any:
        return rest + amount * np.stack([0 * rest[:, 0], rest[:, 0] ** 2, 0 * rest[:, 0]], axis=-1)

    renderer = Renderer(start, program="cast", accel=accel, device=device)
    renderer.deform(0, bent(0.1))
    shown(renderer)
    renderer.deform(0, bent(0.3))
    found, at, instance = shown(renderer)
    was = at.copy()
    bending = instance == 0
    local = (at[bending] - node[:3, 3]) @ node[:3, :3]
    local[:, 1] -= 0.2 * local[:, 0] ** 2
    was[bending] = local @ node[:3, :3].T + node[:3, 3]
    expected = np.where((instance >= 0)[..., None], centres() - pixels(FROM, was), 0)
    # Triangles are straight where the bend is not.
    assert np.abs(found - expected).max() < 0.15 and np.abs(found - expected)[bending].mean() < 0.03
    assert np.abs(expected[bending]).max() > 1 and np.abs(found[instance == 1]).max() < CLOSE
    renderer.release()


def test_of_other_scenes_nothing_is_known(device) -> None:
    renderer = Renderer(pair(), program="cast", device=device)
    shown(renderer)
    renderer.update(Scene(pair().meshes[:1], pair().instances[:1], cameras=[TO]))
    assert not shown(renderer)[0].any()
    renderer.update(pair())
    shown(renderer)
    scene = pair()
    scene.meshes[0] = with_vertices(pair().meshes[0], pair().meshes[0].positions)  # another mesh
    renderer.update(scene, camera=TO)
    motion, _, instance = shown(renderer)
    assert not motion[instance == 0].any()
    renderer.release()


def test_frames_know_the_one_before_by_themselves(device) -> None:
    """Whichever frame a sequence begins with, as on several machines."""
    asked: dict[str, Any] = {"turntable": True, "render": {"size": SIZE, "layers": "motion,position"}}

    def frames(which: range) -> dict[int, Any]:
        made = render_frames(pair(), which, 24.0, program="cast", device=device, **asked)
        return {frame.number: frame.picture.layers for frame in made}

    whole = frames(range(0, 3))
    assert all(np.abs(layers["motion"]).max() > 1 for layers in whole.values())
    part = frames(range(1, 4))[1]["motion"]  # the same third of a turn, a frame earlier
    assert np.abs(part - whole[0]["motion"]).max() < CLOSE
