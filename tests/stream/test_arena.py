"""The arena of cold tables: places that last, gaps that are used again, growth that keeps what is there."""

from __future__ import annotations

from itertools import pairwise

import glsl_call
import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.memories import IN_BUFFER
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl import resources as arena_module
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import BufferTexture
from raystream.stream.gl.resources import Arena, Resources

ONE = Record("One", Field("a", "vec4"))
THREE = Record("Three", Field("a", "vec4"), Field("b", "vec4"), Field("c", "vec3"))
EDGE = 64  # texels of a row of `Narrow`


class Narrow(Device):
    """A device whose textures are small, so that every table crosses rows."""

    @property
    def max_texture(self) -> int:
        """See `Device`."""
        return EDGE


@pytest.fixture(params=["buffer", "2-D", "narrow"])
def arena(request, device) -> Arena:
    """An empty one, in each layout."""
    if request.param == "buffer" and device.max_buffer < 1 << 24:
        pytest.skip("this driver's buffer textures are small")
    kind = Narrow if request.param == "narrow" else Device
    made = Arena(kind(device.context, allow_buffers=request.param == "buffer"))
    assert (made.row == IN_BUFFER) == (request.param == "buffer")
    assert made.row == EDGE or request.param != "narrow"
    yield made
    made.release()


def table(count: int, record: Record = THREE, seed: int = 0) -> Table:
    """Records of random numbers."""
    data = np.zeros(count, record.dtype)
    random = np.random.default_rng((seed, count))
    for field in record.fields:
        data[field.name] = random.random(data[field.name].shape, np.float32)
    return Table(f"t{seed}_{count}", record, data)


def texels(arena: Arena) -> NDArray[np.float32]:
    """(N, 4): all that the texture holds."""
    if isinstance(arena.texture, BufferTexture):
        return np.frombuffer(arena.texture.buffer.read(), np.float32).reshape(-1, 4)
    assert arena.texture is not None
    return np.frombuffer(arena.texture.read(), np.float32).reshape(-1, 4)


def held(arena: Arena, table: Table) -> NDArray:
    """What the device holds at a table's place."""
    first, wide = arena.base(table), table.record.texels
    part = texels(arena)[first : first + wide * len(table.data)]
    return table.record.unpack(part.reshape(-1, wide, 4))


def holds(arena: Arena, *tables: Table) -> None:
    """Just these lie there, to the bit, and no two in one place."""
    assert {id(each) for each in arena.tables()} == {id(each) for each in tables}
    places = sorted((arena.base(each), arena.base(each) + each.record.texels * len(each.data)) for each in tables)
    assert all(one[1] <= other[0] for one, other in pairwise(places))
    for each in tables:
        assert each in arena
        np.testing.assert_array_equal(held(arena, each), each.data)


def test_tables_lie_behind_each_other_and_come_back(arena):
    first, second, third = table(7), table(50, ONE), table(61, seed=2)
    assert [arena.base(each) for each in (first, second, third)] == [0, 21, 71]
    holds(arena, first, second, third)
    assert [arena.base(each) for each in (third, first)] == [71, 0]  # a place lasts
    assert arena.bytes == texels(arena).nbytes >= 16 * (71 + 183)


def test_an_empty_table_has_room_for_a_record(arena):
    before, empty, after = table(3, ONE), Table("empty", THREE, np.zeros(0, THREE.dtype)), table(4, ONE)
    before.data["a"] = 7
    arena.base(before)
    assert (arena.base(empty), arena.base(after)) == (3, 6)
    assert not texels(arena)[3:6].any()


def test_rows_that_change_in_place_are_uploaded_alone(arena):
    left, middle, right = table(40, seed=1), table(90, seed=2), table(40, seed=3)
    for each in (left, middle, right):
        arena.base(each)
    before = middle.data.copy()
    middle.data["b"] += 1
    arena.update(middle, 20, 71)  # across rows of the narrow texture
    expected = before.copy()
    expected[20:71] = middle.data[20:71]
    np.testing.assert_array_equal(held(arena, middle), expected)
    np.testing.assert_array_equal(held(arena, left), left.data)
    np.testing.assert_array_equal(held(arena, right), right.data)


