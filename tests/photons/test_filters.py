"""Filters of radiance estimates, against float64; an even field of photons is as bright by each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from estimates import Estimates, filtered, found_by, photon_records

from raystream.base.errors import ViewerError
from raystream.options.values import PhotonFilter
from raystream.photons.grid import PhotonGrid
from raystream.renderer.inputs.settings import Settings

FILTERS = [PhotonFilter(), PhotonFilter("cone"), PhotonFilter("cone", 3.0), PhotonFilter("epanechnikov")]
GRID = PhotonGrid.over((0, 0, -0.1), (1, 1, 0.1), (6, 7, 1))


@pytest.fixture(scope="module")
def estimates(device: Any) -> Estimates:
    return Estimates(device)


@pytest.mark.parametrize("weights", FILTERS, ids=str)
def test_as_by_numpy(estimates: Estimates, weights: PhotonFilter) -> None:
    rng = np.random.default_rng(3)
    positions = np.column_stack([rng.uniform(0, 1, (300, 2)), rng.uniform(-0.05, 0.05, 300)]).astype(np.float32)
    photons = photon_records(positions, rng.uniform(0, 1, (300, 3)))
    places = np.column_stack([rng.uniform(0, 1, (40, 2)), np.zeros(40)]).astype(np.float32)
    for k, radius, exact in ((9, 0.3, True), (9, 0.3, False), (None, 0.2, True), (250, 0.15, True)):
        found, _ = estimates(places, photons, GRID, photons=k, radius=radius, exact=exact, weights=weights)
        for place, radiance in zip(places.astype(float), found, strict=True):
            counted, square = found_by(place, photons, GRID, k or 1 << 24, radius, exact)
            some = photons[counted]
            squares = ((some["position"].astype(float) - place) ** 2).sum(axis=1)
            wanted = filtered(squares, some["power"].astype(float), square, weights) / np.pi
            # Sums of some tens of float32, of which the moment may cancel a part.
            assert np.allclose(radiance, wanted, rtol=2e-5, atol=2e-6 * wanted.max(initial=1e-30))


@pytest.mark.parametrize("weights", FILTERS, ids=str)
def test_an_even_field_is_as_bright_by_every_filter(estimates: Estimates, weights: PhotonFilter) -> None:
    """A lattice of photons of power p a distance h apart: irradiance p / h^2."""
    count, radius = 128, 0.2
    at = (np.arange(count) + 0.5) / count
    positions = np.stack([*np.meshgrid(at, at), np.zeros((count, count))], axis=-1).reshape(-1, 3)
    photons = photon_records(positions, np.full(3, 0.5 / count**2))
    rng = np.random.default_rng(1)
    places = np.column_stack([rng.uniform(0.3, 0.7, (32, 2)), np.zeros(32)])
    for k in (None, 1000):
        found, _ = estimates(places, photons, GRID, photons=k, radius=radius, weights=weights)
        # Lattice points in a disc of radius 18 h or more: the rim's some 110 are right but for a few (Gauss's circle).
        assert np.allclose(found, 0.5 / np.pi, rtol=0.02)
        assert abs(found.mean() * np.pi / 0.5 - 1) < 4e-3


def test_weights_are_never_negative_and_filters_are_checked() -> None:
    for weights in FILTERS:
        assert 0 <= weights.slope <= 1 and 0 < weights.integral <= 1
    assert Settings(photon_filter="cone=2").photon_filter == PhotonFilter("cone", 2.0)
    assert str(Settings(photon_filter="cone").photon_filter) == "cone=1.1"
    for wrong in ("cone=0.9", "cone=", "epanechnikov=2", "gauss", "cone=nan", "cone=inf", 3, PhotonFilter("cone", 0.0)):
        with pytest.raises(ViewerError, match=r"photon.filter"):
            Settings(photon_filter=wrong)
