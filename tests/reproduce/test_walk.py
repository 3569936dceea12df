"""What rays do without a device: the walk, its schedules, stand-ins and other views, against the machine."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import glsl_call
import numpy as np
import pytest
from reproduction import measured, plots, stand_ins, views
from reproduction.context import Context
from reproduction.published.chapter5 import COST_DERIVED, PIXELS, VIEWS, View
from reproduction.sections import photon_pictures, scenes, speeds, tracing
from reproduction.simulators import walk as module
from reproduction.simulators.machines import TWENTY, blocks
from reproduction.simulators.photons import buckets, redistributed
from reproduction.simulators.rays import eye_rays, places, reflected_rays, scattered_rays, shadow_rays
from reproduction.simulators.schedule import Runs, Simulation, extract, trace_machine
from reproduction.simulators.walk import Space, walk

from raystream.accel.grid.build import build
from raystream.kernels.records import RAY
from raystream.photons.grid import PhotonGrid
from raystream.renderer.renderer import Renderer
from raystream.scene import builtin
from raystream.scene.builtin.cornell import build as cornell
from raystream.scene.builtin.forest import build as forest
from raystream.scene.camera import Camera
from raystream.stream.declare.kernel import Module
from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


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


POLICIES: tuple[Policy, ...] = (
    Sweep(),
    Naive(),
    MostWork(),
    Threshold(0.2, "active"),
    Threshold(0.2, "all"),
    Threshold(1.0, "active"),
    Threshold(0.01, "all"),
)


def _random_rays(rng: np.random.Generator, rays: int = 60) -> list[list[int]]:
    """Runs of random rays, a few of which never enter the loop, and one of which has a long last run."""
    out = [list(rng.integers(1, 9, rng.integers(0, 12))) for _ in range(rays)]
    out[rays // 2] = [3, 70]
    return [[int(n) for n in ray] for ray in out]


def _call_by_call(rays: list[list[int]], policy: Policy) -> tuple[int, list[int], list[int]]:
    """Passes, passes of each kernel, and rays served by each: every ray moved one call at a time."""
    calls = [[k % 2 for k, n in enumerate(ray) for _ in range(n)] for ray in rays]  # 0 traversal, 1 intersection
    at = [0] * len(rays)
    passes, served = [0, 0], [0, 0]
    while True:
        waits = [calls[i][at[i]] if at[i] < len(calls[i]) else None for i in range(len(rays))]
        waiting = [waits.count(0), waits.count(1)]
        if not any(waiting):
            return sum(passes), passes, served
        for kernel in policy.choose(waiting, len(rays)):  # each behind a mask of its own
            ran = [i for i in range(len(rays)) if at[i] < len(calls[i]) and calls[i][at[i]] == kernel]
            passes[kernel] += bool(ran)
            served[kernel] += len(ran)
            for i in ran:
                at[i] += 1


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_simulated_scheduler_equals_one_that_moves_every_call(policy: Policy) -> None:
    for seed in range(5):
        rays = _random_rays(np.random.default_rng(seed))
        found = Simulation(Runs.from_lists(rays)).play(policy)
        passes, by_kernel, served = _call_by_call(rays, policy)
        assert (found.passes, list(found.by_kernel), list(found.served)) == (passes, by_kernel, served)
        assert found.active_share(len(rays)) == pytest.approx(sum(served) / passes / len(rays))


@pytest.mark.parametrize("of", ["active", "all"])
@pytest.mark.parametrize("percent", [1, 20, 50, 100])
def test_simulated_thresholds_are_the_rule_s(percent: int, of: str) -> None:
    """Against the rule written out: intersect once so many percent wait for it, or nobody for traversal."""

    class Rule:
        counts = True

        def choose(self, waiting: list[int], total: int) -> list[int]:
            first, second = waiting
            whole = total if of == "all" else first + second
            return [int(second > 0 and (100 * second >= percent * whole or first == 0))]

    rays = _random_rays(np.random.default_rng(percent))
    found = Simulation(Runs.from_lists(rays)).play(Threshold(percent / 100, of))
    passes, by_kernel, served = _call_by_call(rays, Rule())
    assert (found.passes, list(found.by_kernel), list(found.served)) == (passes, by_kernel, served)


def test_no_policy_takes_fewer_passes_than_the_bound() -> None:
    rays = _random_rays(np.random.default_rng(9))
    runs = Runs.from_lists(rays)
    assert runs.bound == max(sum(r[::2]) for r in rays) + max(sum(r[1::2]) for r in rays)
    assert runs.calls == sum(map(sum, rays)) == runs.steps.sum() + runs.tests.sum()
    simulation = Simulation(runs)
    assert all(simulation.play(policy).passes >= runs.bound for policy in POLICIES)
    assert Simulation(Runs.from_lists([[5, 3]])).play(Naive()).passes == 8  # one ray: the bound itself


@pytest.fixture(scope="module")
def room_of_stand() -> Space:
    corners = cornell().flatten().corners()
    return Space.of(build(corners, 8), corners)


def test_cameras_stand_where_their_numbers_say() -> None:
    around = stand_ins.camera_around([10, 90, 30, 1, 2, 3, 50])
    assert np.allclose(around.origin, (1 + 10 * math.cos(math.pi / 6), 2 + 5, 3))
    assert around.target == (1, 2, 3) and around.fov == 50
    within = stand_ins.camera_within([4, 1.5, 6, 90, 0, 60], lambda x, z: 10 * x + z)
    assert np.allclose(within.origin, (4, 46 + 1.5, 6)) and np.allclose(within.target, (5, 47.5, 6))
    above = stand_ins.camera_within([0, 1, 0, 0, 90, 60], lambda x, z: 0.0)
    assert np.allclose(above.target, (0, 2, 0))


def test_the_search_finds_a_camera_of_the_same_work(room_of_stand: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a known camera's rays do is sought from wide ranges, by v, t and s alone."""
    monkeypatch.setattr(stand_ins, "EDGE", 12)
    known = stand_ins.camera_around([900, 180, 10, 278, 273, 280, 45])
    target = View(38, (8, 8, 8), *stand_ins.rays_work(room_of_stand, known, 12).tolist(), 0)
    ranges = [(500, 1500), (150, 210), (-10, 30), (200, 350), (200, 350), (200, 350), (30, 60)]
    found, again = (stand_ins.search(room_of_stand, target, stand_ins.camera_around, ranges, seed=3) for _ in range(2))
    assert found.error == stand_ins.error(found.work, target) <= stand_ins.CLOSE
    assert np.array_equal(found.values, again.values) and found.tried == again.tried < 700
    assert all(low <= value <= high for value, (low, high) in zip(found.values, ranges, strict=True))
    other = stand_ins.search(room_of_stand, target, stand_ins.camera_around, ranges, seed=4)
    assert not np.array_equal(found.values, other.values)
    impossible = View(38, (8, 8, 8), 1e6, 1.0, 1.0, 0)
    monkeypatch.setattr(stand_ins, "FIRST", 5)
    monkeypatch.setattr(stand_ins, "ROUNDS", 7)
    assert stand_ins.search(room_of_stand, impossible, stand_ins.camera_around, ranges).tried == 12


