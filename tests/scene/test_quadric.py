"""Quadrics as plain data: places, boxes, numbers, tessellations, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.accel.primitives import boxes
from raystream.base.errors import ViewerError
from raystream.film.files.checkpoint import fingerprint
from raystream.lighting.emitters import emitters
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.edits.movable import movable_lights
from raystream.scene.material import Material
from raystream.scene.quadric import PlacedQuadrics, Quadric, QuadricShape, check_map
from raystream.scene.scene import Instance, Scene
from tests.refusals import refusal

UP = np.inf
MADE = [
    Quadric.sphere((1, 2, 3), 0.5),
    Quadric.sphere((1, 2, 3), 0.5, flipped=True),
    Quadric.cylinder((0, 1, 0), (2, 3, 4), 0.7),
    Quadric.cone((0, 1, 0), (2, 3, 4), 0.7),
    Quadric.cone((0, 1, 0), (-2, 3, 4), 0.7, 0.2, flipped=True),
    Quadric.disk((1, 1, 1), (1, 2, -1), 3.0, 1.0),
    Quadric.surface(QuadricShape((1, 0, 4), -1, 0, high=(UP, 2, UP))),
    Quadric.surface(QuadricShape((1, -1, 1), 0, -1, low=(-UP, -2, -UP), high=(UP, 1, UP))),
]


def square() -> Any:
    return quads([[(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]]).mesh("square", 0)


@pytest.mark.parametrize("quadric", MADE, ids=lambda quadric: quadric.name)
def test_tessellations_lie_on_the_surface_and_in_the_box(quadric: Quadric) -> None:
    """In the box to the rounding of float32, which is wide open nowhere; facets look where normals do."""
    mesh = quadric.tessellated(32)
    shape = quadric.shape
    local = np.linalg.solve(shape.transform[:3, :3], (mesh.positions.astype(float) - shape.transform[:3, 3]).T).T
    value = (shape.squares * local**2).sum(1) + shape.linear * local[:, 1] + shape.constant
    assert np.abs(value).max() < 1e-5
    (box,) = boxes(PlacedQuadrics.of(shape, shape.transform[None]))
    assert (mesh.positions >= box[0]).all() and (mesh.positions <= box[1]).all()
    reached = np.stack([mesh.positions.min(axis=0), mesh.positions.max(axis=0)])
    # 32 segments miss 0.5 %; the box of a slanted cone is that of the cylinder around it.
    assert np.abs(reached - box).max() < 0.15 * np.ptp(box, axis=0).max()
    corners = mesh.positions[mesh.triangles].astype(float)
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((faces[:, None] * mesh.normals[mesh.triangles]).sum(-1) > -1e-9).all()
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6)


def test_in_a_flat_scene_each_takes_a_triangle_s_number() -> None:
    """Its material is the instance's where that has one; what stands in its place has no area."""
    ball = Quadric.sphere((0, 1, 0), 2.0, material=1)
    moved = np.diag([1.0, 2.0, 1.0, 1.0])
    moved[:3, 3] = 5, 0, 0
    scene = Scene([square(), ball], [Instance(0), Instance(1), Instance(1, moved, material=2), Instance(0)])
    flat = scene.flatten()
    assert (len(flat), scene.triangle_count, scene.quadric_count) == (6, 6, 2)
    assert flat.instances.tolist() == [0, 2, 3, 4, 6] and flat.materials.tolist() == [0, 0, 1, 2, 0, 0]
    assert flat.quadrics.indices.tolist() == [2, 3]
    np.testing.assert_allclose(flat.quadrics.transforms[1] @ (0, 1, 0, 1), (5, 6, 0, 1))  # its top
    edges = flat.corners()[:, 1:] - flat.corners()[:, :1]
    assert not edges[2:4].any()
    np.testing.assert_allclose(scene.bounds(), [(-2, -2, -2), (7, 6, 2)])
    assert repr(scene).startswith("<Scene 'scene': 4 triangles, 2 quadrics, 2 meshes")
    assert repr(Scene([square()], [Instance(0)])).startswith("<Scene 'scene': 2 triangles, 1 meshes")


