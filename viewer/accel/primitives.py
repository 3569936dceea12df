"""The tests of rays with primitives: triangles, unshared (Purcell 2004, figure 5.1), and quadrics."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.records import FAR, GEOMETRY, HIT, RAY, TRIANGLE
from raystream.scene.quadric import PlacedQuadrics, bounds_of_quadric
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record, matrix_rows

# -- quadrics in acceleration structures: their boxes, their table, and the test of mixed candidates -------------------

# Where the texture coordinate v is uniform: along the axis, along a ball's meridian, outwards.
KINDS = {"QUADRIC_TUBE": 0, "QUADRIC_BALL": 1, "QUADRIC_FLAT": 2}
QUADRIC = Record(
    "Quadric",
    *matrix_rows("inverse", "vec4", "the linear map to its own space; that space's origin"),
    Field("squares", "vec3", about="coefficients of x^2, y^2, z^2, own space"),
    Field("linear", "float", about="coefficient of y"),
    Field("low", "vec3", "", "own", "lowest corner of the box that clips it"),
    Field("constant", "float"),
    Field("high", "vec3", "", "own", "highest corner"),
    Field("side", "float", about="1: front on the side of increasing function; -1: of decreasing"),
    Field("linear_x", "vec3", about="row of the linear map from its own space"),
    Field("kind", "int", about="QUADRIC_TUBE and so on", within=SMALL),
    Field("linear_y", "vec3"),
    Field("number", "int", about="of the primitive: within its instance, as in Hit", within=ROWS),
    Field("linear_z", "vec3"),
    Field("ring", "vec2", about="least and greatest x^2 + z^2"),
    Field("span", "vec2", about="start of v, and 1 / its length"),
)
ROUNDING = 2.0**-20  # of coordinates: more than errors of float32 rays and of the table's rounding


def record(placed: PlacedQuadrics) -> NDArray:
    """(Q,) of `QUADRIC`."""
    linear = placed.transforms[:, :3, :3]
    one_linear_map = len(linear) > 1 and len(placed.shapes) == 1 and bool((linear == linear[:1]).all())
    rows = np.zeros(1 if one_linear_map else len(placed), QUADRIC.dtype)
    linear = linear[: len(rows)]
    inverse = np.linalg.inv(linear)
    for axis, name in enumerate("xyz"):
        rows[f"inverse_{name}"][:, :3] = inverse[:, axis]
        rows[f"linear_{name}"] = linear[:, axis]
    for shape, selected in placed.by_shape():
        low, high = shape.bounds()
        flat = not any(shape.squares)
        first, last = (shape.ring[0], high[0]) if flat else (low[1], high[1])
        kind = "QUADRIC_FLAT" if flat else "QUADRIC_BALL" if shape.whole_sphere else "QUADRIC_TUBE"
        values = {
            "squares": shape.squares,
            "linear": shape.linear,
            "constant": shape.constant,
            "low": np.maximum(shape.low, -FAR),
            "high": np.minimum(shape.high, FAR),
            "ring": (min(shape.ring[0] ** 2, FAR), min(shape.ring[1] ** 2, FAR)),
            "side": -1.0 if shape.flipped else 1.0,
            "kind": KINDS[kind],
            "span": (first, 1.0 / (last - first) if last > first else 0.0),
        }
        for name, value in values.items():
            rows[name][selected] = value
    if one_linear_map:  # as of points, a million of them
        rows = np.repeat(rows, len(placed))
    for axis, name in enumerate("xyz"):
        rows[f"inverse_{name}"][:, 3] = placed.transforms[:, axis, 3]
    rows["number"] = placed.indices
    return rows


def boxes(placed: PlacedQuadrics) -> NDArray[np.float32]:
    """(Q, 2, 3): lowest and highest corners, conservative under rounding of rays and tables."""
    bounds = np.empty((len(placed), 2, 3), np.float32)
    for shape, selected in placed.by_shape():
        transforms = placed.transforms[selected]
        low, high = np.moveaxis(bounds_of_quadric(shape, transforms), -2, 0)
        half = (high - low) / 2.0
        size = np.abs(low + half) + half + np.abs(transforms[:, :3, 3]) + half.max(axis=1, keepdims=True)
        margin = ROUNDING * size
        bounds[selected, 0] = np.nextafter((low - margin).astype(np.float32), np.float32(-np.inf))
        bounds[selected, 1] = np.nextafter((high + margin).astype(np.float32), np.float32(np.inf))
    return bounds


def box_triangles(bounds: NDArray[np.float32]) -> NDArray[np.float32]:
    """(Q, 3, 3) corners of triangles whose bounds are the boxes (Q, 2, 3), for builders that take triangles."""
    third = bounds[:, 0].copy()
    third[:, 0] = bounds[:, 1, 0]
    return np.stack([bounds[:, 0], bounds[:, 1], third], axis=1)


def radius(placed: PlacedQuadrics) -> float:
    """Radius of a conservative ball around the centre of a single whole sphere's box; infinite for other quadrics."""
    if len(placed) != 1 or not placed.shapes[0].whole_sphere:
        return np.inf
    (box,) = boxes(placed).astype(np.float64)
    low, _ = placed.shapes[0].bounds()
    linear, translation = placed.transforms[0, :3, :3], placed.transforms[0, :3, 3]
    center_offset = np.abs((box[0] + box[1]) / 2.0 - translation).max()
    size = float(-low[0] * np.linalg.norm(linear, 2))
    return size + 2.0 * center_offset + ROUNDING * (size + float(np.abs(translation).max()))


