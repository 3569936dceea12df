"""Tables and volumes: random access at 1-D and 3-D addresses over textures, and rows that change in place."""

from __future__ import annotations

import glsl_call
import numpy as np
import pytest

from raystream.base.errors import DeviceError, WiringError
from raystream.stream.compile.memories import Addressing
from raystream.stream.declare.kernel import Module, Table, Volume
from raystream.stream.declare.record import LARGEST_INTEGER, Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import IN_BUFFER, Memory, layout

RECORDS = {
    1: Record("One", Field("a", "int")),
    2: Record("Two", Field("a", "float"), Field("b", "int")),
    3: Record("Three", Field("a", "vec2"), Field("b", "int")),
    9: Record("Nine", Field("a", "ivec4"), Field("b", "vec3"), Field("c", "vec2")),
}
SIZES = (1, 63, 64, 65, 4095, 4097, 100_000)


class Fetcher(glsl_call.Function):
    """``fetch_t`` on arrays of addresses."""

    def __init__(self, device, table: Table) -> None:
        module = Module("table", ("fetch_t",), "empty.glsl", memories=(table,))
        super().__init__(device, f"{table.record.name} fetch_t(int i)", modules=[module])


@pytest.fixture(scope="module", autouse=True)
def _empty_source(shader_folder):
    (shader_folder / "empty.glsl").write_text("")


@pytest.fixture(params=["buffers", "textures"])
def either(request, device, textures) -> Device:
    """A device whose memories lie in buffer textures, and one whose do not."""
    return device if request.param == "buffers" else textures


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scalars", list(RECORDS))
def test_every_record_is_found(either, scalars, size):
    record = RECORDS[scalars]
    random = np.random.default_rng(size + scalars)
    data = np.zeros(size, record.dtype)
    for f in record.fields:
        shape = data[f.name].shape
        numbers = random.integers(-LARGEST_INTEGER, LARGEST_INTEGER + 1, shape)
        data[f.name] = numbers if f.integer else random.normal(size=shape)
    addresses = np.arange(size) if size <= 5000 else random.integers(0, size, 5000)
    for at in (0, size - 1):
        addresses[at % len(addresses)] = at
    (found,) = Fetcher(either, Table("t", record, data))(addresses)
    np.testing.assert_array_equal(found, data[addresses])


@pytest.mark.parametrize("scalars", list(RECORDS))
@pytest.mark.parametrize("most", [64, 256, 1024, 16384, 32768])
def test_layouts_fit_the_texture_and_straddle_no_row(scalars, most):
    record = RECORDS[scalars]
    for size in (0, *SIZES):
        table = Table("t", record, np.zeros(size, record.dtype))
        try:
            made = layout(most, table)
        except DeviceError:
            assert size * record.texels > most * most / 4  # a power of two may leave half a row and more unused
            continue
        assert made.per_row & (made.per_row - 1) == 0
        assert made.per_row * record.texels <= most
        assert -(-size // made.per_row) <= most
        assert made.channels >= min(4, scalars)


def test_a_table_too_large_for_the_driver_is_refused():
    record = RECORDS[9]
    with pytest.raises(DeviceError, match=r"memory t: 4,097 records of 3 texels exceed a texture of 64 x 64"):
        layout(64, Table("t", record, np.zeros(4097, record.dtype)))


def test_addresses_beyond_a_float_are_refused():
    record = RECORDS[1]
    Table("t", record, np.zeros(LARGEST_INTEGER, record.dtype))
    with pytest.raises(WiringError, match=r"memory t: 16,777,217 records.*2\^24"):
        Table("t", record, np.zeros(LARGEST_INTEGER + 1, record.dtype))


def test_a_table_of_nothing_is_refused():
    with pytest.raises(WiringError, match=r"memory t.*no fields"):
        Table("t", Record("Nothing"), np.zeros(3, []))


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 5), (31, 17, 65)])
def test_every_voxel_is_found(either, shape):
    data = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    module = Module("volume", ("fetch_v",), "empty.glsl", memories=(Volume("v", data),))
    z, y, x = (part.ravel() for part in np.indices(shape))
    (found,) = glsl_call.Function(either, "float fetch_v(ivec3 at)", modules=[module])(np.stack([x, y, z], axis=1))
    np.testing.assert_array_equal(found, data.ravel())


def test_a_volume_too_large_for_the_driver_is_refused(device):
    edge = device.max_volume + 1
    volume = Volume("v", np.zeros((1, 1, edge), np.float32))
    with pytest.raises(DeviceError, match=rf"memory v: {edge} x 1 x 1 voxels"):
        Memory(device, volume, layout(device.max_texture, volume))


WIDE = Record("Wide", Field("a", "vec4"), Field("b", "vec2"))  # two texels
COUNT = 37


def texels(memory: Memory) -> np.ndarray:
    """(rows, 8) float32 of what lies on the device."""
    held = memory.texture.buffer if memory.layout.per_row == IN_BUFFER else memory.texture
    return np.frombuffer(held.read(), np.float32).reshape(-1, 8)


@pytest.mark.parametrize("per_row", [IN_BUFFER, 1, 4, 16, 64])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 5), (0, COUNT), (15, 17), (COUNT - 1, COUNT), (4, 8)])
def test_the_rows_of_a_change_are_uploaded(device, per_row: int, first: int, last: int) -> None:
    if per_row == IN_BUFFER and not device.max_buffer:
        pytest.skip("this device has no buffer textures")
    table = Table("rows", WIDE, np.zeros(COUNT, WIDE.dtype), hot=True)
    table.data["a"] = np.arange(COUNT)[:, None] + [0, 0.25, 0.5, 0.75]
    memory = Memory(device, table, Addressing(per_row, 4))
    before = texels(memory)[:COUNT].copy()
    table.data["b"][first:last] = 7.0
    memory.update(first, last)
    after = texels(memory)
    changed = (after[:COUNT] != before).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(changed), np.arange(first, last))
    np.testing.assert_array_equal(after[first:last, 4:6], 7.0)
    np.testing.assert_array_equal(after[:COUNT, :4], table.data["a"])
    assert not after[COUNT:].any()  # the rest of the last row
    memory.release()
