"""Quadrics in acceleration structures: their boxes, their table, and the test of mixed candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.records import FAR, GEOMETRY, HIT, RAY
from raystream.scene.quadric import PlacedQuadrics, bounds_of_quadric
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record, rows_of

# Where the texture coordinate v is uniform: along the axis, along a ball's meridian, outwards.
KINDS = {"QUADRIC_TUBE": 0, "QUADRIC_BALL": 1, "QUADRIC_FLAT": 2}
QUADRIC = Record(
    "Quadric",
    *rows_of("inverse", "vec4", "the linear map to its own space; that space's origin"),
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
    alike = len(linear) > 1 and len(placed.shapes) == 1 and bool((linear == linear[:1]).all())
    rows = np.zeros(1 if alike else len(placed), QUADRIC.dtype)
    linear = linear[: len(rows)]
    inverse = np.linalg.inv(linear)
    for axis, name in enumerate("xyz"):
        rows[f"inverse_{name}"][:, :3] = inverse[:, axis]
        rows[f"linear_{name}"] = linear[:, axis]
    for shape, chosen in placed.by_shape():
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
            rows[name][chosen] = value
    if alike:  # as of points, a million of them
        rows = np.repeat(rows, len(placed))
    for axis, name in enumerate("xyz"):
        rows[f"inverse_{name}"][:, 3] = placed.transforms[:, axis, 3]
    rows["number"] = placed.numbers
    return rows


def boxes(placed: PlacedQuadrics) -> NDArray[np.float32]:
    """(Q, 2, 3): lowest and highest corners, conservative under rounding of rays and tables."""
    out = np.empty((len(placed), 2, 3), np.float32)
    for shape, chosen in placed.by_shape():
        transforms = placed.transforms[chosen]
        low, high = np.moveaxis(bounds_of_quadric(shape, transforms), -2, 0)
        half = (high - low) / 2.0
        size = np.abs(low + half) + half + np.abs(transforms[:, :3, 3]) + half.max(axis=1, keepdims=True)
        margin = ROUNDING * size
        out[chosen, 0] = np.nextafter((low - margin).astype(np.float32), np.float32(-np.inf))
        out[chosen, 1] = np.nextafter((high + margin).astype(np.float32), np.float32(np.inf))
    return out


def corners_of(bounds: NDArray[np.float32]) -> NDArray[np.float32]:
    """(Q, 3, 3): corners of stand-in triangles with the bounds of boxes (Q, 2, 3), for builders of trees."""
    third = bounds[:, 0].copy()
    third[:, 0] = bounds[:, 1, 0]
    return np.stack([bounds[:, 0], bounds[:, 1], third], axis=1)


def radius(placed: PlacedQuadrics) -> float:
    """Radius of a conservative ball around the centre of a single whole sphere's box; infinite for other quadrics."""
    if len(placed) != 1 or not placed.shapes[0].whole_sphere:
        return np.inf
    (box,) = boxes(placed).astype(np.float64)
    low, _ = placed.shapes[0].bounds()
    linear, place = placed.transforms[0, :3, :3], placed.transforms[0, :3, 3]
    off = np.abs((box[0] + box[1]) / 2.0 - place).max()
    size = float(-low[0] * np.linalg.norm(linear, 2))
    return size + 2.0 * off + ROUNDING * (size + float(np.abs(place).max()))


def module(rows: NDArray) -> Module:
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
    return [polygons, module(rows), either]
