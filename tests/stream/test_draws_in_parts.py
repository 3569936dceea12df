"""Draws in parts, none of which keeps a device busy for long, however slow it is; bits do not depend on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import places
import pytest

from raystream.kernels.photons import ENTRY, PHOTON
from raystream.kernels.records import FEATURES
from raystream.photons.grid import PhotonCompaction, PhotonGrid, StencilRouting
from raystream.renderer.preview.gbuffer import GBufferRaster
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import (
    FIRST_RAYS,
    GROWTH,
    MAX_DRAW_SECONDS,
    MAX_ITERATIONS,
    MAX_LISTED,
    MAX_UNPROVEN_RAYS,
    MIN_PART_SIDE,
    MIN_RAYS,
    TARGET_FRACTION,
    DrawSizes,
    Tiles,
    TimedDraws,
)
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw as DrawStep
from raystream.stream.raster import InstancedDraw, draws_in_parts

SIZE = 64, 48
RED = Material("red", (0.8, 0.1, 0.1, 1.0), kind="lambert", backface_culling=True)
HOLES = Material("holes", (0.2, 0.4, 0.9, 0.5), kind="lambert", alpha_mode="blend")


@dataclass
class Watch:
    """The parts that were drawn: of each program's, in their order, the elements and the seconds, of those that were
    timed before any was known and after."""

    drawn: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    asked: list[tuple[int, int]] = field(default_factory=list)  # elements, and the most that a draw may have then
    known: list[tuple[int, float]] = field(default_factory=list)
    held: list[TimedDraws] = field(default_factory=list)  # those of ``drawn``, whose ids no others get
    listed: bool | None = None  # programs that are drawn over lists, or not; None: all

    def watches(self, parts: TimedDraws) -> bool:
        return self.listed is None or self.listed == (parts.sizes.min_rays == 1)

    def check(self, longest: int = FIRST_RAYS) -> None:
        """Draws were cut, and short once known."""
        assert any(len(each) > 1 for each in self.drawn.values()), "one draw"
        assert all(count <= most for count, most in self.asked)
        assert max(count for each in self.drawn.values() for count in each) <= longest
        self.check_times(64)

    def check_times(self, least: int) -> None:
        """Of draws of more elements than that, once known."""
        # Others work on this machine, too: a step takes longer now and then.
        long = [(count, seconds) for count, seconds in self.known if seconds > MAX_DRAW_SECONDS and count > least]
        assert self.known and len(long) <= 0.1 * len(self.known) + 1, long


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    found = Watch()
    learn, part = TimedDraws.collect_timings, TimedDraws.timed_part

    def learned(parts: TimedDraws) -> None:
        was, before = parts.sizes.has_cost, list(parts._timed)
        learn(parts)
        if was and found.watches(parts):
            found.known += [(rays, time.elapsed * 1e-9) for rays, time, _ in before[: len(before) - len(parts._timed)]]

    @contextmanager
    def parted(parts: TimedDraws, rays: int, query: Query | None = None) -> Iterator[None]:
        if found.watches(parts):
            found.drawn[id(parts)].append(rays)
            found.held.append(parts)
            found.asked.append((rays, max(parts.sizes.rays, parts.sizes.min_rays)))
        with part(parts, rays, query):
            yield

    monkeypatch.setattr(TimedDraws, "collect_timings", learned)
    monkeypatch.setattr(TimedDraws, "timed_part", parted)
    return found


def twice(device: Device, slow: Device, watch: Watch, made: Callable[[Device], Any]) -> None:
    """What is made on both devices is the same."""
    with device.current():
        wanted = made(device)
    assert not watch.drawn, "a software driver draws all at once"
    with slow.current():
        for _ in range(2):
            np.testing.assert_array_equal(made(slow), wanted)


CAMERA = Camera((0.3, -2.0, 1.9), (0.0, 6.0, 0.2), up=(0.0, 0.0, 1.0), fov=60.0)


def woods() -> Scene:
    """A flat ball as ground, and balls above it that are one mesh, some of them mirrored; others with holes."""
    ball, ground = places.sphere(3), places.sphere(5) * np.float32([9, 9, 0.2])
    meshes = [
        Mesh(each.reshape(-1, 3), np.arange(3 * len(each)).reshape(-1, 3), np.full(len(each), k, np.int32))
        for k, each in enumerate((ground, ball, ball))
    ]
    instances = [Instance(0)]
    for k in range(24):
        place = np.diag([0.4, -0.4 if k % 3 else 0.4, 0.4, 1.0])
        place[:3, 3] = (k % 6 - 2.5, 0.5 + k // 6, 0.6)
        instances.append(Instance(1 + (k % 4 == 0), place))
    return Scene(meshes, instances, [RED, RED, HOLES], cameras=[CAMERA])


def test_draws_are_cut_and_put_together_in_their_order() -> None:
    """Whatever the sizes, the instances' triangles are those of the draws, one after the other."""
    draws = [
        InstancedDraw(0, False, 5, 7, 0, 1),
        InstancedDraw(0, False, 20, 3, 2, 5),
        InstancedDraw(1, True, 40, 11, 1, 3),
    ]

    def expanded(found: list[InstancedDraw]) -> list[tuple[int, bool, int, int]]:
        return [
            (draw.kind, draw.mirrored, draw.offset + k, draw.first + n)
            for draw in found
            for k in range(draw.instances)
            for n in range(draw.triangles)
        ]

    for rays in range(1, 60):
        sizes = DrawSizes(rays, listed=True)
        parts = list(draws_in_parts(draws, sizes))
        assert expanded([draw for part in parts for draw in part]) == expanded(draws)
        sums = [sum(draw.triangles * draw.instances for draw in part) for part in parts]
        assert all(1 <= total <= rays for total in sums)
        assert len(parts) <= -(-55 // rays) * 3
    assert list(draws_in_parts([], DrawSizes(listed=True))) == []


def test_triangles_and_instances_of_the_gbuffer(device: Device, slow: Device, watch: Watch) -> None:
    """Tested ones, too."""
    watch.listed = True
    renderers = {on.slowness: Renderer(woods(), device=on, program="path") for on in (device, slow)}

    def made(on: Device) -> np.ndarray:
        renderer, target = renderers[on.slowness], Stream(on, FEATURES, SIZE)
        GBufferRaster(on, renderer.prepared, renderer.gpu_scene.resources).draw(CAMERA, target)
        return target.read()

    twice(device, slow, watch, made)
    assert len(watch.drawn) == 2 * 2, "two programs, each made twice"
    watch.check()


def test_points_of_photons(device: Device, slow: Device, watch: Watch) -> None:
    """The list of those that are stored, in their order; which of them a full cell holds; sums of powers."""
    watch.listed = True
    rng, cells, count = np.random.default_rng(3), 40, 128 * 80
    records = np.zeros(count, PHOTON.dtype)
    records["position"] = rng.uniform(0, (cells, 1, 1), (count, 3))
    records["stored"] = rng.random(count) < 0.9
    records["power"] = rng.uniform(0, 2, (count, 3))
    grid = PhotonGrid((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (cells, 1, 1))
    tools: dict[float, tuple[PhotonCompaction, StencilRouting]] = {}

    def made(on: Device) -> np.ndarray:
        keep, routing = tools.setdefault(on.slowness, (PhotonCompaction(on), StencilRouting(on, cells)))
        photons, kept = Stream(on, PHOTON, (128, 80)), Stream(on, ENTRY, (128, 80))
        photons.write(records.reshape(80, 128))
        stored = keep.run(photons, count, grid, kept)
        assert stored == (records["stored"] > 0).sum()
        for step in routing.make(photons, kept, stored, grid):
            assert isinstance(step, DrawStep)
            step.draw()
        texels = [kept.read().reshape(-1)[:stored], routing.map.read(), routing.totals.read(), routing.cells.read()]
        return np.concatenate([each.view(np.float32).reshape(-1) for each in texels])

    twice(device, slow, watch, made)
    watch.check()
    assert len(watch.drawn) == 3, "kept, routed and summed"


def test_kernels_by_tiles(device: Device, slow: Device, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of more rays than a draw may have are cut, too."""
    monkeypatch.setattr("raystream.stream.gl.draw.FIRST_RAYS", 512)
    each = TimedDraws.timed_queries
    runs = []

    def counted(parts: TimedDraws, rays: int, queries: Any) -> Any:
        runs.append(rays)
        watch.drawn[id(parts)].append(rays)
        watch.asked.append((rays, parts.sizes.rays))
        return each(parts, rays, queries)

    monkeypatch.setattr(TimedDraws, "timed_queries", counted)
    options = {"program": "cast", "machine": "multipass", "fuse": "none", "mask": "tiles", "first_hits": "rays"}
    twice(device, slow, watch, lambda on: Renderer("cornell", device=on, **options).render((40, 30)).linear)
    assert runs and max(runs) <= 512
    assert all(count <= most for count, most in watch.asked), "tiles of more rays"
    assert any(0 < count < 256 for found in watch.drawn.values() for count in found), "a tile in boxes"


def test_a_census_of_tiles_is_not_cut(device: Device, slow: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its texels are whole tiles, however small draws are to be."""
    kept, keep, asked = [], Tiles.set_alive, {"size": (80, 60)}

    def watched(tiles: Tiles, alive: Any) -> None:
        keep(tiles, alive)
        kept.append(0 if tiles.all else tiles.count)

    options = {"program": "cast", "machine": "multipass", "fuse": "none", "count": "census", "first_hits": "rays"}
    wanted = Renderer("sphere", device=device, tile=16, **options).render(**asked).linear
    monkeypatch.setattr(Tiles, "set_alive", watched)
    monkeypatch.setattr(DrawSizes, "record", lambda sizes, *_: setattr(sizes, "rays", 64))
    np.testing.assert_array_equal(Renderer("sphere", device=slow, tile=16, **options).render(**asked).linear, wanted)
    assert 0 < max(kept) < 20, "some of the tiles"


STREAM = (0, 0, 1024, 512)
RAYS = STREAM[2] * STREAM[3]


def drawn(sizes: DrawSizes, ray: float, fixed: float = 0.0, active: float = 1.0) -> list[tuple[int, float]]:
    """The draws of a pass over a stream, each timed where that is due, in rays and seconds of a ray and of a draw."""
    found = []
    for _, _, width, height in sizes.parts(STREAM):
        rays = width * height
        seconds = fixed + ray * rays * active
        if sizes.should_time(rays):
            sizes.record(rays, seconds, int(rays * active))
        found.append((rays, seconds))
    return found


@pytest.mark.parametrize("ray", [1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3])
def test_no_draw_is_long_once_one_was_timed(ray: float) -> None:
    sizes = DrawSizes()
    first, *rest = [each for _ in range(20) for each in drawn(sizes, ray, fixed=2e-5)]
    assert first[0] == FIRST_RAYS
    assert all(seconds <= MAX_DRAW_SECONDS or rays <= MIN_RAYS for rays, seconds in rest)
    largest = list(accumulate((rays for rays, _ in [first, *rest]), max))
    assert all(after <= GROWTH * before for before, after in pairwise(largest))
    wanted = min(RAYS, 0.25 * MAX_DRAW_SECONDS / ray)
    assert max(rays for rays, _ in rest[-100:]) >= min(wanted, RAYS), "a fast device draws all at once"


def test_few_rays_tell_little_of_all() -> None:
    """Where most were excluded, draws grow to a size that any device manages, and no further."""
    sizes = DrawSizes()
    drawn(sizes, 1e-6, active=0.0)
    assert sizes.rays == FIRST_RAYS and not sizes.has_cost
    for _ in range(3):
        drawn(sizes, 1e-6, active=0.01)
    assert sizes.rays == MAX_UNPROVEN_RAYS and not sizes.has_cost
    sizes.record(MAX_UNPROVEN_RAYS, 1.0, 10)
    assert sizes.rays < 0.1 * MAX_UNPROVEN_RAYS
    drawn(sizes, 1e-7)
    dense = sizes.rays
    drawn(sizes, 1e-7, active=0.01)
    assert sizes.has_cost and sizes.rays == dense


def test_a_long_draw_of_a_third_makes_draws_smaller_and_tells_no_cost() -> None:
    """Two thirds were excluded before they began: what all rays cost is still open, and this many are too many."""
    sizes = DrawSizes()
    sizes.record(FIRST_RAYS, 10 * MAX_DRAW_SECONDS, FIRST_RAYS // 3)
    assert (sizes.rays, sizes.has_cost) == (int(TARGET_FRACTION / 10 * FIRST_RAYS), False)
    sizes.record(sizes.rays, 10 * MAX_DRAW_SECONDS, sizes.rays // 2)
    assert sizes.has_cost  # a half tells


def test_turns_of_a_loop_are_fewer_where_the_smallest_draw_takes_long() -> None:
    sizes = DrawSizes()
    sizes.record(FIRST_RAYS, 100.0, FIRST_RAYS)
    assert (sizes.rays, sizes.iterations) == (MIN_RAYS, None)
    seen = []
    for _ in range(9):
        sizes.record(MIN_RAYS, 1.0, MIN_RAYS)
        seen.append(sizes.iterations)
    assert seen == [64, 32, 16, 8, 4, 2, 1, 1, 1]
    for _ in range(40):
        sizes.record(MIN_RAYS, 1e-4, MIN_RAYS)
    assert sizes.iterations is None or sizes.iterations <= MAX_ITERATIONS
    assert sizes.rays > MIN_RAYS


@pytest.mark.parametrize("element", [1e-10, 1e-6, 1e-3, 0.04])
def test_no_draw_of_a_list_is_long_once_one_was_timed(element: float) -> None:
    """Of points and triangles the smallest draw has one."""
    sizes, found = DrawSizes(listed=True), []
    for _ in range(20):
        reached = 0
        for first, count in sizes.ranges(3_000_000 if element < 1e-6 else 10_000):
            assert first == reached and count > 0
            reached += count
            found.append((count, element * count))
            if sizes.should_time(count):
                sizes.record(count, element * count, count)
        assert reached == (3_000_000 if element < 1e-6 else 10_000)
    (count, _), *rest = found
    assert count == FIRST_RAYS and all(seconds <= MAX_DRAW_SECONDS for _, seconds in rest)
    assert max(count for count, _ in found) <= MAX_LISTED


@pytest.mark.parametrize("box", [(0, 0, 1, 1), (3, 5, 7, 200), (0, 0, 1000, 9), (8, 0, 640, 360)])
@pytest.mark.parametrize("rays", [MIN_RAYS, 100, FIRST_RAYS, 1 << 20])
def test_parts_cover_a_rectangle_once(box: tuple[int, int, int, int], rays: int) -> None:
    x, y, width, height = box
    covered = np.zeros((y + height + 1, x + width + 1), int)
    for left, low, wide, tall in DrawSizes(rays).parts(box):
        assert 0 < wide * tall <= max(rays, MIN_PART_SIDE * MIN_PART_SIDE)
        covered[low : low + tall, left : left + wide] += 1
    assert covered.sum() == width * height and (covered[y : y + height, x : x + width] == 1).all()


# -- on a device -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["multipass", "singlepass"])
@pytest.mark.parametrize("count", ["query", "census"])
def test_a_slow_device_draws_little_at_a_time(
    device: Device, slow: Device, watch: Watch, machine: str, count: str
) -> None:
    watch.listed = False
    options = {"program": "cast", "machine": machine, "count": count, "first_hits": "rays"}
    renderers = {on.slowness: Renderer("cornell", device=on, **options) for on in (device, slow)}
    twice(device, slow, watch, lambda on: renderers[on.slowness].render(size=(64, 48)).linear)
    watch.check_times(MIN_RAYS)


def test_a_query_around_parts_has_their_sums(slow: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters of a picture that is drawn in small parts are those of whole passes."""
    slow.slowness = 1.0
    found = []
    for first in (1 << 20, 256):
        monkeypatch.setattr("raystream.stream.gl.draw.FIRST_RAYS", first)
        renderer = Renderer("cornell", device=slow, program="path")
        stats = renderer.render(size=(40, 30), spp=1, stats=True).stats
        found.append([(each.step, each.fragments, each.calls) for each in stats.passes])
        renderer.release()
    assert found[0] == found[1] and sum(fragments for _, fragments, _ in found[0]) >= 1200
