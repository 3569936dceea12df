"""Photon mapping: its stages step by step, tiles, sections, and irradiance records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction import photon_cases, photon_pictures, timed
from reproduction.context import Context
from reproduction.photon_cases import VISITS, calls, gains, in_tiles
from reproduction.report import described
from reproduction.sections import photon_pictures as sections
from reproduction.sections import photon_times, scenes
from reproduction.sections import photon_times as tiles
from reproduction.simulators.irradiance import Array, Hemisphere, Radiosity, Records, lattice
from reproduction.simulators.photons import bitonic_passes, bitonic_sort, converge, route, search, stencil_count
from reproduction.timed import Spread, Timed

import raystream
from raystream.base.jit import run

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.mark.parametrize("n, passes", [(2, 1), (8, 6), (64, 21), (1024, 55)])
def test_the_published_listing_sorts(n: int, passes: int) -> None:
    rng = np.random.default_rng(n)
    assert len(bitonic_passes(n)) == passes
    for keys in (rng.random(n), rng.integers(0, 3, n), np.arange(n), np.arange(n)[::-1], np.ones(n)):
        order = bitonic_sort(keys)
        assert (keys[order] == np.sort(keys)).all() and (np.sort(order) == np.arange(n)).all()


@pytest.mark.parametrize(
    "photons, edge, wraps, left",
    [(3, 2, False, 3), (4, 2, False, 4), (9, 2, False, 4), (225, 15, False, 225), (256, 16, False, 1)]
    + [(256, 16, True, 256), (257, 16, True, 256)],
)
def test_photons_that_routing_leaves(photons: int, edge: int, wraps: bool, left: int) -> None:
    assert len(set(route(photons, edge, wraps).tolist()) - {-1}) == left


def test_routing_fills_from_the_last_texel_and_nothing_routes_without_a_stencil() -> None:
    assert route(3, 2).tolist() == [-1, 2, 1, 0]
    assert route(3, 2, stencil=False).tolist() == [2, 2, 2, 2]


def test_a_search_of_all_photons_sums_their_powers_and_grows_with_its_visits() -> None:
    rng = np.random.default_rng(3)
    photons = rng.random((40, 3)) * (4, 1, 4)
    cells = (photons[:, 2].astype(int) * 1) * 4 + photons[:, 0].astype(int)
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(17)).astype(np.int64)
    positions, powers = np.ascontiguousarray(photons[order]), rng.random((40, 3))
    points, visits = np.array([[2.0, 0.5, 2.0], [0.3, 0.5, 3.1]]), np.array([1, 5, 20], np.int64)
    out, took = np.zeros((4, 2, 4)), np.zeros(2, np.int64)
    box = np.zeros(3), np.ones(3), np.array([4, 1, 4], np.int64)
    run(converge, points, positions, powers, first, *box, 1000, 10.0, visits, took, out, small=True)
    assert out[-1, :, :3] == pytest.approx(np.broadcast_to(powers.sum(axis=0), (2, 3)))
    farthest = ((positions[None] - points[:, None]) ** 2).sum(axis=-1).max(axis=1)
    assert out[-1, :, 3] == pytest.approx(farthest)
    assert (np.diff(out[..., :3], axis=0) >= 0).all() and (took >= 40).all()


def test_the_compiled_search_is_that_of_single_steps() -> None:
    """In a plane: the same photons are counted, the same radius is left."""
    rng = np.random.default_rng(5)
    plane = rng.random((60, 2)) * 5
    cells = plane[:, 1].astype(int) * 5 + plane[:, 0].astype(int)
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(26)).astype(np.int64)
    positions = np.zeros((60, 3))
    positions[:, 0], positions[:, 2] = plane[order, 0], plane[order, 1]
    for point, wanted in (((2.4, 2.6), 5), ((0.2, 4.7), 9), ((4.9, 0.1), 2)):
        steps, _ = search(point, plane[order], wanted, 9.0, 5)
        out, took = np.zeros((2, 1, 4)), np.zeros(1, np.int64)
        place, box = np.array([[point[0], 0.0, point[1]]]), (np.zeros(3), np.ones(3), np.array([5, 1, 5], np.int64))
        visits = np.array([1 << 30], np.int64)
        run(converge, place, positions, np.ones((60, 3)), first, *box, wanted, 9.0, visits, took, out, small=True)
        assert out[-1, 0, 0] == steps[-1].counted and out[-1, 0, 3] ** 0.5 == pytest.approx(steps[-1].radius)


def drawn(visits: Any, edge: int) -> tuple[int, int]:
    """Tiles and fragments, pass by pass."""
    height, width = visits.shape
    draws = fragments = 0
    for number in range(visits.max()):
        for top in range(0, height, edge):
            for left in range(0, width, edge):
                tile = visits[top : top + edge, left : left + edge]
                if (tile > number).any():
                    draws += 1
                    fragments += tile.size
    return draws, fragments


@pytest.mark.parametrize("edge", [1, 3, 4, 16, 32])
def test_tiles_are_drawn_until_their_last_pixel_is_done(edge: int) -> None:
    visits = np.random.default_rng(63).integers(0, 9, (21, 34))
    found = in_tiles(visits, edge)
    assert (found.draws, found.fragments) == drawn(visits, edge) and found.passes == visits.max()


def test_gains_grow_as_tiles_get_smaller_up_to_those_of_single_pixels() -> None:
    visits = np.random.default_rng(64).integers(0, 9, (21, 34))
    found = gains(visits, (1, 2, 4, 64))
    assert found["gains"]["64"] == 1
    assert found["gains"]["1"] == visits.max() * visits.size / visits.sum()
    assert found["gains"]["1"] >= found["gains"]["2"] >= found["gains"]["4"] >= 1


def test_calls_of_pixels_are_the_machine_s(device: Any) -> None:
    renderer, size = photon_cases.renderer_of("GLASS BALL", device, True)
    visits = calls(renderer, size)
    stats = renderer.render(size, spp=1, stats=True).stats
    renderer.release()
    for state in VISITS:
        assert visits[state].shape == size[::-1]
        assert visits[state].sum() == stats.kernels[state].calls > 0


def test_conclusions_on_tiles_have_the_clock_beside_the_counts(context: Any, monkeypatch: Any) -> None:
    """The largest gain by counts, none by the clock: in part."""
    gained = {"gains": {"16": 6.0, "1": 7.0}, "longest": 9, "mean": 2, "radii": {}, "quad": 10, "pixels": 256}
    gained["tiles"] = {"16": (1, 1, 1), "1": (1, 1, 1)}
    seconds = {tiles.QUAD: 2.0, tiles.IN_TILES: 4.0, tiles.PIXELS: 1.0}
    one = timed.Spread((1.0,))
    clock = {way: timed.Timed(one, one, {"seconds": timed.Spread((each,))}) for way, each in seconds.items()}
    said = list(tiles.tiles_conclusions({"GLASS BALL": gained}, clock, "6.8 and 2"))
    assert [each.verdict for each in said] == ["in part", "holds"]
    assert "6 by counts" in said[0].figure and "0.5 by the clock" in said[0].figure
    assert "7 over one quad by counts" in said[1].figure and "2 by the clock" in said[1].figure


@pytest.mark.parametrize("name", ["glass_ball", "ring"])
def test_a_search_for_all_photons_has_no_end_to_differ_by(name: str) -> None:
    """Of k beyond the number of photons both searches find those within the greatest radius; of the published k the
    exact one has a smaller radius."""
    renderer, (width, height), _ = photon_pictures.published(name)
    size = width // 32, height // 32
    few = photon_pictures.ends(renderer, size)
    renderer.update(nearest=1 << 16)
    found = photon_pictures.ends(renderer, size)
    renderer.release()
    assert found["enough"] == 0 and found["few"] > 0.99 and found["lit"] == pytest.approx(1, abs=1e-4)
    assert 0.1 < few["enough"] < 0.9 and few["few"] > 0.99 and few["same"] < 0.5 and few["lit"] < 0.9


def test_the_greatest_radius_is_the_estimate_s(device: Any) -> None:
    renderer = raystream.Renderer("ring", device=device, program="photon", estimate="published", machine="singlepass")
    renderer.render((8, 8), spp=1)
    uniforms = renderer.photon_map.uniforms(renderer.settings, renderer.camera, 8)
    renderer.release()
    assert photon_pictures.greatest_radius(renderer.scene) == pytest.approx(uniforms["estimate_reach"])


SENT = "Photons that leave the lights"


def test_what_a_scene_has_of_its_own_stands_with_what_is_open(tmp_path: Path) -> None:
    rows = described("photons_open", photon_bounces=8, **sections.chosen(Context(tmp_path)))
    (sent,), (reach,) = ([here for what, _, here in rows if what == of] for of in (SENT, "Greatest radius"))
    assert "GLASS BALL 4,096 + 5,690, RING 4,096 + 64,400, CORNELL BOX 74,900 + 6,410" in sent
    assert "1/20 of the scene's diagonal: GLASS BALL 0.0896 (longest side 1.1), RING 0.0709 (longest side 1)" in reach
    assert "CORNELL BOX 48 (longest side 559)" in reach


@pytest.mark.parametrize("wraps", [False, True])
def test_the_stencil_counts_to_255(wraps: bool) -> None:
    """As the texel that began as 0 would hold it, photon by photon."""
    for photons in (0, 3, 255, 256, 300, 600):
        value = 0
        for _ in range(photons):
            value = (value + 1) % 256 if wraps else min(value + 1, 255)
        assert stencil_count(photons, wraps) == value
    assert stencil_count(7) == 7 and len(set(route(7, 4).tolist()) - {-1}) == 7


def test_dark_pixels_take_longest(context: Context) -> None:
    found = sections.by_light(context, 8)
    there = sections._caustic(context, 8)
    _, shown, took = sections._estimates(there.points, there.albedo, there.photons, there.fixed)
    lit = shown[-1].max(axis=1) > 128
    assert 0 < lit.sum() < len(lit) and found == {"bright": np.median(took[lit]), "dark": np.median(took[~lit])}
    assert found["dark"] > found["bright"]


def test_what_is_not_timed_says_about_how_long_it_would_take() -> None:
    quad = Timed(Spread((1.0,)), Spread((1.0,)), {"seconds": Spread((7.0, 8.0, 9.0))})
    counted = {"GLASS BALL": {"quad": 4_000}, "CORNELL BOX": {"quad": 5_000}}
    rows = list(photon_times.untimed_rows("CORNELL BOX", {photon_times.QUAD: quad}, counted))
    assert [(row[1].published, row[1].ours, row[1].agrees) for row in rows] == [(104.0, None, None), (52.4, None, None)]
    assert all("would take about 10 s" in row[1].reason for row in rows)


def test_gains_are_those_at_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(*each: tuple[float, float, float]) -> list[dict[str, float]]:
        return [dict(zip(("goal", "seconds", "error"), one, strict=True)) for one in each]

    off, on = runs((0.1, 4.0, 0.5), (0.1, 8.0, 0.5), (0.2, 3.0, 1.0)), runs((0.1, 2.0, 0.5), (0.2, 2.0, 1.0))
    path = tmp_path / "adaptive.json"
    path.write_text(json.dumps({"stops": {"x": {"goals": [0.1, 0.2], "off": off, "on": on}}}))
    monkeypatch.setattr(scenes, "ADAPTIVE", path)
    assert scenes.adaptive_gains() == pytest.approx([3.0, 1.5])
    (wish,) = (each for each in scenes.wishes(None) if "Adaptive" in getattr(each, "wish", ""))
    assert "in 1.5 to 3.0 times less CPU time" in wish.here


CEILING = 2.0


def seen(places: Array, directions: Array) -> tuple[Array, Array]:
    """Radiance and distance, (N, M, K), over a floor, of a ceiling that shines in a band of x alone."""
    distance = CEILING / directions[..., 2]
    x = places[:, None, None, 0] + distance * directions[..., 0]
    y = places[:, None, None, 1] + distance * directions[..., 1]
    return np.where(np.abs(x) < 1, 1.0 + 0.25 * np.sin(y), 0.0), distance


def record(places: Array, heights: int, around: int) -> Records:
    hemisphere = Hemisphere.of(heights, around, np.random.default_rng(3), len(places))
    radiance, distance = seen(places, hemisphere.directions)
    reach = 1 / (1 / distance).mean(axis=(1, 2))
    return Records(places, hemisphere.irradiance(radiance), hemisphere.gradient(radiance, distance), reach)


def test_directions_are_shares_of_irradiance() -> None:
    hemisphere = Hemisphere.of(6, 18, np.random.default_rng(1), 5)
    assert hemisphere.directions.shape == (5, 6, 18, 3)
    np.testing.assert_allclose(np.linalg.norm(hemisphere.directions, axis=-1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(hemisphere.irradiance(np.ones((5, 6, 18))), np.pi, rtol=1e-12)
    squared = hemisphere.directions[..., 2] ** 2  # of rays by their cosine evenly spread from 0 to 1
    assert np.abs(squared.mean(axis=(1, 2)) - 0.5).max() < 0.05


def test_the_gradient_is_that_of_finite_differences() -> None:
    """Of a band with edges, whose parts move with the nearer side; many strata, as each edge is found to one."""
    places = np.array([[0.3, 0.2], [-1.5, 0.5], [1.0, -0.4], [2.5, 1.0]])
    step = 0.25
    ends = [record(places + step * np.array(to), 160, 480).irradiance for to in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    expected = np.stack([(ends[0] - ends[1]), (ends[2] - ends[3])], axis=1) / (2 * step)
    found = record(places, 64, 192).gradient
    # A stratum is about 1 / 64 of the hemisphere; the edges' derivatives over the step are curved by as much.
    assert np.abs(found - expected).max() < 0.06 * np.abs(expected).max()
    assert np.abs(expected[1:, 0]).min() > 0.2


def test_gradients_are_worth_most_where_few_records_serve_a_place() -> None:
    side = (np.arange(5) - 2) * 0.8
    records = record(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2), 32, 96)
    places = np.random.default_rng(5).uniform(-1.4, 1.4, (200, 2))
    exact = record(places, 64, 192).irradiance
    errors = {on: np.abs(records.interpolated(places, 0.15, on) - exact).mean() for on in (False, True)}
    assert errors[True] < 0.3 * errors[False]
    at = records.interpolated(records.places[:3], 0.15, True)
    np.testing.assert_allclose(at, records.irradiance[:3], rtol=1e-6)  # weights of 1e9 for the record itself


def test_sparse_records_are_as_far_apart_as_they_reach_and_serve_every_place() -> None:
    rng = np.random.default_rng(8)
    places = rng.uniform(0, 1, (400, 2))
    every = Records(places, np.ones(400), np.zeros((400, 2)), rng.uniform(0.2, 0.4, 400))
    few = every.sparse(0.5)
    assert 5 < len(few.places) < 60
    apart = np.linalg.norm(few.places[:, None] - few.places[None], axis=2)
    before = np.tril(np.ones_like(apart, bool), -1)
    assert (apart > 0.5 * few.reach[None])[before].all()
    off = np.linalg.norm(places[:, None] - few.places[None], axis=2) / few.reach
    assert off.min(axis=1).max() <= 0.5
    np.testing.assert_allclose(few.interpolated(places, 0.5, False), 1.0, rtol=1e-12)


def test_gradients_use_up_no_more_than_the_irradiance() -> None:
    """Weak ones stay as they are; strong ones shorten the reach, and at the shortest are made smaller."""
    gradient = np.array([[0.1, 0.0], [0.0, 4.0], [300.0, 400.0], [0.0, 0.0]])
    found = Records(np.zeros((4, 2)), np.array([1.0, 2.0, 5.0, 0.0]), gradient, np.full(4, 3.0)).limited(0.25)
    np.testing.assert_allclose(found.reach, [3.0, 0.5, 0.25, 0.25])
    np.testing.assert_allclose(found.gradient, [[0.1, 0.0], [0.0, 4.0], [12.0, 16.0], [0.0, 0.0]])


def test_a_linear_radiance_is_exact_within_its_triangle() -> None:
    n = 5
    at, weights = lattice(n)
    assert len(at) == (n + 1) * (n + 2) // 2
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    assert (weights > 0).all() and np.abs(weights[:, 1:] - at / n).max() < 1e-3
    values = np.full((2, n + 1, n + 1), np.nan)  # beyond the triangle nothing is asked for
    values[:, at[:, 0], at[:, 1]] = [3.0 + 2.0 * at[:, 0] / n - at[:, 1] / n, np.zeros(len(at))]
    barycentrics = np.random.default_rng(2).dirichlet([1, 1, 1], 500)[:, 1:]
    table = Radiosity(np.nan_to_num(values))
    found = table.at(np.zeros(500, int), barycentrics)
    np.testing.assert_allclose(found, 3.0 + 2.0 * barycentrics[:, 0] - barycentrics[:, 1], rtol=1e-12)
    assert not table.at(np.array([-1, 1]), barycentrics[:2]).any()