def test_another_shape_in_the_same_box_is_another_scene() -> None:
    ball, tube = Quadric.sphere(), Quadric.cylinder((0, -1, 0), (0, 1, 0))
    np.testing.assert_array_equal(ball.positions, tube.positions)
    first, second = (Scene([mesh], [Instance(0)]) for mesh in (ball, tube))
    assert scene_changes(first, second).geometry
    assert fingerprint(first.meshes) != fingerprint(second.meshes)
    assert not scene_changes(first, Scene([ball], [Instance(0)])).differs


def test_area_lights() -> None:
    """A sphere shines from where it stands, with its radius and side; its middle is where it is held."""
    lamp = Material("lamp", emission=(1, 2, 3))
    moved = 2.0 * np.eye(4)
    moved[3, 3], moved[:3, 3] = 1, (4, 0, 0)
    scene = Scene([Quadric.sphere((0, 1, 0), 0.5, flipped=True)], [Instance(0, moved, name="bulb")], [lamp])
    found = emitters(scene)
    assert found.sphere is not None and found.sphere.tolist() == [True]
    np.testing.assert_allclose(found.corners[0], [(4, 2, 0), (1, -1, 0), (0, 0, 0)])
    (light,) = movable_lights(scene)
    assert light.name == "bulb" and np.allclose(light.position, (4, 2, 0))
    for mesh, transform in (
        (Quadric.cylinder((0, 0, 0), (0, 1, 0)), np.eye(4)),
        (Quadric.sphere(), np.diag([1.0, 1.1, 1.0, 1.0])),
        (Quadric.surface(QuadricShape((1, 1, 1), 0, -1, high=(UP, 0.5, UP))), np.eye(4)),
    ):
        with pytest.raises(ViewerError, match=r"bulb.*emits light, and is not a sphere.*use triangles"):
            emitters(replace(scene, meshes=[mesh], instances=[Instance(0, transform, name="bulb")]))
    # Left to chance, as of meshes.
    spots = Material("spots", emission=(1, 1, 1), emission_texture=0)
    assert not len(emitters(Scene([MADE[2]], [Instance(0)], [spots])).corners)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Quadric.sphere(radius=0), "sphere.*radius 0.*above 0"),
        (lambda: Quadric.sphere(radius=float("nan"), name="ball"), "ball.*radius nan"),
        (lambda: Quadric.sphere((0, np.inf, 0)), "center.*not a point.*three finite numbers"),
        (lambda: Quadric.cone((0, 0, 0), (0, 1, 0), 1.0, -0.1), "end_radius -0.1"),
        (lambda: QuadricShape((1, 1, 1), constant=-1, ring=(2, 1)), "no part of it"),
        (lambda: Quadric.cylinder((1, 1, 1), (1, 1, 1)), "start and end are the same"),
        (lambda: Quadric.cone((0, 0, 0), (0, 1, 0), 1.0, 1.0), "end_radius 1.0"),
        (lambda: Quadric.disk((0, 0, 0), (0, 0, 0)), "a normal of length 0"),
        (lambda: Quadric.disk((0, 0, 0), (0, 1, 0), 1.0, 1.0), "inner radius of 1.0"),
        (lambda: Quadric.cylinder((0, 0, 0), (0, 1e9, 0), 1e-3), "flattened"),
        (lambda: QuadricShape((0, 0, 0)), "describe no surface"),
        (lambda: QuadricShape((1, 1, 1), 2.0, -1), "both y.2.*and y"),
        (lambda: QuadricShape((1, 0, 1), -1), "leave it unbounded.*clip it"),
        (lambda: QuadricShape((1, 1, 1), 0, -1, low=(-UP, 2, -UP)), "no part of it"),
        (lambda: Quadric.surface(QuadricShape((1, 1, 1), 0, -1, transform=np.diag([1, 0, 1, 1.0]))), "flattened"),
        (lambda: Quadric.surface(QuadricShape((1, 1, 1), 0, -1, transform=np.eye(4) * np.nan)), "not finite"),
        (lambda: Quadric.surface(QuadricShape((1, 0, -1), 0, 0, (-1,) * 3, (1,) * 3)).tessellated(), "use it"),
    ],
)
def test_no_quadrics(make: Any, what: str) -> None:
    with pytest.raises(ViewerError, match=what):
        make()