def quadric_module(rows: NDArray) -> Module:
    """``quadric_test`` and ``quadric_at`` over rows (Q,) of `QUADRIC`."""
    return Module(
        "quadrics",
        provides=("quadric_test", "quadric_at"),
        source="accel/quadric.glsl",
        memories=(Table("quadrics", QUADRIC, rows),),
        constants=dict(KINDS),
        uses=(RAY, HIT, GEOMETRY),
    )


def with_quadrics(test: Module, rows: NDArray) -> list[Module]:
    """The modules of a triangle test over mixed candidates, with the table's rows of quadrics marked."""
    polygons = replace(
        test,
        provides=("triangle_setup", "polygon_test"),
        text="#define triangle_test polygon_test",
    )
    either = Module(
        "triangles and quadrics",
        provides=("triangle_test",),
        source="accel/primitive.glsl",
        needs=("polygon_test", "quadric_test"),
        text="#undef triangle_test",
        uses=(RAY, HIT),
    )
    return [polygons, quadric_module(rows), either]


# -- the ray/triangle tests --------------------------------------------------------------------------------------------

TESTS = {
    "watertight": Record(
        "TriangleSetup",
        Field("axis", "int", about="0, 1, 2: the direction's largest component", within=SMALL),
        Field("by", "vec3", about="shear of x and y, and the scale of z"),
    ),
    "moller-trumbore": Record("TriangleSetup"),
    "planes": Record("TriangleSetup"),
}
PLANES = Record(
    "TrianglePlanes",
    Field("plane", "vec4", about="unit normal; minus its product with a point of the triangle"),
    Field("side_b", "vec4", about="dot with (point, 1): weight of the second corner"),
    Field("side_c", "vec4", about="dot with (point, 1): weight of the third corner"),
    Field("number", "int", about="of the triangle, as tables may be reordered", within=ROWS),
)
# Fits into a spare component of either record.
ONE_SIDED = Field("one_sided", "int", about="1: rays of the camera's view pass through its back face", within=SMALL)
PUBLISHED_SLACK = 1.004  # the largest sum of two weights that Adinetz and Berezin accept
_CHUNK = 1 << 16  # triangles that are put in order, or whose planes are computed, at once


