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

from reproduction import caption_drawings, diagram_drawings, measured, plots
from reproduction.context import Context
from reproduction.published.chapter5 import COST_DERIVED, PIXELS, VIEWS
from reproduction.sections import grid_resolution, photon_settings, speeds, viewpoints
from reproduction.simulators.machines import blocks
from reproduction.simulators.photons import buckets, route
from reproduction.simulators.machines import TWENTY
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
    found = route(cells, np.array([0, 0, 0, 1, 0, 1]), power, 2)
    assert (found.cells, found.places, found.shared, found.empty) == (3, 2, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.lost == pytest.approx(2 / 6)  # both of cell 7: those of 8 are newer
    # The place keeps the two of cell 8, scaled by 4 / 2: 8 where 4 were, 0 where 2 were, of 14.
    assert (found.total, found.apart) == (pytest.approx(16 / 14), pytest.approx(6 / 14))
    assert found.own == pytest.approx(2 / 14)  # by cell, those of 8 are not scaled
    alone = route(cells, cells, power, 2)
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
        found = grid_resolution.predicted({"v": view.v, "t": view.t, "s": view.s, "P": view.passes})
        sheet = COST_DERIVED[name]
        assert found["SIMD"] * PIXELS / 1e9 == pytest.approx(sheet["instructions"], rel=2e-3)
        assert found["MIMD"] * PIXELS / 1e9 == pytest.approx(sheet["MIMD instructions"], rel=2e-3)
        assert found["bytes"] * PIXELS / 1e9 == pytest.approx(sheet["bytes"], rel=2e-3)
        assert found["ratio"] == pytest.approx(sheet["traverse"] / sheet["intersect"], rel=1e-2)
    assert grid_resolution.resolutions(measured.BUNNY)[5:] == [64, 96, 128]


def test_viewpoints_go_around_turn_and_shift() -> None:
    camera = Camera((3.0, 2.0, 1.0), (0.5, 0.0, 0.0), up=(0.0, 1.0, 0.2))
    low, high = np.array([-2.0, 0.0, -4.0]), np.array([2.0, 1.0, 4.0])
    away = np.subtract(camera.target, camera.origin)
    for share in (0.0, 0.25, 0.6):
        around, turned, shifted = (
            viewpoints.viewpoint(camera, low, high, share, move)
            for move in (viewpoints.AROUND, viewpoints.TURNED, viewpoints.SHIFTED)
        )
        assert np.hypot(around.origin[0], around.origin[2]) == pytest.approx(np.hypot(3.0, 1.0))
        assert turned.origin == pytest.approx(camera.origin) and around.origin[1] == pytest.approx(2.0)
        np.testing.assert_allclose(np.subtract(shifted.target, shifted.origin), away, atol=1e-12)
        aside = np.subtract(shifted.origin, camera.origin)
        assert np.linalg.norm(aside) == pytest.approx(viewpoints.RING * 4.0) and aside[1] == pytest.approx(0.0)
        quarter = [np.cos(math.tau * share), np.sin(math.tau * share)]
        forward = np.subtract(turned.target, turned.origin)
        assert forward[0] == pytest.approx(quarter[0] * away[0] + quarter[1] * away[2])
    first, half = (viewpoints.viewpoint(camera, low, high, share, viewpoints.AROUND) for share in (0.0, 0.5))
    assert first == camera and half.origin == pytest.approx((-3.0, 2.0, -1.0))


def test_a_range_says_whether_the_published_value_lies_in_it() -> None:
    view = VIEWS[measured.BUNNY]
    each = [[view.v - 1, 5.0, 0.5, 900.0], [view.v + 1, 6.0, 0.7, 1000.0], [view.v, 6.5, 0.6, 950.0]]
    found = [viewpoints._range(measured.BUNNY, key, each) for key in viewpoints.KEYS]
    assert ["within" in cell.reason for _, cell, _ in found] == [True, False, False, False]
    assert (found[1][0], found[1][1].ours, found[1][2]) == ("5.0", "6.0", "6.5")
    assert (found[3][0], found[3][1].ours, found[3][1].published) == ("900", "950", view.passes)


def test_an_octree_s_regions_and_a_tree_s_boxes() -> None:
    """Eight triangles: a box for each and one for each pair of halves; each square that is cut has four within."""
    text = caption_drawings.draw_acceleration()
    assert "bounding volumes: 15 regions" in text and "uniform grid: 36 regions" in text
    octree = int(text.partition("octree: ")[2].partition(" ")[0])
    assert octree % 4 == 1 and octree > 5


def test_rays_that_miss_go_to_the_escape_index() -> None:
    """Three inner nodes of seven, each with an arc; seven steps to the next node but one."""
    text = caption_drawings.draw_escape()
    assert text.count("stroke-dasharray") == 3 and text.count("<polygon") == 3 + 6
    assert [f">triangle {number}<" in text for number in range(4)] == [True] * 4


@pytest.mark.parametrize("number", caption_drawings.DRAWINGS)
def test_drawings_stay_within_their_size(number: str) -> None:
    root = ElementTree.fromstring(caption_drawings.DRAWINGS[number]())
    width, height = (float(root.attrib[each]) for each in ("width", "height"))
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(text.attrib["x"]) <= width and 0 <= float(text.attrib["y"]) <= height


# -- best rates, and moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", speeds.MACHINES)
def test_every_ray_tests_all_triangles_that_are_stacked(context: Context, machine: str) -> None:
    renderer = speeds.stacked(context, machine, 9)
    layers = renderer.render((8, 8), layers=("tests", "triangle")).layers
    renderer.release()
    assert (layers["tests"] == 9).all() and (layers["triangle"] == 0).all()


def test_photons_are_traced_again_where_they_must(context: Context) -> None:
    with photon_settings._after(context, 16) as cases:
        traced = {what: photon_settings.MAP[0] in case() for what, case in cases.items()}
    assert traced == {"light": True, "geometry": True, "camera": False}


# -- drawings ----------------------------------------------------------------------------------------------------------


def test_drawings_of_passes_follow_the_program_and_the_limits() -> None:
    streams = diagram_drawings.draw_streams()
    assert all(f">{name}<" in streams for name in ("eye", "traverse", "ray", "traversal", "hit", "grid_pointers"))
    assert ">64 instructions<" in caption_drawings.draw_fragment_processor()
    assert ">4 outputs, RGBA<" in caption_drawings.draw_fragment_processor()
    assert ">(input stream)<" in caption_drawings.draw_fragment_processor(streams=True)
    for number, (title, boxes, _) in enumerate(diagram_drawings.LOOPS):
        drawn = diagram_drawings.draw_loop(number)
        assert drawn.count("<rect") == len(boxes) and drawn.count("<polygon") == len(boxes)  # arrows, and the one back
        assert f"<title>{title}</title>" in drawn
    assert diagram_drawings.draw_pipeline().count("<rect") == 6


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
