"""Layers of shadow and ambient occlusion, against what is known of a few scenes, and rays of NumPy and Embree."""

from __future__ import annotations

from typing import Any

import embree
import numpy as np
import places
import pytest

from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.scene import Scene

SIZE = (40, 30)
FLOOR = places.quads(np.array([[[-3, 0, 3], [3, 0, 3], [3, 0, -3], [-3, 0, -3]]]))
ABOVE = Camera((0.01, 4.0, 3.0), (0, 0, 0), fov=45.0)


def covered(**more: Any) -> Scene:
    """A floor under a hovering box."""
    box = 0.5 * places.box() + np.array([0.0, 1.2, 0.0], np.float32)
    return places.scene([places.flat(FLOOR), places.flat(box)], [places.material(0.7)], ABOVE, **more)


def layers(device: Any, scene: Scene, spp: int, names: str = "shadow,occlusion", **options: Any) -> dict:
    renderer = Renderer(scene, program="path", device=device, pixel_filter="point", **options)
    found = renderer.render(SIZE, spp=spp, layers=names).layers
    found["distance"] = renderer.prepared.occlusion_distance
    renderer.release()
    return found


def points(scene: Scene) -> tuple[Any, Any, Any, Any]:
    """Of the pixels' centres: whether they hit, points, and normals on their side; and Embree's scene."""
    corners = scene.flatten().corners().astype(np.float64)
    oracle = embree.embree_scene(corners.astype(np.float32))
    origins, directions = (each.reshape(-1, 3) for each in scene.camera().rays(*SIZE))
    answer = oracle.run(origins.astype(np.float32), directions.astype(np.float32), output=1)
    there = answer["primID"] >= 0
    a, b, c = np.moveaxis(corners[answer["primID"]], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals *= -np.sign((normals * directions).sum(axis=1, keepdims=True))
    t = ((a - origins) * normals).sum(-1) / (directions * normals).sum(-1)
    return there, origins + t[:, None] * directions, normals, oracle


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_the_shadow_of_a_point_is_all_or_nothing(device, accel) -> None:
    scene = covered(lights=[Light("point", position=(0.7, 3.0, 0.4), intensity=(5.0, 5.0, 5.0))])
    found = layers(device, scene, 2, environment="none", accel=accel)["shadow"].reshape(-1)
    there, at, normals, oracle = points(scene)
    towards = np.array([0.7, 3.0, 0.4]) - at
    lit = there & ((towards * normals).sum(-1) > 1e-6)
    from_ = (at + 1e-4 * normals).astype(np.float32)
    distance = np.linalg.norm(towards, axis=1)
    hit = oracle.run(from_, (towards / distance[:, None]).astype(np.float32), output=1)
    hidden = lit & (hit["primID"] >= 0) & (hit["tfar"] < distance)
    assert set(np.unique(found)) == {0.0, 1.0}
    assert (found == hidden).mean() > 0.998 and 0.02 < hidden.mean() < 0.5
    assert not found[~there].any()


def test_the_shadow_of_a_lamp_has_a_soft_edge(device) -> None:
    lamp = places.flat(0.8 * places.LAMP + np.array([0, 2.5, 0], np.float32), 1)
    scene = covered()
    scene.meshes.append(lamp)
    scene.instances.append(type(scene.instances[0])(2))
    scene.materials.append(places.material(0.0, 5.0))
    found = layers(device, scene, 64, "shadow,direct_diffuse", environment="none")
    alone = Scene([scene.meshes[0], lamp], scene.instances[:2], scene.materials, scene.cameras)
    free = layers(device, alone, 64, "shadow,direct_diffuse", environment="none")
    assert not free["shadow"].any()
    shadow = found["shadow"]
    assert ((shadow > 0.05) & (shadow < 0.95)).sum() > 30 and (shadow > 0.99).any()
    floor = shadow[-8:]  # below the box; there the picture tells the same
    ratio = 1 - found["direct_diffuse"][-8:, :, 1] / free["direct_diffuse"][-8:, :, 1]
    assert np.abs(floor - ratio).mean() < 0.05


@pytest.mark.parametrize("options", [{}, {"accel": "two-level-bvh", "sampler": "independent"}], ids=str)
def test_occlusion_is_the_cosine_s_share_of_rays_that_meet_something(device, options) -> None:
    spp, rays = 64, 400
    found = layers(device, covered(), spp, "occlusion", **options)
    there, at, normals, oracle = points(covered())
    random = np.random.default_rng(2)
    directions = random.normal(size=(len(at), rays, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    directions += normals[:, None]  # by the cosine
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    origins = np.repeat((at + 1e-4 * normals)[:, None], rays, axis=1)
    flat = [each.reshape(-1, 3).astype(np.float32) for each in (origins, directions)]
    hit = oracle.run(*flat, output=1)
    near = ((hit["primID"] >= 0) & (hit["tfar"] < found["distance"])).reshape(len(at), rays).mean(axis=1)
    near = np.where(there, near, 0)
    assert np.abs(found["occlusion"].reshape(-1) - near).max() < 0.25
    assert np.abs(found["occlusion"].reshape(-1) - near).mean() < 0.02
    assert found["occlusion"].mean() == pytest.approx(near.mean(), abs=0.003) and near.max() > 0.3


def test_each_is_there_alone(device) -> None:
    lit = covered(lights=[Light("point", position=(0.7, 3.0, 0.4), intensity=(5.0, 5.0, 5.0))])
    both = layers(device, lit, 2)
    for name in ("shadow", "occlusion"):
        assert np.array_equal(layers(device, lit, 2, name)[name], both[name])


def test_layers_are_of_all_samples_of_the_film(device: Any) -> None:
    """Of eight rays a pixel the open ones: eighths, and not of one ray all or nothing."""
    eighths = 8 * layers(device, covered(), 8, "occlusion", environment="sky")["occlusion"]
    assert np.abs(eighths - np.rint(eighths)).max() < 1e-5
    assert len(np.unique(np.rint(eighths))) >= 4