def test_the_largest_of_three_errors_decides() -> None:
    target = View(1, (1, 1, 1), 10.0, 20.0, 0.5, 0)
    assert stand_ins.error([10.0, 20.0, 0.6], target) == pytest.approx(0.2)
    assert stand_ins.error([7.0, 20.0, 0.5], target) == pytest.approx(0.3)


def test_a_forest_is_drawn_together() -> None:
    """Its box has the wanted proportion, its trees stand on the ground at the share of their distance."""
    whole = forest(100)
    scene = stand_ins.gathered(whole, 0.5, 4.0)
    low, high = scene.bounds()
    assert (high - low)[0] / (high - low)[1] == pytest.approx(4.0, rel=1e-3)
    higher = scene.instances[0].transform[1, 1]
    for before, after in zip(whole.instances[1:20], scene.instances[1:20], strict=True):
        assert np.allclose(after.transform[[0, 2], 3], 0.5 * before.transform[[0, 2], 3])
        assert np.allclose(after.transform[0, :3], 0.5 * before.transform[0, :3])
        x, _, z = after.transform[:3, 3]
        foot = before.transform[1, 3] - stand_ins.ground_height(whole, *before.transform[[0, 2], 3])
        assert after.transform[1, 3] == pytest.approx(higher * (stand_ins.ground_height(whole, x, z) + 0.5 * foot))
    vertex = np.asarray(whole.meshes[0].positions)[777]
    assert stand_ins.ground_height(whole, vertex[0], vertex[2]) == pytest.approx(vertex[1], abs=1e-5)


@pytest.mark.parametrize("scene", ["building", "forest"])
def test_stated_views_do_what_is_published(scene: str, tmp_path: Path) -> None:
    context = Context(tmp_path, quick=True)
    for view in views.VIEWS:
        if view.scene == scene:
            space, camera = measured.space(context, view.name), measured.camera(context, view.name)
            assert tuple(space.resolution.tolist()) == view.resolution
            work = stand_ins.rays_work(space, camera, 96)
            assert stand_ins.error(work, VIEWS[view.name]) <= stand_ins.AGREES
        assert len(view.values) == len(view.numbers) == len(view.ranges)
        assert all(low <= value <= high for value, (low, high) in zip(view.values, view.ranges, strict=True))


