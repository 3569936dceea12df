"""Quadrics beside triangles: against float64 and Embree, the same bits from every structure and machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from embree import embree_scene
from glsl_call import Function
from numpy.typing import NDArray
from walker import through, walker

from raystream import Renderer, Scene
from raystream.accel import bvh_tree as bvh
from raystream.accel import primitives, structures
from raystream.accel.grid import grid
from raystream.accel.primitives import record
from raystream.accel.structures import Primitives, StructureOptions
from raystream.base.errors import ViewerError
from raystream.kernels.records import GEOMETRY, HIT, RAY
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.material import Material
from raystream.scene.quadric import PlacedQuadrics, Quadric, QuadricShape
from raystream.scene.scene import Instance

Float = NDArray[np.float64]


class Found(NamedTuple):
    """t (R,), inf for a miss; number (R,), -1 for one; normal (R, 3) on the front side. doubtful (R,): a silhouette, an
    edge or another surface is so near that float32 may decide otherwise."""

    t: Float
    number: NDArray[np.int64]
    normal: Float
    doubtful: NDArray[np.bool_]


@np.errstate(all="ignore")
def nearest(placed: PlacedQuadrics, origins: Any, directions: Any, near: float = 1e-4) -> Found:
    """The nearest hits of rays (R, 3), against the very numbers of the table; near: of doubts, relative."""
    origins, directions = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    count = len(origins)
    best, number = np.full(count, np.inf), np.full(count, -1)
    normal, doubtful = np.zeros((count, 3)), np.zeros(count, bool)
    second = np.full(count, np.inf)  # nearest that is hit or doubtful
    for row in record(placed):
        inverse = np.array([row[f"inverse_{axis}"][:3] for axis in "xyz"], np.float64)
        place = np.array([row[f"inverse_{axis}"][3] for axis in "xyz"], np.float64)
        squares, linear = row["squares"].astype(np.float64), float(row["linear"])
        o, d = (origins - place) @ inverse.T, directions @ inverse.T
        shift = -(o * d).sum(1) / (d * d).sum(1)  # to where the terms are small
        o = o + shift[:, None] * d
        a, b = (squares * d * d).sum(1), (squares * o * d).sum(1) + 0.5 * linear * d[:, 1]
        c = (squares * o * o).sum(1) + linear * o[:, 1] + float(row["constant"])
        discriminant = b * b - a * c
        root = np.sqrt(np.maximum(discriminant, 0.0))
        straight = np.stack([-c / (2.0 * b), np.full(count, np.nan)])  # where there is one root alone
        roots = np.where(a != 0.0, np.stack([-b - root, -b + root]) / a, straight)
        points = o + roots[..., None] * d
        ring = points[..., 0] ** 2 + points[..., 2] ** 2
        room = [points - row["low"], row["high"] - points, (row["ring"][1] - ring)[..., None]]
        room += [(ring - row["ring"][0])[..., None]] if row["ring"][0] > 0.0 else []
        within = np.concatenate(room, axis=-1).min(axis=-1)
        t = roots + shift
        # Relative to the terms that cancel in it.
        grazing = np.abs(discriminant) < near * np.maximum(b * b, np.abs(a * c))
        for k in range(2):
            maybe = (discriminant > -near * np.maximum(b * b, np.abs(a * c))) & (within[k] > -near) & (t[k] > -near)
            sure = (discriminant >= 0.0) & (within[k] >= 0.0) & (t[k] > 0.0)
            unsure = maybe & (grazing | (np.abs(within[k]) < near) | (np.abs(t[k]) < near))
            doubtful |= unsure & (t[k] < best + near)
            nearer = sure & (t[k] < best)
            second = np.where(nearer, best, np.where(sure, np.minimum(second, t[k]), second))
            slope = (2.0 * squares * points[k] + [0.0, linear, 0.0]) @ inverse * float(row["side"])
            best[nearer], number[nearer] = t[k][nearer], row["number"]
            normal[nearer] = slope[nearer] / np.linalg.norm(slope[nearer], axis=1, keepdims=True)
    doubtful |= np.isfinite(best) & (np.abs(second - best) < near * np.maximum(best, 1.0))
    return Found(best, number, normal, doubtful)


SINGLE: dict[str, Any] = {"machine": "singlepass"}
UP = np.inf
ALL = {
    "sphere": Quadric.sphere((0.1, 0.2, 0.3), 0.7),
    "far": Quadric.sphere((100, 200, -300), 0.5),
    "inside": Quadric.sphere((0, 0, 0), 2.0, flipped=True),
    "tube": Quadric.cylinder((0, 0, 0), (0, 0.1, 0), 0.26),
    "needle": Quadric.cylinder((3, 4, 5), (8, 1, 60), 0.26),
    "cone": Quadric.cone((0, 0, 0), (0, 1, 0), 0.7),
    "frustum": Quadric.cone((10, 20, 5), (11, 30, 7), 0.7, 0.3),
    "disk": Quadric.disk((0, 2, 0), (1, 1, 0), 2.0),
    "annulus": Quadric.disk((0, 2, 0), (-1, 1, 3), 2.0, 0.5),
    "paraboloid": QuadricShape((1, 0, 1), -1, 0, high=(UP, 1, UP)),
    "one sheet": QuadricShape((1, -1, 1), 0, -1, low=(-UP, -2, -UP), high=(UP, 1, UP)),
    "two sheets": QuadricShape((-1, 1, -1), 0, -1, low=(-UP, -2, -UP), high=(UP, 3, UP)),
    "saddle": QuadricShape((1, 0, -1), -1, 0, low=(-1, -2, -1), high=(1, 2, 1)),
    "ellipsoid": QuadricShape((1, 1, 1), 0, -1),
}


def turned(seed: int) -> np.ndarray:
    """(4, 4): some turn, stretched up to fourfold, somewhere."""
    rng = np.random.default_rng(seed)
    out = np.eye(4)
    left, right = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
    out[:3, :3], out[:3, 3] = left @ np.diag(rng.uniform(0.5, 2.0, 3)) @ right, rng.uniform(-4, 4, 3)
    return out


def shape_of(name: str) -> QuadricShape:
    """The shape; those without a place of their own are turned."""
    found = ALL[name]
    if isinstance(found, Quadric):
        return found.shape
    return replace(found, transform=turned(list(ALL).index(name)))


def placed_alone(shape: QuadricShape) -> PlacedQuadrics:
    return PlacedQuadrics.of(shape, shape.transform[None])


def rays_at(shape: QuadricShape, count: int, seed: int = 0) -> np.ndarray:
    """(count,) `RAY` through its box, from around it and from within."""
    (box,) = primitives.boxes(placed_alone(shape))
    return through(box[0], box[1], np.random.default_rng(seed), count)


class Alone:
    """Each quadric's GLSL by itself, on arrays of rays and quadrics' numbers in `ALL`."""

    def __init__(self, device: Any) -> None:
        every = PlacedQuadrics.joined([placed_alone(shape_of(name)) for name in ALL])
        placed = replace(every, indices=np.zeros(len(ALL), np.int64))
        text = """
        Hit test_ray(Ray ray, int n) {
            Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
            quadric_test(ray, n, 0, hit);
            return hit;
        }
        Geometry point_of(Ray ray, int n) { return quadric_at(ray, test_ray(ray, n).t, n); }
        Hit leave(Ray ray, int n, vec3 way, out vec3 origin) {
            Geometry here = point_of(ray, n);
            origin = offset_origin(here.position, here.normal, way, here.error);
            return test_ray(Ray(origin, ray.t_max, way, 0), n);
        }
        """
        shared: dict[str, Any] = {"modules": [primitives.quadric_module(primitives.record(placed))], "text": text}
        shared |= {"records": [RAY, HIT, GEOMETRY], "includes": ["lib/offset_origin.glsl"]}
        self.test = Function(device, "Hit test_ray(Ray ray, int n)", **shared)
        self.at = Function(device, "Geometry point_of(Ray ray, int n)", **shared)
        self.leave = Function(device, "Hit leave(Ray ray, int n, vec3 way, out vec3 origin)", **shared)


@pytest.fixture(scope="module")
def alone(device: Any) -> Alone:
    with device.current():
        return Alone(device)


# -- one by one ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_roots_normals_and_rays_that_leave(alone: Alone, name: str) -> None:
    """As in float64; points lie on the surface to a tenth of their error's bound; and no ray that leaves one finds the
    surface that it leaves."""
    number = list(ALL).index(name)
    shape = shape_of(name)
    held = placed_alone(shape)
    rays = rays_at(shape, 3000)
    (hits,) = alone.test(rays, np.full(len(rays), number))
    expected = nearest(held, rays["origin"], rays["direction"])
    sure = ~expected.doubtful
    assert sure.mean() > 0.9 and (hits["triangle"][sure] == expected.number[sure]).all()
    met = sure & (expected.number >= 0)
    assert met.sum() > 200
    numbers = np.full(int(met.sum()), number)
    (here,) = alone.at(rays[met], numbers)
    error = here["error"].astype(float)
    # The distance is off by the surface's error over the slant of the ray, and by its own rounding.
    slant = np.abs((expected.normal * rays["direction"]).sum(1))[met]
    off = np.abs(hits["t"] - expected.t)[met]
    assert (off * slant <= 0.5 * error + 3e-7 * expected.t[met]).all()
    # Off by a little along the surface, the normal turns with it, no sharper than a radius of 1e-3 of the size does.
    curve = 1e3 / np.ptp(primitives.boxes(held)[0], axis=0).max()
    assert (np.linalg.norm(here["normal"] - expected.normal[met], axis=1) < 2e-6 + curve * (off + error)).all()
    assert _off_surface(shape, here["position"], error).max() < 0.1

    rng = np.random.default_rng(2)
    way = rng.normal(size=(len(numbers), 3))
    along = np.arange(len(way)) % 2 == 0  # nearly along the surface
    normal = here["normal"].astype(float)
    flat = way - (way * normal).sum(1, keepdims=True) * normal * (1 - 10.0 ** rng.uniform(-6, 0, (len(way), 1)))
    way = np.where(along[:, None], flat, way)
    way = (way / np.linalg.norm(way, axis=1, keepdims=True)).astype(np.float32)
    left, origin = alone.leave(rays[met], numbers, way)
    # From the very origin that it has, float64 knows no root near zero.
    onwards = nearest(held, origin, way)
    again = left["triangle"] >= 0
    certain = ~onwards.doubtful
    assert (again == (onwards.number >= 0))[certain].all()
    assert (left["t"][again & certain] > 0.5 * onwards.t[again & certain]).all()


def _off_surface(shape: QuadricShape, positions: np.ndarray, error: np.ndarray) -> np.ndarray:
    """How far points are from the surface, in parts of ``error``."""
    (row,) = primitives.record(placed_alone(shape))
    inverse = np.array([row[f"inverse_{axis}"] for axis in "xyz"], np.float64)
    local = (positions.astype(float) - inverse[:, 3]) @ inverse[:, :3].T
    squares, linear = np.array(shape.squares), shape.linear
    value = (squares * local * local).sum(1) + linear * local[:, 1] + shape.constant
    slope = (2.0 * squares * local + [0.0, linear, 0.0]) @ inverse[:, :3]
    return np.abs(value) / np.linalg.norm(slope, axis=1) / error


def test_rays_without_an_end_and_with_one(device: Any) -> None:
    """From within, from outside, past it, away from it; cut short; and any hit."""
    renderer = Renderer(scene_of([Quadric.sphere((0, 0, 5), 1.0)]), device=device, **SINGLE)
    origins = np.float32([[0, 0, 0], [0, 0, 5], [0, 2, 0], [0, 0, 10]])
    found = renderer.trace(origins, [[0, 0, 1]])
    np.testing.assert_allclose(found.distance, [4, 1, np.inf, np.inf])
    assert (renderer.trace(origins, [[0, 0, 1]], any_hit=True).triangle >= 0).tolist() == [True, True, False, False]
    for t_max, hits in ((4.0, False), (4.001, True)):  # hits at t_max or beyond do not count
        assert (renderer.trace(origins[:1], [[0, 0, 1]], t_max=t_max).triangle[0] >= 0) == hits
    np.testing.assert_allclose(renderer.trace(origins[:1], [[0, 0, 1]], t_max=5.0).distance, [4])


def test_texture_coordinates(alone: Alone) -> None:
    """u turns around the axis from +z, v runs along it evenly: of a sphere in angles, of a disk outwards."""
    rays = np.zeros(4, RAY.dtype)
    rays["origin"] = (3, 0, 0), (0, np.sqrt(2), 3), (-3, 0.025, 0), (0, 0.5, 3)
    rays["direction"], rays["t_max"] = [(-1, 0, 0), (0, 0, -1), (1, 0, 0), (0, 0, -1)], 3.4e38
    names = ["inside", "inside", "tube", "cone"]
    (at,) = alone.at(rays, [list(ALL).index(name) for name in names])
    # The tip of a cone is its axis's first end: half of its height is half of v.
    np.testing.assert_allclose(at["uv"][:, :2], [(0.25, 0.5), (0, 0.75), (0.75, 0.25), (0, 0.5)], atol=1e-6)
    disk = shape_of("annulus").transform
    middle, across, normal = disk[:3, 3], disk[:3, 0] * 0.625, disk[:3, 1]
    rays["origin"], rays["direction"] = middle + across + normal, -normal / np.linalg.norm(normal)
    (at,) = alone.at(rays, [list(ALL).index("annulus")] * 4)
    np.testing.assert_allclose(at["uv"][:, :2], [(0.25, 0.5)] * 4, atol=1e-6)  # 0.625 of the radius, from 0.25 on


def test_levels_of_textures(alone: Alone) -> None:
    """log2 of the change of texture coordinates per scene unit: the root of what they change around the axis, one in
    a circumference, times what they change along it; where the map to the world is uneven, with the mean of its scales.
    At a pole the circumference counts as that of a thousandth of the radius."""
    rays = np.zeros(6, RAY.dtype)
    rays["origin"] = (3, 0, 0), (0, np.sqrt(2), 3), (-3, 0.025, 0), (0, 0.5, 3), (0, 0.5, 0), (0, 0, 0)
    rays["direction"], rays["t_max"] = [(-1, 0, 0), (0, 0, -1), (1, 0, 0), (0, 0, -1), (0, 1, 0), (0, 0, 0)], 3.4e38
    disk = shape_of("annulus").transform
    rays["origin"][5] = disk[:3, 3] + disk[:3, 0] * 0.625 + disk[:3, 1]
    rays["direction"][5] = -disk[:3, 1] / np.linalg.norm(disk[:3, 1])
    names = ["inside", "inside", "tube", "cone", "inside", "annulus"]
    (at,) = alone.at(rays, [list(ALL).index(name) for name in names])
    turn = 2 * np.pi  # circumference of radius 1
    changes = [  # (around, along), own space; the mean of the scales
        (1 / turn, 1 / np.pi, 2.0),
        (1 / (turn * np.sqrt(0.5)), 1 / np.pi, 2.0),
        (1 / turn, 1.0, (0.26 * 0.26 * 0.1) ** (1 / 3)),
        (1 / (turn * 0.5), 1.0, (0.7 * 0.7) ** (1 / 3)),
        (1 / (turn * 1e-3), 1 / np.pi, 2.0),
        (1 / (turn * 0.625), 1 / 0.75, 2.0),
    ]
    expected = [0.5 * np.log2(around * along) - np.log2(scale) for around, along, scale in changes]
    np.testing.assert_allclose(at["uv"][:, 2], expected, atol=1e-5)


def test_levels_of_textures_on_instances(device: Any) -> None:
    """Of a ball whose instance is four times as large coordinates change a quarter as much, flattened or not."""
    placed = {0: np.diag([4.0, 4.0, 4.0, 1.0])}
    ray, hit = np.zeros(1, RAY.dtype), np.zeros(1, HIT.dtype)
    ray["origin"], ray["direction"], ray["t_max"], hit["t"] = (9, 0, 0), (-1, 0, 0), 3.4e38, 5.0
    for accel in ("two-level-bvh", "bvh"):
        found = prepare(scene_of([Quadric.sphere((0, 0, 0), 1.0)], placed), accel=accel).modules()
        modules = [each for each in found if {"geometry_at", "object_ray", "quadric_at"} & {*each.provides}]
        text = "Geometry at_hit(Ray ray, Hit hit) { return geometry_at(ray, hit); }"
        function = Function(
            device, "Geometry at_hit(Ray ray, Hit hit)", modules=modules, records=[RAY, HIT, GEOMETRY], text=text
        )
        (at,) = function(ray, hit)
        np.testing.assert_allclose(at["position"], [(4, 0, 0)], atol=1e-6)
        np.testing.assert_allclose(at["uv"], [(0.25, 0.5, -0.5 * np.log2(2 * np.pi**2) - 2.0)], atol=1e-6)


# -- in scenes -------------------------------------------------------------------------------------------------------


def scene_of(meshes: list, transforms: dict[int, np.ndarray] | None = None, **scene: Any) -> Scene:
    instances = [Instance(k, (transforms or {}).get(k, np.eye(4)), name=mesh.name) for k, mesh in enumerate(meshes)]
    return Scene(meshes, instances, scene.pop("materials", [Material()]), **scene)


def mixed() -> Scene:
    """Quadrics between, before and behind triangles, two of them in one box, and one under a turn."""
    floor = quads([[(-3, -1, -3), (-3, -1, 3), (3, -1, 3), (3, -1, -3)]]).mesh("floor", 0)
    wall = quads([[(-3, -1, -3), (3, -1, -3), (3, 2, -3), (-3, 2, -3)]]).mesh("wall", 0)
    meshes = [
        Quadric.sphere((0, 0, 0), 1.0),
        floor,
        Quadric.cone((0, -1, 0), (0, 1, 0), 1.0),  # in the sphere's box
        Quadric.surface(QuadricShape((1, 1, 1), 0, -1), name="turned"),
        wall,
        Quadric.disk((2, 0, 2), (0, 1, 0), 0.9, 0.2),
        Quadric.cylinder((-2, -1, 1), (-2, 1, 1), 0.8),
    ]
    return scene_of(meshes, {3: turned(5)}, name="mixed")


@pytest.fixture(scope="module")
def given() -> tuple[Scene, np.ndarray]:
    scene = mixed()
    low, high = scene.bounds()
    return scene, through(low, high, np.random.default_rng(3), 6000, around=0.3)


def test_walks_of_structures_agree_to_the_bit(device: Any, given: tuple[Scene, np.ndarray]) -> None:
    scene, rays = given
    flat = scene.flatten()
    placed, first = flat.quadrics, None
    walks = {"bvh": bvh.TRAVERSALS, "grid": tuple(grid.TRAVERSALS), "none": ("loop",)}
    for accel, known in walks.items():
        for resolution in ("auto", 24) if accel == "grid" else ("auto",):
            built = structures.FLAT[accel](Primitives(flat.corners(), placed), StructureOptions(accel, grid=resolution))
            for traversal in known:
                found = walker(device, *built.make(traversal))(rays)
                first = found if first is None else first
                assert found.tobytes() == first.tobytes(), (accel, traversal)
    assert first is not None
    for number in {*placed.indices.tolist(), 1, 4}:
        assert (first["triangle"] == number).sum() > 20
    # Against float64: all that a quadric hides, and is hidden by nothing.
    expected = nearest(placed, rays["origin"], rays["direction"])
    quadric = np.isin(first["triangle"], placed.indices)
    assert (first["triangle"] == expected.number)[quadric & ~expected.doubtful].all()
    assert (expected.t >= first["t"])[~quadric & (first["triangle"] >= 0) & ~expected.doubtful].all()


@pytest.mark.parametrize("accel", ["none", "two-level-bvh", "two-level-grid"])
def test_machines_agree_to_the_bit(device: Any, given: tuple[Scene, np.ndarray], accel: str) -> None:
    """And structures: two levels round rays on their way to the objects, which is all that differs."""
    scene, rays = given
    flat = Renderer(scene, device=device, **SINGLE).trace(rays["origin"], rays["direction"])
    first = None
    for machine in (SINGLE, {"machine": "multipass", "fuse": "none"}):
        found = Renderer(scene, accel=accel, device=device, **machine).trace(rays["origin"], rays["direction"])
        first = found if first is None else first
        assert all(np.array_equal(a, b) for a, b in zip(found, first, strict=True)), machine
    same = first.triangle == flat.triangle
    if accel.startswith("two-level"):
        assert same.mean() > 0.999
        met = same & (flat.triangle >= 0)
        assert np.abs(first.distance[met] - flat.distance[met]).max() < 1e-4
    else:
        assert same.all() and np.array_equal(first.distance, flat.distance)
    assert np.array_equal(first.instance[same], flat.instance[same])


def test_against_tessellations_by_embree(device: Any, given: tuple[Scene, np.ndarray]) -> None:
    """192 segments around: facets are off by 1.3e-4 of the radius, and silhouettes by as much."""
    scene, rays = given
    flat = scene.tessellated(192).flatten()
    normals = np.cross(*(flat.corners()[:, k] - flat.corners()[:, 0] for k in (1, 2)))
    agree = (normals[:, None] * flat.normals[flat.triangles]).sum(-1)
    assert (agree > -1e-9).all()  # facets and their normals look the same way
    answer = embree_scene(flat.corners()).run(rays["origin"], rays["direction"], output=1)
    hit = np.asarray(answer["primID"])
    instance = np.where(hit >= 0, np.searchsorted(flat.instances, hit, side="right") - 1, -1)
    found = Renderer(scene, device=device, **SINGLE).trace(rays["origin"], rays["direction"])
    same = (found.instance == instance) | (answer["tfar"] == 0)  # Embree hits the floor that a ray begins in
    assert same.mean() > 0.999
    close = same & (hit >= 0) & (answer["tfar"] > 0)
    assert close.sum() > 1000
    # Over the slant of a ray.
    assert np.percentile(np.abs(found.distance[close] - answer["tfar"][close]), 98) < 2e-3


def test_moving_one(device: Any) -> None:
    """Under two levels and flat; a scale that makes it flat is refused, and then nothing has moved."""
    scene = scene_of([Quadric.sphere((0, 0, 0), 1.0), Quadric.sphere((9, 0, 0), 1.0)])
    away = np.eye(4)
    away[:3, 3] = 0, 0, 3
    for accel in ("two-level-bvh", "two-level-grid", "grid"):
        renderer = Renderer(scene, accel=accel, device=device, **SINGLE)
        renderer.move({0: away})
        np.testing.assert_allclose(renderer.trace([[0, 0, -5]], [[0, 0, 1]]).distance, [7], rtol=1e-6)
        with pytest.raises(ViewerError, match=r"sphere.*flat"):
            renderer.move({0: np.diag([1.0, 0.0, 1.0, 1.0])})
        np.testing.assert_allclose(renderer.trace([[0, 0, -5]], [[0, 0, 1]]).distance, [7], rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_records_of_many_are_those_of_each(scale: float) -> None:
    """Where they are alike but for their places, as points are, and where one is larger."""
    transforms = np.tile(np.eye(4), (5, 1, 1))
    transforms[:, :3, 3] = np.arange(15).reshape(5, 3)
    transforms[3, :3, :3] *= scale
    shape = Quadric.sphere().shape
    together = primitives.record(PlacedQuadrics.of(shape, transforms))
    each = np.concatenate([primitives.record(PlacedQuadrics.of(shape, one[None])) for one in transforms])
    assert together["number"].tolist() == [0, 1, 2, 3, 4] and together["inverse_y"][4].tolist() == [0, 1, 0, 13]
    for name in set(together.dtype.names or ()) - {"number"}:
        np.testing.assert_array_equal(together[name], each[name], err_msg=name)
