"""Simulated machines: unrolled passes, the stream buffer, the cost model; and what the papers claim of them."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.published.chapter5 import COST_DERIVED, TABLE_5_1, TRIANGLE_HITS
from reproduction.sections import machines as sections
from reproduction.simulators.machines import (
    COLOR,
    INTERSECT,
    OTHER_PASSES,
    STEP,
    TWENTY,
    by_type,
    cost,
    simd,
    stream_buffer,
    unrolled,
    workload,
)
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.references import TRIANGLES, Cache, Traffic, mimd_references, simd_references
from reproduction.simulators.schedule import Runs, Simulation
from reproduction.simulators.walk import Space, walk

from raystream.accel.grid.build import build
from raystream.scene.builtin.forest import build as forest
from raystream.stream.machines.policy import Naive

SIMD, MIMD = TABLE_5_1["SIMD"], TABLE_5_1["MIMD"]


@pytest.fixture(scope="module")
def trees():
    """A small forest from above, whose rays meet a few trees each: its grid and what a small picture's rays do."""
    scene = forest(100)
    corners = scene.flatten().corners()
    space = Space.of(build(corners, 24), corners)
    camera = scene.camera("inside")
    runs, state = walk(space, eye_rays(camera, (64, 64)))
    return space, camera, runs, float((state.triangle >= 0).mean())


# -- the papers' claims ----------------------------------------------------------------------------------------------


def test_every_digit_of_the_published_costs():
    checks = list(sections.sums())
    assert len(checks) == len(COST_DERIVED) == 5
    assert all(check.passed for check in checks), [check.ours for check in checks]


def test_a_wrong_digit_is_seen(monkeypatch):
    monkeypatch.setitem(COST_DERIVED["Forest Inside"], "step bytes", 13.30)
    wrong = [check for check in sections.sums() if not check.passed]
    assert len(wrong) == 1 and wrong[0].ours.startswith("step bytes 13.29")


def test_oracles_on_a_forest(trees):
    _, _, runs, shaded = trees
    naive, twenty = simd(runs, shaded, Naive()), simd(runs, shaded)
    assert naive.over_bound >= 5  # P2 3.2
    assert 1 <= twenty.over_bound <= 3 < naive.over_bound
    assert twenty.total == twenty.traversal + twenty.intersection + OTHER_PASSES


def test_triangle_data_hit_in_the_cache(trees):
    """At the papers' density of pixels: neighbouring rows of 1024 x 1024."""
    space, camera, *_ = trees
    rays = eye_rays(camera, (1024, 1024))[600 * 1024 : 602 * 1024]
    for references, rows in ((simd_references, SIMD), (mimd_references, MIMD)):
        cache = Cache(kinds=[TRIANGLES]).play(references(space, rays, Traffic(rows)))
        assert cache.hit_rate() >= TRIANGLE_HITS[0]


def test_types_of_rays_run_to_their_ends(trees):
    space, camera, runs, shaded = trees
    rays = eye_rays(camera, (64, 64))
    other = eye_rays(camera, (64, 64))[::3]
    found = by_type(space, {"eye": [rays], "both": [rays, other], "none": []})
    eye, part = simd(runs, shaded), simd(walk(space, other)[0], shaded)
    assert found["eye"] == (eye.traversal, eye.intersection)
    assert found["both"] == (eye.traversal + part.traversal, eye.intersection + part.intersection)
    assert found["none"] == (0, 0)


# -- unrolled passes -------------------------------------------------------------------------------------------------


def test_one_call_in_a_pass_is_the_plain_machine(trees):
    _, _, runs, shaded = trees
    plain = cost(workload(runs, shaded, simd(runs, shaded).total), SIMD)
    each = unrolled(runs, shaded, SIMD, MIMD, 1, 1)
    assert each.instructions == pytest.approx(plain.total_instructions, rel=1e-12)
    assert each.bytes == each.suppressed_bytes == pytest.approx(plain.total_bytes, rel=1e-12)


