"""Instances, triangles, vertices and boxes at a moment of an exposure: linear between keys, against NumPy."""

from __future__ import annotations

from typing import Any

import glsl_call
import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.accel.motion import DEFORMING
from raystream.accel.two_level.structure import INSTANCE_KEY, INSTANCE_MOVING, MOVING
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

COUNT, SEGMENTS, ITEMS = 200, 3, 5
TRIANGLE = Record("Triangle", *(Field(name, "vec3") for name in "abc"), Field("keys", "int"))
TRIANGLE_KEY = Record("TriangleKey", *(Field(name, "vec3") for name in "abc"))
VERTEX = Record("Vertex", Field("position", "vec3"), Field("normal", "vec3"), Field("keys", "int"))
VERTEX_KEY = Record("VertexKey", Field("position", "vec3"), Field("normal", "vec3"))


def moments() -> NDArray:
    """Of the whole exposure, first, last and those of keys among them."""
    moment = np.random.default_rng(1).integers(0, 65536, COUNT)
    moment[:5] = (0, 65535, 65536 // SEGMENTS, 65536 // SEGMENTS + 1, 2 * 65536 // SEGMENTS)
    return moment


def between(moment: NDArray) -> tuple[NDArray, NDArray]:
    """The keys before moments, and the shares of the way to the next."""
    at = moment * (SEGMENTS / 65536)
    key = np.minimum(np.floor(at), SEGMENTS - 1).astype(int)
    return key, at - key


def keyed(record: Record) -> NDArray:
    """Keys of all items, one item after the other."""
    random, keys = np.random.default_rng(2), np.zeros(ITEMS * (SEGMENTS + 1), record.dtype)
    for name in record.dtype.names or ():
        keys[name] = random.uniform(-2, 2, keys[name].shape)
    return keys


def moved(
    device: Any, name: str, record: Record, keys: NDArray, key_record: Record, arguments: str = ""
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """The items before and after, those that have keys, and the moments."""
    kind = name.partition("_")[0]
    module = Module(
        "keys",
        (),
        f"lib/moving_{kind}.glsl",
        (Table(f"{kind}_keys", key_record, keys),),
        {f"{kind}_segments": ("int", SEGMENTS)},
        uses=(record, RAY),
        features=frozenset({DEFORMING, MOVING}),
    )
    told = f"void told(int moment, inout {record.name} item)"
    call = f"{name}({arguments}, item)" if arguments else f"{name}(item)"
    text = f"{told} {{ Ray ray; ray.any_hit = 2 * moment; moment_here = moment; item = {call}; }}"
    function = glsl_call.Function(device, told, modules=[module], text=text)
    items = np.zeros(COUNT, record.dtype)
    for field in set(record.dtype.names or ()) - {"keys"}:
        items[field] = 7
    items["keys"] = np.where(np.arange(COUNT) % 4 == 3, -1, np.arange(COUNT) % ITEMS * (SEGMENTS + 1))
    moment = moments()
    return items, function(moment, items)[0], items["keys"] >= 0, moment


def linear(keys: NDArray, items: NDArray, moment: NDArray, field: str) -> NDArray:
    key, share = between(moment)
    first, last = (keys[field][np.maximum(items["keys"], 0) + key + k].astype(float) for k in (0, 1))
    return first + share[:, None] * (last - first)


@pytest.mark.parametrize(
    ("name", "arguments", "record", "key_record"),
    [("triangle_at", "ray", TRIANGLE, TRIANGLE_KEY), ("vertex_now", "", VERTEX, VERTEX_KEY)],
)
def test_corners_and_normals(device: Any, name: str, arguments: str, record: Record, key_record: Record) -> None:
    keys = keyed(key_record)
    before, after, moves, moment = moved(device, name, record, keys, key_record, arguments)
    for field in key_record.dtype.names or ():
        expected = np.where(moves[:, None], linear(keys, before, moment, field), before[field])
        np.testing.assert_allclose(after[field], expected, atol=1e-5, err_msg=field)  # shares of 2^16 in float32
    np.testing.assert_array_equal(after["keys"], before["keys"])


@pytest.mark.parametrize("size", [1.0, 1e-12, 1e12])
def test_instances(device: Any, size: float) -> None:
    """The map is linear, the inverse its own, also of very small and very large ones; those that stand still stay."""
    keys = keyed(INSTANCE_KEY)
    for k, axis in enumerate("xyz"):
        keys[f"linear_{axis}"] = 0.25 * keys[f"linear_{axis}"] + 2 * np.eye(3)[k]
        keys[f"linear_{axis}"] *= size
    before, after, moves, moment = moved(device, "instance_at", INSTANCE_MOVING, keys, INSTANCE_KEY, "moment")
    rows = np.stack([linear(keys, before, moment, f"linear_{axis}") for axis in "xyz"], axis=1)
    place = linear(keys, before, moment, "place")
    inverse = np.linalg.inv(rows)
    for k, axis in enumerate("xyz"):
        # Shares of 2^16 in float32; the inverse of maps whose columns are not far from square to each other.
        np.testing.assert_allclose(after[f"linear_{axis}"][moves], rows[moves, k], rtol=1e-4, atol=1e-5 * size)
        np.testing.assert_allclose(after[f"inverse_{axis}"][moves, :3], inverse[moves, k], rtol=1e-4, atol=1e-4 / size)
        np.testing.assert_allclose(after[f"inverse_{axis}"][moves, 3], place[moves, k], atol=1e-5)
    assert after[~moves].tobytes() == before[~moves].tobytes()
    for field in ("object", "face", "material"):
        assert set(after[field].tolist()) == {7}


def test_boxes_of_nodes(device: Any) -> None:
    """Behind those that stand still the others, at one key after the other."""
    still, moving = 10, 6
    told = "int told(int moment, int number, ivec3 keys, out int after, out float way)"
    text = f"{told} {{ return box_before(moment, number, keys, after, way); }}"
    function = glsl_call.Function(device, told, ["lib/moving_box.glsl"], (), [RAY], text)
    moment, number = moments(), np.arange(COUNT) % (still + moving)
    before, after, way = function(moment, number, np.tile([still, moving, SEGMENTS], (COUNT, 1)))
    key, share = between(moment)
    moves = number >= still
    np.testing.assert_array_equal(before, np.where(moves, number + key * moving, number))
    np.testing.assert_array_equal(after, np.where(moves, number + (key + 1) * moving, number))
    np.testing.assert_allclose(way[moves], share[moves], atol=1e-6)
