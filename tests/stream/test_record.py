"""Records: packing on the host and in GLSL, to the bit, in the fewest texels; integers, and floats of 24 bits."""

from __future__ import annotations

import glsl_call
import moderngl
import numpy as np
import pytest
from glsl_call import Function
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from raystream.base.errors import ViewerError, WiringError
from raystream.stream.compile.link import SMALL_TABLES, LinkedProgram
from raystream.stream.compile.memories import layout
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.limits import rounded
from raystream.stream.declare.record import LARGEST_INTEGER, ROWS, SMALL, WIDTHS, Field, Record
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.selftest import machines

# A NaN's payload may be lost on the way through a register, so one NaN stands for all.
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-38, 3.4028235e38, 1.1754944e-38], np.float32)
ENDS = np.array([0, 1, -1, LARGEST_INTEGER, -LARGEST_INTEGER, LARGEST_INTEGER - 1], np.int32)
types = st.sampled_from(list(WIDTHS))
records = st.lists(types, min_size=1, max_size=9).map(
    lambda kinds: Record("Made", *(Field(f"f{k}", kind) for k, kind in enumerate(kinds)))
)


def bits(array: NDArray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@st.composite
def filled(draw: st.DrawFn) -> tuple[Record, NDArray]:
    """A record and an array of it, with the values that are hard to carry."""
    record = draw(records)
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    array = np.zeros(shape, record.dtype)
    for f in record.fields:
        values = (
            st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
            if f.integer
            else st.floats(width=32, allow_nan=False) | st.just(np.nan)
        )
        part = array[f.name]
        part[...] = draw(arrays.arrays(part.dtype, part.shape, elements=values))
    return record, array


@given(filled())
@settings(max_examples=60, deadline=None)
def test_packing_is_undone_by_unpacking(made):
    record, array = made
    packed = record.pack(array)
    assert packed.shape == (*array.shape, record.texels, 4) and packed.dtype == np.float32
    assert bits(record.unpack(packed)) == bits(array)


@given(records)
@settings(max_examples=60, deadline=None)
def test_records_take_the_fewest_texels_and_no_scalar_twice(record):
    assert record.texels == -(-record.scalars // 4)
    places = [(r.texel, r.component + k) for r in record.slices for k in range(r.size)]
    assert len(set(places)) == len(places) == record.scalars
    assert all(texel < record.texels and component < 4 for texel, component in places)
    for f in record.fields:  # every scalar of a field once, in order
        runs = [r for r in record.slices if r.field == f]
        assert [r.first + k for r in runs for k in range(r.size)] == list(range(f.width))


# -- on the device ---------------------------------------------------------------------------------------------------


def through_glsl(device, record: Record, array: NDArray) -> NDArray:
    """The array, written to a stream, unpacked and packed by a fragment program, and read back."""
    source, vertex = Source.begin(), Source.begin()
    source.add_record(record, pack=True)
    for k in range(record.texels):
        source.add(f"uniform sampler2D in_{k};\nlayout(location = {k}) out vec4 out_{k};", "streams")
    fetched = ", ".join(f"texelFetch(in_{k}, ivec2(gl_FragCoord.xy), 0)" for k in range(record.texels))
    stored = ", ".join(f"out_{k}" for k in range(record.texels))
    source.add(f"void main() {{ pack_{record.name}(unpack_{record.name}({fetched}), {stored}); }}", "main")
    vertex.add("void main() { gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 4 * (gl_VertexID >> 1) - 1, 0, 1); }", "v")
    program = device.program(vertex, source)
    size = array.shape[::-1]
    before, after = Stream(device, record, size), Stream(device, record, size)
    before.write(array)
    assert bits(before.read()) == bits(array)  # the texture alone
    for k, texture in enumerate(before.textures):
        texture.use(k)
        if f"in_{k}" in program:
            program[f"in_{k}"].value = k
    device.context.framebuffer(after.textures).use()
    device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND)
    device.context.vertex_array(program, []).render(moderngl.TRIANGLES, vertices=3)
    return after.read()


@pytest.mark.parametrize("kind", list(WIDTHS))
def test_every_type_comes_through_glsl_to_the_bit(device, kind):
    record = Record("Made", Field("before", "vec3"), Field("value", kind), Field("after", "vec2"))
    array = np.zeros((7, 5), record.dtype)
    random = np.random.default_rng(4)
    for f in record.fields:
        part = array[f.name].reshape(-1)  # a copy, in rows of one field
        hard = ENDS if f.integer else SPECIAL
        part[:] = (
            random.integers(-LARGEST_INTEGER, LARGEST_INTEGER, part.size)
            if f.integer
            else random.normal(size=part.size)
        )
        part[: len(hard)] = hard
        array[f.name] = part.reshape(array[f.name].shape)
    assert bits(through_glsl(device, record, array)) == bits(array)


def test_a_field_that_begins_a_texture_is_read_where_it_belongs(device):
    record = Record("Made", Field("colour", "vec3"), Field("pair", "vec2"), Field("more", "vec4"))
    stream = Stream(device, record, (5, 7))
    array = np.zeros((7, 5), record.dtype)
    for number, name in enumerate(("colour", "pair", "more")):
        array[name] = 100 * number + np.arange(array[name].size).reshape(array[name].shape)
    stream.write(array)
    assert [run.component for run in record.slices] == [0, 0, 0]
    colour, pair = np.full((9, 5, 3), -1, np.float32), np.full((4, 5, 2), -1, np.float32)
    found = stream.fields(("colour", "pair"), {"colour": colour[1:8], "pair": pair})
    assert np.shares_memory(found["colour"], colour) and np.shares_memory(found["pair"], pair)
    np.testing.assert_array_equal(colour[1:8], array["colour"])
    assert (colour[[0, 8]] == -1).all()
    np.testing.assert_array_equal(pair, array["pair"][:4])  # as many rows as there are
    np.testing.assert_array_equal(stream.fields()["more"], array["more"])


@pytest.mark.parametrize("value", [LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1, 2**31 - 1, -(2**31)])
def test_integers_beyond_a_floats_are_refused(value):
    record = Record("Link", Field("weight", "float"), Field("to", "ivec2"))
    array = np.zeros((2, 3), record.dtype)
    array["to"][1, 2, 1] = value
    with pytest.raises(ViewerError, match=rf"Link\.to.*{value}.*2\^24"):
        record.pack(array)


def test_fields_in_another_order_are_refused():
    record = Record("Pair", Field("a", "float"), Field("b", "float"))
    with pytest.raises(ViewerError, match="Pair"):
        record.pack(np.zeros(3, [("b", "f4"), ("a", "f4")]))
    with pytest.raises(ViewerError, match="Pair"):
        record.pack(np.zeros((3, 2), np.float32))


def test_faults_of_a_declaration():
    with pytest.raises(WiringError, match="unknown type 'double'"):
        Field("x", "double")
    with pytest.raises(WiringError, match="two fields of one name"):
        Record("Twice", Field("x", "float"), Field("x", "vec2"))
    for name in ("no-hyphen", "1st", "gl_Thing", "two__lines", ""):
        with pytest.raises(WiringError, match="no name in GLSL"):
            Record("Odd", Field(name, "float"))


ROW = Record("Row", Field("next", "int", within=ROWS))


def edges(most: int) -> np.ndarray:
    """(N,) both ends of a range and the integers beside them, 0, powers of two and those beside, and 1,000 others."""
    powers = 2 ** np.arange(int(most).bit_length())
    near = np.concatenate([[0, most, most - 1, most - 2], powers, powers - 1, powers[1:] + 1])
    both = np.concatenate([near, -near, np.random.default_rng(5).integers(-most, most + 1, 1000)])
    return both[np.abs(both) <= most]


@pytest.mark.parametrize(
    ("function", "features", "most"),
    [
        ("int_of", (), SMALL),
        ("int_of", ("GPU_FORM",), LARGEST_INTEGER),
        ("row_of", (SMALL_TABLES,), SMALL),
        ("row_of", (), LARGEST_INTEGER),
    ],
)
def test_every_integer_of_the_range_is_exact(device, function, features, most):
    module = Module("features", (), "lib/int_of.glsl", features=frozenset(features))
    text = f"""float twice_of(float x) {{
    ivec2 two = {function}(vec2(x, -x));
    ivec3 three = {function}(vec3(x, -x, x));
    ivec4 four = {function}(vec4(-x, x, -x, x));
    bool same = two.y == -two.x && three == two.xyx && four == two.yxyx;
    return same ? float({function}(x)) : 0.5;
}}"""
    convert = glsl_call.Function(device, "float twice_of(float x)", [], [module], text=text)
    values = edges(most)
    (result,) = convert(values.astype(np.float32))
    np.testing.assert_array_equal(result, values)


def test_integers_beyond_the_range_of_their_field_are_refused():
    record = Record("Numbers", Field("number", "int", within=100))
    values = np.zeros(3, record.dtype)
    values["number"] = 100, -100, 0
    np.testing.assert_array_equal(record.unpack(record.pack(values))["number"], values["number"])
    values["number"][1] = -101
    with pytest.raises(ViewerError, match="integer -101 is beyond 100"):
        record.pack(values)


class Rows:
    """Rows of a table of which nothing but their number is looked at."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count


@pytest.mark.parametrize(("count", "small"), [(SMALL, True), (SMALL + 1, False)])
def test_row_numbers_of_large_tables_are_converted_whole(count, small):
    module = Module("weights", ("weight_of",), "", (Table("weights", ROW, Rows(count)),))
    assert (SMALL_TABLES in LinkedProgram(machines.PROGRAM, [module]).features) == small
    assert layout(16384, module.memories[0], 1 << 27).large != small


def test_a_table_that_outgrows_the_range_needs_another_program(device):
    few, many = (Table("rows", ROW, np.zeros(count, ROW.dtype)) for count in (SMALL, SMALL + 1))
    with device.current():
        resources = Resources(device)
        assert not resources.exchangeable(few, many) and resources.exchangeable(
            few, Table("rows", ROW, few.data.copy())
        )


def test_a_large_table_is_read_right_to_its_last_row(device):
    """A chain of rows, from the last one on, whose numbers are odd beyond 2^22."""
    count = SMALL + 1002
    data = np.zeros(count, ROW.dtype)
    data["next"] = count - 1 - np.arange(count)
    module = Module("rows", ("next_row",), "lib/int_of.glsl", (Table("rows", ROW, data),))
    follow = glsl_call.Function(
        device, "int next_row(int row)", [], [module], text="int next_row(int row) { return fetch_rows(row).next; }"
    )
    rows = np.arange(1000)
    (result,) = follow(rows)
    np.testing.assert_array_equal(result, count - 1 - rows)


BITS = 7  # of the mantissa, that are dropped


def test_what_24_bits_hold_stays_and_the_rest_is_the_nearest() -> None:
    """17 bits, the leading one with them: whole numbers to 2^17; of two as near the even one."""
    whole = np.arange(-(1 << 17), (1 << 17) + 1, dtype=np.float32)
    assert np.array_equal(rounded(whole), whole)
    assert rounded(np.float32([131073, 131075, 131074])).tolist() == [131072, 131076, 131074]
    values = np.random.default_rng(3).normal(0, 100, 4000).astype(np.float32)
    near = rounded(values)
    step = np.spacing(np.abs(near)) * (1 << BITS)
    assert (np.abs(near.astype(np.float64) - values) <= step / 2).all()
    assert np.array_equal(rounded(near), near) and (near != values).mean() > 0.9


def test_what_is_too_small_or_too_large() -> None:
    small, large = np.float32(2.0**-62), np.float32((2 - 2.0**-16) * 2.0**63)
    given = np.float32([small, small * 0.9, -small * 0.5, 0.0, -0.0, large, 3.4e38, -np.inf, np.nan])
    made = rounded(given)
    assert made[:8].tolist() == [small, 0, 0, 0, 0, large, large, -large] and np.isnan(made[8])
    assert np.signbit(made[[2, 4, 7]]).all()


@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_the_device_rounds_as_numpy_does(device, spread: float) -> None:
    rng = np.random.default_rng(7)
    sizes = np.exp2(rng.uniform(-4 * spread, 4 * spread, (500, 4)))
    values = (rng.choice([-1, 1], (500, 4)) * sizes).astype(np.float32)
    values[0] = [0.0, 3.4e38, 131073.0, 2.0**-62]
    (made,) = Function(device, "vec4 stored(vec4 values)", includes=["lib/stored.glsl"])(values)
    assert np.array_equal(np.asarray(made, np.float32).view(np.uint32), rounded(values).view(np.uint32))