def test_instances_that_make_one_flat_or_too_large() -> None:
    ball = Quadric.sphere(name="ball")
    for matrix, what in (
        (np.diag([1.0, 1.0, 0.0, 1.0]), "s: ball.*flat"),
        (np.diag([1e19] * 3 + [1.0]), "s: ball.*1e.18"),
    ):
        with pytest.raises(ViewerError, match=what):
            Scene([ball], [Instance(0, matrix)], name="s").flatten()


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (QuadricShape((1, 1, 1), constant=-4), (-2, -2, -2), (2, 2, 2)),
        (QuadricShape((1, 4, 9), constant=-36), (-6, -3, -2), (6, 3, 2)),
        (QuadricShape((1, 1, 1), constant=-4, high=(math.inf, 1, math.inf)), (-2, -2, -2), (2, 1, 2)),
        (QuadricShape((1, 1, 1), constant=-25, low=(-math.inf, 3, -math.inf)), (-4, 3, -4), (4, 5, 4)),
        (QuadricShape((1, 0, 1), -1, high=(math.inf, 4, math.inf)), (-2, 0, -2), (2, 4, 2)),
        (
            QuadricShape((1, -1, 1), low=(-math.inf, -2, -math.inf), high=(math.inf, 1, math.inf)),
            (-2, -2, -2),
            (2, 1, 2),
        ),
        (QuadricShape((0, 0, 0), 2, -6, ring=(1, 5)), (-5, 3, -5), (5, 3, 5)),
        (
            QuadricShape((1, 0, 1), constant=-9, low=(-math.inf, -1, -math.inf), high=(math.inf, 2, 1)),
            (-3, -1, -3),
            (3, 2, 1),
        ),
    ],
)
def test_boxes_of_quadrics(shape: QuadricShape, low: tuple, high: tuple) -> None:
    np.testing.assert_allclose(shape.bounds(), [low, high], rtol=1e-12)


@pytest.mark.parametrize(
    ("diagonal", "right"),
    [((1, 1, 1), True), ((1, 1e5, 1), True), ((1, 1.01e5, 1), False), ((0, 0, 0), False), ((math.inf, 1, 1), False)],
)
def test_maps_that_flatten(diagonal: tuple, right: bool) -> None:
    matrix = np.diag([*diagonal, 1.0])
    with refusal("" if right else "a: a quadric flattened"):
        check_map("a", matrix)


@pytest.mark.parametrize(
    ("start", "end"), [((0, 0, 0), (0, 0, 2)), ((1, 2, 3), (4, 2, 3)), ((0, 1, 0), (0, -1, 0)), ((0, 0, 0), (1, 2, 2))]
)
def test_ends_of_cylinders_and_cones(start: tuple, end: tuple) -> None:
    """Rings around both ends, across the axis, of the radii that were given."""
    first, last = np.array(start, float), np.array(end, float)
    axis = (last - first) / np.linalg.norm(last - first)
    for made, radii in (
        (Quadric.cylinder(start, end, 0.5), (0.5, 0.5)),
        (Quadric.cone(start, end, 0.5, 0.25), (0.5, 0.25)),
        (Quadric.cone(start, end, 0.5), (0.5, 0)),
    ):
        mesh = made.tessellated(8, 2)
        along = (mesh.positions - first) @ axis
        for place, radius in ((0, radii[0]), (np.linalg.norm(last - first), radii[1])):
            ring = mesh.positions[np.abs(along - place) < 1e-5]
            assert len(ring) == 8
            centre = first + axis * place
            np.testing.assert_allclose(np.linalg.norm(ring - centre, axis=1), radius, atol=1e-5)
        outward = mesh.positions - first - np.outer(along, axis)
        assert ((outward * mesh.normals).sum(axis=1) >= -1e-6).all()
        assert mesh.name == made.name and (mesh.materials == 0).all()
