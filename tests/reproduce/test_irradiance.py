"""Irradiance records: their gradient against finite differences, and what is interpolated between them."""

from __future__ import annotations

import numpy as np
from reproduction.simulators.irradiance import Array, Hemisphere, Radiosity, Records, lattice

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