def test_a_view_that_does_something_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = VIEWS[measured.BUNNY]
    for change, passed in ((1.05, True), (1.2, False), (0.8, False)):
        work = {"v": published.v, "t": published.t * change, "s": published.s}
        monkeypatch.setattr(measured, "workload", lambda context, name, work=work: work)
        check = measured.agreement(Context(tmp_path), measured.BUNNY)
        assert check.passed is passed and f"{abs(change - 1):.1%}" in check.bound


def test_each_type_of_ray_runs_to_its_end() -> None:
    hybrid = tracing.passes(builtin.build("cornell"), "Cornell Box", 16)
    assert list(hybrid["types"]) == ["S"] and 0 < hybrid["types"]["S"][0] <= 256 and hybrid["grid"] == [8, 8, 8]
    whitted = tracing.passes(builtin.build("teapotahedron"), "Teapotahedron, E S R", 16)["types"]
    assert list(whitted) == ["E", "S", "R"] and whitted["E"][0] == 256
    assert whitted["R"][0] < whitted["S"][0] < 256  # of hits, and of those on mirrors
    assert all(min(row) > 0 for row in whitted.values())


def test_the_device_takes_the_simulated_passes(device, tmp_path: Path) -> None:
    found = tracing.device_passes(Context(tmp_path), "Cornell Box", 16)
    assert found["setup"] == {"S": 1} and min(found["device"]) > 5
    # No share of them: on the driver that the suite runs on, the walk's float32 is the machine's to the bit.
    assert found["device"] == found["simulated"]


# -- early depth tests -------------------------------------------------------------------------------------------------