def with_gaps(arena, count: int, *dropped: int):
    """Tables of ten records, one behind the other, of which these were dropped."""
    tables = [table(10, ONE, seed) for seed in range(count)]
    for each in tables:
        arena.base(each)
    for number in dropped:
        arena.drop(tables[number])
    return tables


def test_what_is_dropped_leaves_a_gap_that_the_next_that_fits_takes(arena):
    tables = with_gaps(arena, 5, 1, 3)
    assert tables[1] not in arena
    large, small, rest = table(11, ONE, 9), table(4, ONE, 8), table(6, ONE, 7)
    assert arena.base(large) == 50  # fits neither gap
    assert arena.base(small) == 10
    assert arena.base(rest) == 14  # what the small one has left
    assert arena.base(table(10, ONE, 6)) == 30
    kept = [each for each in arena.tables() if each.name != "t6_10"]
    assert {id(each) for each in kept} == {id(each) for each in (tables[0], tables[2], tables[4], large, small, rest)}
    for each in kept:
        np.testing.assert_array_equal(held(arena, each), each.data)


def test_gaps_side_by_side_are_one_and_those_at_the_end_none(arena):
    tables = [table(10, ONE, seed) for seed in range(5)]
    for each in tables:
        arena.base(each)
    for number in (1, 3, 2):
        arena.drop(tables[number])
    wide = table(30, ONE, 9)
    assert arena.base(wide) == 10
    arena.drop(wide)
    arena.drop(tables[4])  # now all behind the first is free
    longer = table(100, ONE, 8)
    assert arena.base(longer) == 10
    holds(arena, tables[0], longer)


def test_growth_keeps_the_content(arena, monkeypatch):
    """Whatever was drawn before: scissors that are left on would cut the copy."""
    monkeypatch.setattr(arena_module, "MIN_ARENA_TEXELS", 128)
    context = arena.device.context
    before = context.framebuffer([context.texture((8, 8), 4, dtype="f4")])
    before.use()
    before.scissor = (0, 0, 4, 4)
    tables, sizes = [], []
    many = 200 if arena.row > EDGE else 1  # whose rows are long
    for seed in range(12):
        tables.append(table((37 + seed) * many, seed=seed))
        arena.base(tables[-1])
        sizes.append(arena.bytes)
        holds(arena, *tables)
    assert 3 < len(set(sizes)) < 8  # it did grow, but not with every table
    assert sizes == sorted(sizes)


