"""Early depth tests by blocks, hashed photon cells, other grids and viewpoints, best rates, moves, and the drawings of
passes: each against an independent count."""

from __future__ import annotations

import io
import math
from typing import Any
from xml.etree import ElementTree

import glsl_call
import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import measured, plots
from reproduction.context import Context
from reproduction.published.chapter5 import COST_DERIVED, PIXELS, VIEWS
from reproduction.sections import photon_pictures, scenes, speeds
from reproduction.simulators.machines import TWENTY, blocks
from reproduction.simulators.photons import buckets, redistributed
from reproduction.simulators.schedule import Runs, Simulation

from raystream.photons.grid import PhotonGrid
from raystream.scene.camera import Camera
from raystream.stream.declare.kernel import Module
from raystream.stream.machines.policy import Policy, Sweep

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