def replayed(rays: list[list[int]], width: int, policy: Policy, edge: int) -> tuple[int, float]:
    """Passes, and the share of blocks with a ray in the state: ray by ray, in lists."""
    now = [[kernel % 2 for kernel, count in enumerate(ray) for _ in range(count)] for ray in rays]
    height = -(-len(rays) // width)
    count = -(-width // edge) * -(-height // edge)
    passes = found = 0
    while any(now):
        waiting = [sum(ray[:1] == [kernel] for ray in now) for kernel in (0, 1)]
        for kernel in policy.choose(waiting, len(rays)):
            some = [number for number, ray in enumerate(now) if ray[:1] == [kernel]]
            if some:
                passes += 1
                found += len({(number % width // edge, number // width // edge) for number in some})
            for number in some:
                now[number].pop(0)
    return passes, found / max(1, passes * count)


@pytest.mark.parametrize("policy", [TWENTY, Sweep()])
def test_blocks_run_where_one_of_their_rays_waits(policy: Policy) -> None:
    rng = np.random.default_rng(4)
    rays = [rng.integers(1, 5, rng.integers(0, 6)).tolist() for _ in range(12 * 7)]
    runs = Runs.from_lists(rays)
    found = blocks(runs, 12, policy, (1, 2, 4, 16))
    for edge, share in found.run.items():
        assert (found.passes, pytest.approx(share)) == replayed(rays, 12, policy, edge)
    other = Simulation(runs).play(policy)
    assert (other.passes, other.active_share(runs.rays)) == (found.passes, pytest.approx(found.run[1]))
    assert found.run[1] < found.run[2] < found.run[4] <= found.run[16] == 1.0


# -- photons in a hash -------------------------------------------------------------------------------------------------


def test_cells_that_share_a_place_take_each_others_room() -> None:
    """Cells 7 and 8 share a place with room for two; 9 is alone."""
    cells = np.array([7, 7, 8, 9, 8, 9])
    power = np.array([1.0, 1.0, 2.0, 4.0, 2.0, 4.0])
    found = redistributed(cells, np.array([0, 0, 0, 1, 0, 1]), power, 2)
    assert (found.cells, found.places, found.shared, found.empty) == (3, 2, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.lost == pytest.approx(2 / 6)  # both of cell 7: those of 8 are newer
    # The place keeps the two of cell 8, scaled by 4 / 2: 8 where 4 were, 0 where 2 were, of 14.
    assert (found.total, found.apart) == (pytest.approx(16 / 14), pytest.approx(6 / 14))
    assert found.own == pytest.approx(2 / 14)  # by cell, those of 8 are not scaled
    alone = redistributed(cells, cells, power, 2)
    assert (alone.shared, alone.lost, alone.total, alone.apart, alone.own) == (0.0, 0.0, 1.0, 0.0, 0.0)


def test_places_of_the_hash_are_those_of_the_device(device: Any) -> None:
    rng = np.random.default_rng(8)
    cells = rng.integers(-400, 400, (500, 3))
    grid = PhotonGrid.hashed((0, 0, 0), 0.1, 4096)
    types = {"low": "vec3", "cell": "vec3", "resolution": "ivec3", "buckets": "int", "kinds": "int"}
    uniforms = {name: (types[name.rpartition("_")[2]], value) for name, value in grid.uniforms.items()}
    module = Module("grid", ("photon_cell_number",), "interface/photon_grid.glsl", uniforms=uniforms)
    with device.current():
        number = glsl_call.Function(device, "int photon_cell_number(ivec3 cell)", modules=[module])
    (found,) = number(cells)
    np.testing.assert_array_equal(found, buckets(cells, 4096))
    assert len(set(found.tolist())) > 400


# -- grids and viewpoints ----------------------------------------------------------------------------------------------


def test_the_cost_of_a_resolution_is_the_models() -> None:
    for name, view in VIEWS.items():
        found = scenes.predicted({"v": view.v, "t": view.t, "s": view.s, "P": view.passes})
        sheet = COST_DERIVED[name]
        assert found["SIMD"] * PIXELS / 1e9 == pytest.approx(sheet["instructions"], rel=2e-3)
        assert found["MIMD"] * PIXELS / 1e9 == pytest.approx(sheet["MIMD instructions"], rel=2e-3)
        assert found["bytes"] * PIXELS / 1e9 == pytest.approx(sheet["bytes"], rel=2e-3)
        assert found["ratio"] == pytest.approx(sheet["traverse"] / sheet["intersect"], rel=1e-2)
    assert scenes.resolutions(measured.BUNNY)[5:] == [64, 96, 128]


def test_viewpoints_go_around_turn_and_shift() -> None:
    camera = Camera((3.0, 2.0, 1.0), (0.5, 0.0, 0.0), up=(0.0, 1.0, 0.2))
    low, high = np.array([-2.0, 0.0, -4.0]), np.array([2.0, 1.0, 4.0])
    away = np.subtract(camera.target, camera.origin)
    for share in (0.0, 0.25, 0.6):
        around, turned, shifted = (
            scenes.viewpoint(camera, low, high, share, move) for move in (scenes.AROUND, scenes.TURNED, scenes.SHIFTED)
        )
        assert np.hypot(around.origin[0], around.origin[2]) == pytest.approx(np.hypot(3.0, 1.0))
        assert turned.origin == pytest.approx(camera.origin) and around.origin[1] == pytest.approx(2.0)
        np.testing.assert_allclose(np.subtract(shifted.target, shifted.origin), away, atol=1e-12)
        aside = np.subtract(shifted.origin, camera.origin)
        assert np.linalg.norm(aside) == pytest.approx(scenes.RING * 4.0) and aside[1] == pytest.approx(0.0)
        quarter = [np.cos(math.tau * share), np.sin(math.tau * share)]
        forward = np.subtract(turned.target, turned.origin)
        assert forward[0] == pytest.approx(quarter[0] * away[0] + quarter[1] * away[2])
    first, half = (scenes.viewpoint(camera, low, high, share, scenes.AROUND) for share in (0.0, 0.5))
    assert first == camera and half.origin == pytest.approx((-3.0, 2.0, -1.0))


# -- best rates, and moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", speeds.MACHINES)
def test_every_ray_tests_all_triangles_that_are_stacked(context: Context, machine: str) -> None:
    renderer = speeds.stacked(context, machine, 9)
    layers = renderer.render((8, 8), layers=("tests", "triangle")).layers
    renderer.release()
    assert (layers["tests"] == 9).all() and (layers["triangle"] == 0).all()


def test_photons_are_traced_again_where_they_must(context: Context) -> None:
    with photon_pictures.after(context, 16) as cases:
        traced = {what: photon_pictures.MAP[0] in case() for what, case in cases.items()}
    assert traced == {"light": True, "geometry": True, "camera": False}


def test_a_plot_holds_all_that_was_drawn_and_no_empty_groups() -> None:
    drawing, axis = plots.figure(3.0, 2.0)
    axis.plot([1, 2, 4], [0.5, 0.25, 1.0], label="a: b; c")
    axis.set(yscale="log", title="M 1 2 L 3")
    axis.legend()
    whole = io.StringIO()
    drawing.savefig(whole, format="svg")
    text = plots.svg(drawing)
    before, after = (ElementTree.fromstring(each) for each in (whole.getvalue(), text))
    for tag in ("path", "use", "text", "clipPath"):
        counts = [len(list(each.iter(f"{{http://www.w3.org/2000/svg}}{tag}"))) for each in (before, after)]
        assert counts[0] == counts[1] > 0, tag
    assert ">M 1 2 L 3<" in text and ">a: b; c<" in text and "<g>" not in text
    assert len(text) < 0.7 * len(whole.getvalue())