def test_programs_read_on_after_it_has_grown(device, arena):
    """A sampler is bound to the texture that there is now."""
    cold = table(25)
    module = Module("cold", (f"fetch_{cold.name}",), "lib/far.glsl", memories=(cold,))
    function = glsl_call.Function(arena.device, f"Three fetch_{cold.name}(int i)", modules=[module])
    (before,) = function(np.arange(25))
    grown = function.resources.arena
    size = grown.bytes
    grown.base(table(min(30_000, (size // 16) if arena.row != EDGE else 1000), ONE))
    assert grown.bytes > size or arena.row == EDGE
    (after,) = function(np.arange(25))
    np.testing.assert_array_equal(before, cold.data)
    np.testing.assert_array_equal(after, cold.data)
    function.resources.release()


# -- piece by piece ----------------------------------------------------------------------------------------------------


@pytest.fixture
def chunks(monkeypatch) -> int:
    """Records that are uploaded at once."""
    monkeypatch.setattr(arena_module, "CHUNK", 16)
    return 16


def test_a_table_comes_piece_by_piece(arena, chunks):
    one = table(50)
    adding = arena.add(one)
    shares = []
    for share in adding:
        shares.append(share)
        assert one not in arena
    assert shares == [16 / 50, 32 / 50, 48 / 50, 1.0]
    holds(arena, one)


def test_an_abandoned_one_gives_its_place_back(arena, chunks):
    before, one, after = table(5, seed=1), table(50, seed=2), table(50, seed=3)
    arena.base(before)
    adding = arena.add(one)
    next(adding)
    arena.base(after)  # meanwhile, behind the place that is being filled
    assert arena.base(after) == 15 + 150
    adding.close()
    assert one not in arena
    again = table(49, seed=4)
    assert arena.base(again) == 15
    holds(arena, before, after, again)


def test_compacting_closes_the_gaps(arena):
    tables = with_gaps(arena, 4, 0, 2)
    arena.compact()
    assert sorted(arena.base(each) for each in (tables[1], tables[3])) == [0, 10]
    holds(arena, tables[1], tables[3])
    assert arena.base(table(10, ONE, 9)) == 20


def test_compacting_a_buffer_uploads_nothing(arena, monkeypatch):
    if arena.row != IN_BUFFER:
        pytest.skip("textures are filled from the host")
    tables = with_gaps(arena, 4, 0, 2)
    packed = []
    monkeypatch.setattr(arena_module, "packed_rows", lambda *given: packed.append(given))
    arena.compact()
    assert packed == []
    holds(arena, tables[1], tables[3])


@pytest.mark.parametrize("abandoned", [False, True])
def test_compacting_while_a_table_comes(arena, chunks, abandoned):
    gap, kept, coming, later = table(10, seed=1), table(20, seed=2), table(50, seed=3), table(40, seed=4)
    arena.base(gap)
    arena.base(kept)
    adding = arena.add(coming)
    next(adding)
    arena.drop(gap)
    arena.compact()
    arena.base(later)
    if abandoned:
        adding.close()
        holds(arena, kept, later)
        return
    for _ in adding:
        pass
    holds(arena, kept, later, coming)


def test_one_that_is_needed_while_it_comes_stays(arena, chunks):
    """Programs know its place; that of the pieces is free again."""
    coming, after = table(50, seed=1), table(50, seed=2)
    adding = arena.add(coming)
    next(adding)
    place, number = arena.base(coming), arena.upload_number(coming)
    for _ in adding:
        pass
    assert (arena.base(coming), arena.upload_number(coming)) == (place, number)
    assert arena.base(after) == 0
    holds(arena, coming, after)


# -- what a driver allows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["buffer", "rows"])
def test_a_scene_that_exceeds_the_driver_is_refused_and_one_that_just_fits_is_not(device, kind):
    """Beside what fills it to the last texel: growth by halves again would exceed it."""
    if kind == "rows":
        most, limited = EDGE * EDGE, Narrow(device.context, allow_buffers=False)
        arena = Arena(limited)
    else:
        if device.max_buffer < 1 << 24:
            pytest.skip("this driver's buffer textures are small")
        most, limited = 20_000, Device(device.context)
        arena = Arena(limited)
        limited.max_buffer = most
    half, rest = table(most // 2 + 100, ONE, 1), table(most // 2 - 100, ONE, 2)
    arena.base(half)
    too_large = table(most // 2 - 99, ONE, 3)
    with pytest.raises(DeviceError, match=f"scene tables: {most + 1:,} texels; this driver allows {most:,}"):
        arena.base(too_large)
    assert too_large not in arena
    arena.base(rest)
    holds(arena, half, rest)
    assert arena.bytes == 16 * most
    with pytest.raises(DeviceError, match="scene tables"):
        arena.base(table(1, ONE))
    arena.drop(half)
    arena.base(table(1, ONE))  # in the gap
    arena.release()


# -- resources ---------------------------------------------------------------------------------------------------------


def test_resources_put_cold_tables_here_and_hot_ones_in_textures_of_their_own(device):
    resources = Resources(device)
    cold, hot = table(30, seed=1), table(20, seed=2)
    hot.hot = True
    shares = list(resources.upload([cold, hot]))
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert cold in resources.arena and hot not in resources.arena
    assert resources.bytes() == {hot.name: resources.get(hot).bytes, "arena": resources.arena.bytes}
    assert list(resources.upload([cold, hot])) == []  # both are there
    cold.data["a"] += 1
    resources.update(cold, 0, 30)
    holds(resources.arena, cold)
    resources.drop([cold, hot])
    assert cold not in resources.arena and hot.name not in resources.bytes()
    resources.release()
    assert resources.bytes() == {}


def test_the_last_share_of_an_upload_is_all_without_buffers(device):
    """Of tables in textures of other kinds, too."""
    hot = [Table(name, ONE, np.zeros(20, ONE.dtype), hot=True) for name in ("one", "other")]
    resources = Resources(Device(device.context, allow_buffers=False))
    assert list(resources.upload(hot)) == [0.5, 1.0]
    resources.release()