def triangle_module(
    test: str,
    corners: NDArray[np.float32],
    extent: float = 1.0,
    order: NDArray[np.int32] | None = None,
    slack: float = 1.0,
    indices: NDArray[np.int32] | None = None,
    marks: NDArray[np.int32] | None = None,
    culled: NDArray[np.bool_] | None = None,
) -> Module:
    """The test's module.

    test : a key of `TESTS`. corners : (T, 3, 3) float32. extent : about the scene's, scene units.
    order : triangle indices in the table's order; by default their own.
    slack : of the test "planes": the largest sum of the second and third corner's weights for a hit.
    indices : of the triangles, as hits have them, if other than those in ``corners``.
    marks : (T,) of ``corners``: the index n of the quadric in a triangle's place, -1 for none; in the table -n - 1.
    culled : (T,) of ``corners``: whether rays of the camera's view pass through the back face.
    """
    if indices is None:
        indices = np.arange(len(corners), dtype=np.int32) if order is None else order
    uniforms: dict[str, tuple[str, Any]] = {}
    if test == "planes":
        center = _center(corners)
        record, data = PLANES, planes(corners if order is None else corners[order], center)
        uniforms = {"planes_center": ("vec3", tuple(map(float, center))), "planes_slack": ("float", slack)}
    else:
        record, data = TRIANGLE, np.zeros(len(indices), TRIANGLE.dtype)
        rows = data.view(np.float32).reshape(len(data), -1 if len(data) else 1)  # its first nine are the corners
        for first in range(0, len(data), _CHUNK):
            rows_of_batch = slice(first, first + _CHUNK)
            batch = corners[rows_of_batch] if order is None else corners.take(order[rows_of_batch], axis=0)
            rows[rows_of_batch, :9] = batch.reshape(-1, 9)
    if test == "watertight":
        _, exponent = math.frexp(extent)
        uniforms = {"triangle_scale": ("float", 2.0 ** max(-100, min(100, -exponent)))}
    data["number"] = indices
    if culled is not None:
        record = Record(record.name, *record.fields, ONE_SIDED)
        without_sides, data = data, np.zeros(len(data), record.dtype)
        for name in without_sides.dtype.names or ():
            data[name] = without_sides[name]
        data["one_sided"] = culled if order is None else culled[order]
    if marks is not None:
        quadric_indices = marks if order is None else marks[order]
        data["number"] = np.where(quadric_indices >= 0, -1 - quadric_indices, indices)
    return Module(
        test,
        provides=("triangle_setup", "triangle_test"),
        source=f"accel/triangle_{test.replace('-', '_')}.glsl",
        memories=(Table("triangles", record, data, hot=True),),
        uniforms=uniforms,
        module_state=TESTS[test],
        uses=(RAY, HIT),
        features=frozenset() if culled is None else frozenset({"CULLED"}),
    )


def planes(corners: NDArray[np.float32], center: NDArray[np.float32]) -> NDArray:
    """(T,) `PLANES` of triangles (T, 3, 3), in coordinates relative to ``center`` (3,); ``number`` is left 0.

    With n = ab x ac, the weights of b and c at a point p are (p - a).(ac x n) / n.n and (p - a).(n x ab) / n.n: vectors
    in the triangle's plane, perpendicular to the sides, of length 1 over the height. Triangles without area, or with 1
    / height beyond float32, become zeros, which no ray hits.
    Source: A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006).
    """
    rows_ = np.zeros(len(corners), PLANES.dtype)
    for first in range(0, len(corners), _CHUNK):
        batch = corners[first : first + _CHUNK].astype(np.float64) - center
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            a, ab, ac = batch[:, 0], batch[:, 1] - batch[:, 0], batch[:, 2] - batch[:, 0]
            normal = np.cross(ab, ac)
            square = (normal**2).sum(axis=1, keepdims=True)
            vectors = (normal / np.sqrt(square), np.cross(ac, normal) / square, np.cross(normal, ab) / square)
            rows = [np.concatenate([v, -(v * a).sum(axis=1, keepdims=True)], 1).astype(np.float32) for v in vectors]
        sound = np.isfinite(rows).all(axis=(0, 2))
        for field, row in zip(("plane", "side_b", "side_c"), rows, strict=True):
            rows_[field][first : first + _CHUNK][sound] = row[sound]
    return rows_


def _center(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """The centre (3,) of the finite corners' box."""
    points = corners.reshape(-1, 3)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        points = points[finite]
    if not len(points):
        return np.zeros(3, np.float32)
    return (0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)).astype(np.float32)
