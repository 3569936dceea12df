"""The walk without a device, against the machine's own counters; and the published rule for hits beyond the voxel."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.simulators import walk as module
from reproduction.simulators.rays import eye_rays, places, reflected_rays, scattered_rays, shadow_rays
from reproduction.simulators.schedule import extract, trace_machine
from reproduction.simulators.walk import Space, walk

from raystream.accel.grid.build import build
from raystream.kernels.records import RAY
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.cornell import build as cornell


@pytest.fixture(scope="module")
def room():
    scene = cornell()
    corners = scene.flatten().corners()
    return scene, Space.of(build(corners, 8), corners)


def _rays(scene, space):
    """Eye rays, and those of all kinds that start at their hits."""
    rays = eye_rays(scene.cameras[0], (24, 24))
    _, state = walk(space, rays)
    hit = np.flatnonzero(state.triangle >= 0)[::5]
    at, normal = places(rays[hit], state.distance[hit], state.triangle[hit], space.corners)
    rng = np.random.default_rng(1)
    lights = shadow_rays(at, [(0.1, 0.9, 0.2), (3.0, 4.0, 5.0)]).ravel()
    others = reflected_rays(rays[hit], at, normal), scattered_rays(at, normal, 2, rng).ravel()
    return np.concatenate([rays, lights, *others])


def test_every_run_is_the_machine_s(device, room):
    scene, space = room
    renderer = Renderer(scene, device=device, accel="grid", grid=8, intersection="moller-trumbore", back_faces="shown")
    rays = _rays(scene, space)
    with device.current():
        counted = extract(trace_machine(renderer, rays))
    runs, state = walk(space, rays)
    first = counted.start[len(rays)]
    assert np.array_equal(counted.start[: len(rays) + 1], runs.start)
    assert np.array_equal(counted.length[:first], runs.length)
    hits = renderer.trace(rays["origin"], rays["direction"], rays["t_max"], rays["any_hit"])
    assert np.array_equal(hits.triangle, state.triangle)
    renderer.release()


def test_rays_are_the_camera_s(device, room):
    scene, _ = room
    renderer = Renderer(scene, device=device, program="cast", accel="grid", grid=8)
    picture = renderer.render((24, 24), layers="depth")
    rays = eye_rays(scene.cameras[0], (24, 24))
    _, state = walk(room[1], rays)
    hit = state.triangle >= 0
    # The device's own eye rays are rounded otherwise: a few units in the last place of the distance.
    assert state.distance[hit] == pytest.approx(picture.layers["depth"].ravel()[hit], rel=1e-5)


def test_rays_of_some_rows_are_those_of_the_picture():
    camera = cornell().cameras[0]
    rows = np.array([0, 2, 17])
    assert np.array_equal(eye_rays(camera, (40, 18), rows), eye_rays(camera, (40, 18)).reshape(18, 40)[rows].ravel())


def test_published_rule_finds_the_same_hits(room):
    """A hit beyond the voxel, missed, is found again in its own; shadow rays, which any hit ends, test more."""
    scene, space = room
    rays = _rays(scene, space)
    kept, kept_state = walk(space, rays)
    missed, missed_state = walk(space, rays, "missed")
    nearest = rays["any_hit"] == 0
    assert np.array_equal(kept_state.triangle[nearest], missed_state.triangle[nearest])
    assert np.array_equal(kept_state.triangle >= 0, missed_state.triangle >= 0)
    assert (missed.steps[~nearest] >= kept.steps[~nearest]).all()
    assert missed.steps[~nearest].sum() > kept.steps[~nearest].sum()


def test_a_hit_beyond_the_voxel():
    """A triangle that spans two voxels along the ray, in which the first has a list and the second the hit."""
    corners = np.array([[[0, 0.5, 0], [2, 0.5, 0], [2, 0.5, 1]], [[0, 0, 1], [2, 1, 1], [2, 0, 1]]], np.float32)
    space = Space.of(build(corners, (2, 1, 1)), corners)
    ray = np.zeros(1, RAY.dtype)
    ray["origin"], ray["direction"], ray["t_max"] = (-1.0, 1.0, 0.2), np.array([5.0, -1.0, 0.0]) / 26**0.5, 1e9
    cases = (("kept", 0, 2, 4), ("missed", 0, 2, 4), ("kept", 1, 1, 1), ("missed", 1, 2, 3))
    for beyond, any_hit, steps, tests in cases:
        ray["any_hit"] = any_hit
        runs, state = walk(space, ray, beyond)
        assert (beyond, any_hit, runs.steps[0], runs.tests[0], state.triangle[0]) == (beyond, any_hit, steps, tests, 0)


def test_a_hit_at_the_border_of_voxels_waits_for_the_next():
    """It may hold a lower triangle at the same distance: as on the machine, not by the published rule."""
    corners = np.array([[[1, 0, 0], [1, 1, 0], [1, 0, 1]], [[0, 0, 1], [2, 1, 1], [2, 0, 1]]], np.float32)
    space = Space.of(build(corners, (2, 1, 1)), corners)
    space.box[:] = (0, 0, 0), (2, 1, 1), (1, 1, 1)  # as low and edges are rounded, exact here
    ray = np.zeros(1, RAY.dtype)
    ray["origin"], ray["direction"], ray["t_max"] = (-1.0, 0.25, 0.25), (1.0, 0.0, 0.0), 1e9
    steps = {beyond: int(walk(space, ray, beyond)[0].steps[0]) for beyond in ("kept", "missed")}
    assert steps == {"kept": 2, "missed": 1}


def test_more_runs_than_there_is_room_for(room, monkeypatch):
    scene, space = room
    rays = _rays(scene, space)
    runs, state = walk(space, rays)
    monkeypatch.setattr(module, "ROOM", 0)
    again, state_again = walk(space, rays)
    assert np.array_equal(runs.length, again.length) and np.array_equal(runs.start, again.start)
    assert np.array_equal(state.distance, state_again.distance) and np.array_equal(state.triangle, state_again.triangle)


def test_rays_that_do_nothing(room):
    away = np.zeros(3, RAY.dtype)
    away["origin"], away["direction"], away["t_max"] = (-9, 9, 9), (-1, 0, 0), 1e9
    runs, state = walk(room[1], away)
    assert not runs.calls and (state.triangle == -1).all() and (state.distance == np.float32(1e9)).all()