def test_unrolled_passes_by_hand():
    """A ray of 5 steps, 3 tests, 1 step: by 4 and 2 in passes of 2, 2 and 1, of which 12 steps and 4 tests executed."""
    runs = Runs.from_lists([[5, 3, 1]])
    one, each = (unrolled(runs, 0.0, SIMD, MIMD, *pair) for pair in ((1, 1), (4, 2)))
    assert (one.passes, each.passes) == (9 + OTHER_PASSES, 5 + OTHER_PASSES)
    step, test = SIMD[STEP], SIMD[INTERSECT]
    executed = 3 * (step.instructions + 3 * MIMD[STEP].instructions) + 2 * (
        test.instructions + MIMD[INTERSECT].instructions
    )
    assert each.instructions - one.instructions == executed - 6 * step.instructions - 3 * test.instructions
    streams = (3 - 6) * (4 * (14 + 9) + 1) + (2 - 3) * (4 * (14 + 5) + 1)
    states = 5 - 9  # read by all rays in every pass
    assert each.suppressed_bytes - one.suppressed_bytes == streams + states
    assert each.bytes - each.suppressed_bytes == 4 * ((12 - 6) * 1 + (4 - 3) * 10)


def test_unrolled_simulation_moves_whole_passes():
    """The simulated schedule of unrolled runs, against runs written out in passes."""
    rng = np.random.default_rng(4)
    rays = [[int(n) for n in rng.integers(1, 20, rng.integers(0, 9))] for _ in range(50)]
    short = [[-(-n // (4 if k % 2 == 0 else 2)) for k, n in enumerate(ray)] for ray in rays]
    plays = [Simulation(runs).play(TWENTY) for runs in (Runs.from_lists(rays).unrolled(4, 2), Runs.from_lists(short))]
    assert plays[0] == plays[1]


# -- the stream buffer -----------------------------------------------------------------------------------------------


def _queues(rays: list[list[int]], capacity: int) -> tuple[list[int], list[int]]:
    """Launches of each kernel and rays served by it: lists of rays, moved one call at a time."""
    coming = [list(ray) for ray in rays if ray]
    queues: list[list[list[int]]] = [[], []]
    launches, served = [0, 0], [0, 0]
    while coming or queues[0] or queues[1]:
        while coming and len(queues[0]) + len(queues[1]) < capacity:
            queues[0].append(coming.pop(0))
        kernel = int(len(queues[1]) > len(queues[0]))
        now, queues[kernel] = queues[kernel], []
        launches[kernel] += 1
        served[kernel] += len(now)
        for ray in now:
            ray[0] -= 1
            if ray[0]:
                queues[kernel].append(ray)
            elif len(ray) > 1:
                queues[1 - kernel].append(ray[1:])
            elif coming:  # its place is the next ray's at once
                queues[0].append(coming.pop(0))
    return launches, served


@pytest.mark.parametrize("held", [1, 3, 16, 1000])
def test_stream_buffer_equals_lists(held):
    rng = np.random.default_rng(held)
    rays = [[int(n) for n in rng.integers(1, 7, rng.integers(0, 8))] for _ in range(60)]
    found = stream_buffer(Runs.from_lists(rays), 0.5, SIMD, size=held * 4 * 23, lanes=8)
    assert found.rays == min(held, 60)
    launches, served = _queues(rays, held)
    assert (list(found.launches), list(found.served)) == (launches, served)


def test_stream_buffer_moves_no_streams_off_the_chip(trees):
    _, _, runs, shaded = trees
    found = stream_buffer(runs, shaded, SIMD)
    model = cost(workload(runs, shaded), SIMD, state=0.0)
    assert sum(found.served) == runs.calls
    assert 0.9 < found.occupancy <= 1
    pixels = runs.rays * shaded * 4 * SIMD[COLOR].written
    assert found.cost.bytes_by_type == {
        "stream": pytest.approx(pixels),
        "structures": model.bytes_by_type["structures"],
        "state": 0,
    }
    assert found.on_chip + pixels == pytest.approx(model.bytes_by_type["stream"])
    assert sum(found.cost.bytes_by_kernel.values()) == pytest.approx(found.cost.total_bytes)
