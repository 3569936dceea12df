"""The ray/triangle tests: modules that provide ``triangle_test`` over unshared triangles (Purcell 2004, figure 5.1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.records import HIT, RAY, TRIANGLE
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

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


def module(
    test: str,
    corners: NDArray[np.float32],
    extent: float = 1.0,
    order: NDArray[np.int32] | None = None,
    slack: float = 1.0,
    numbers: NDArray[np.int32] | None = None,
    marks: NDArray[np.int32] | None = None,
    culled: NDArray[np.bool_] | None = None,
) -> Module:
    """The test's module.

    test : a key of `TESTS`. corners : (T, 3, 3) float32. extent : about the scene's, scene units.
    order : triangle numbers in the table's order; by default their own.
    slack : of the test "planes": the largest sum of the second and third corner's weights for a hit.
    numbers : triangle numbers of hits, if other than the indices in ``corners``.
    marks : (T,) of ``corners``: the number n of the quadric in a triangle's place, -1 for none; in the table -n - 1.
    culled : (T,) of ``corners``: whether rays of the camera's view pass through the back face.
    """
    if numbers is None:
        numbers = np.arange(len(corners), dtype=np.int32) if order is None else order
    uniforms: dict[str, tuple[str, Any]] = {}
    if test == "planes":
        center = _middle(corners)
        record, data = PLANES, planes(corners if order is None else corners[order], center)
        uniforms = {"planes_center": ("vec3", tuple(map(float, center))), "planes_slack": ("float", slack)}
    else:
        record, data = TRIANGLE, np.zeros(len(numbers), TRIANGLE.dtype)
        rows = data.view(np.float32).reshape(len(data), -1 if len(data) else 1)  # its first nine are the corners
        for first in range(0, len(data), _CHUNK):
            part = slice(first, first + _CHUNK)
            batch = corners[part] if order is None else corners.take(order[part], axis=0)
            rows[part, :9] = batch.reshape(-1, 9)
    if test == "watertight":
        _, exponent = math.frexp(extent)
        uniforms = {"triangle_scale": ("float", 2.0 ** max(-100, min(100, -exponent)))}
    data["number"] = numbers
    if culled is not None:
        record = Record(record.name, *record.fields, ONE_SIDED)
        sides, data = data, np.zeros(len(data), record.dtype)
        for name in sides.dtype.names or ():
            data[name] = sides[name]
        data["one_sided"] = culled if order is None else culled[order]
    if marks is not None:
        marked = marks if order is None else marks[order]
        data["number"] = np.where(marked >= 0, -1 - marked, numbers)
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
    out = np.zeros(len(corners), PLANES.dtype)
    for first in range(0, len(corners), _CHUNK):
        part = corners[first : first + _CHUNK].astype(np.float64) - center
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            a, ab, ac = part[:, 0], part[:, 1] - part[:, 0], part[:, 2] - part[:, 0]
            normal = np.cross(ab, ac)
            square = (normal**2).sum(axis=1, keepdims=True)
            vectors = (normal / np.sqrt(square), np.cross(ac, normal) / square, np.cross(normal, ab) / square)
            rows = [np.concatenate([v, -(v * a).sum(axis=1, keepdims=True)], 1).astype(np.float32) for v in vectors]
        sound = np.isfinite(rows).all(axis=(0, 2))
        for field, row in zip(("plane", "side_b", "side_c"), rows, strict=True):
            out[field][first : first + _CHUNK][sound] = row[sound]
    return out


def _middle(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """The centre (3,) of the finite corners' box."""
    flat = corners.reshape(-1, 3)
    finite = np.isfinite(flat).all(axis=1)
    if not finite.all():
        flat = flat[finite]
    if not len(flat):
        return np.zeros(3, np.float32)
    return (0.5 * flat.min(axis=0) + 0.5 * flat.max(axis=0)).astype(np.float32)
