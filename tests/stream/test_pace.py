"""Sizes of draws: none of them keeps a device busy for long, however slow it is, and bits do not depend on them."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest

from raystream.renderer.renderer import Renderer
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
    TIMING_INTERVAL,
    DrawSizes,
    TimedDraws,
)
from raystream.stream.gl.objects import Query

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


def test_a_fast_device_is_asked_now_and_then() -> None:
    sizes = DrawSizes()
    drawn(sizes, 1e-10)
    asked = [sizes.should_time(RAYS) for _ in range(10 * (TIMING_INTERVAL + 1))]
    assert sum(asked) == 10


def test_dearer_rays_make_draws_smaller_at_once_and_one_slow_draw_is_forgotten() -> None:
    sizes = DrawSizes()
    for _ in range(3):
        drawn(sizes, 1e-7)
    assert sizes.rays >= RAYS / 2
    sizes.record(RAYS // 2, 5.0, RAYS // 2)
    assert sizes.rays <= 0.1 * MAX_DRAW_SECONDS * RAYS / 2
    for _ in range(80):
        sizes.record(sizes.rays, 1e-7 * sizes.rays, sizes.rays)
    assert sizes.rays >= RAYS / 4


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


def test_a_short_list_is_no_reason_to_cut_a_long_one() -> None:
    sizes = DrawSizes(listed=True)
    sizes.record(2, 1e-5, 2)
    assert sizes.rays == FIRST_RAYS
    sizes.record(2, 1.0, 2)  # but a slow one is
    assert sizes.rays == 1


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
    device: Device, slow: Device, machine: str, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[tuple[int, float]] = []
    known: list[tuple[int, float]] = []
    learn = TimedDraws.collect_timings

    def watched(parts: TimedDraws) -> None:
        was, before = parts.sizes.has_cost, list(parts._timed)
        learn(parts)
        answered = [(rays, time.elapsed * 1e-9) for rays, time, _ in before[: len(before) - len(parts._timed)]]
        if parts.counts:
            (known if was else timed).extend(answered)

    options = {"program": "cast", "machine": machine, "count": count, "first_hits": "rays"}
    wanted = Renderer("cornell", device=device, **options).render(size=(64, 48)).linear
    monkeypatch.setattr(TimedDraws, "collect_timings", watched)
    renderer = Renderer("cornell", device=slow, **options)
    np.testing.assert_array_equal(renderer.render(size=(64, 48)).linear, wanted)
    np.testing.assert_array_equal(renderer.render(size=(64, 48)).linear, wanted)
    assert timed and known
    # Others work on this machine, too: a step takes longer now and then.
    long = [(rays, seconds) for rays, seconds in known if seconds > MAX_DRAW_SECONDS and rays > MIN_RAYS]
    assert len(long) <= 0.1 * len(known), (timed, long)


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


def test_an_answer_that_is_there_is_no_wait(device: Device) -> None:
    with device.current():
        query = Query(device, samples=True, time=True)
        with query:
            pass
        device.context.finish()
        before = device.waits
        assert query.ready and query.samples == 0 and query.elapsed >= 0
        assert device.waits == before
