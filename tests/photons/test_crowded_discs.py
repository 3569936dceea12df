"""More photons in a pass make a progressive estimate sharper: a first disc holds as many as that of fewer photons."""

from __future__ import annotations

import pytest

import viewer
from viewer import Renderer
from viewer.photons.grid import PhotonGrid

SIZE = (64, 64)


def radii(renderer: Renderer) -> tuple[float, float, float]:
    """Of the first sample: in scene units, as a share of the distance, and that for caustic photons as a share of it."""
    found = renderer.photon_uniforms(renderer.scene.camera(), SIZE)
    return found["estimate_reach"], found["estimate_footprint"], found["estimate_caustic"]


@pytest.fixture
def renderer() -> Renderer:
    made = Renderer(viewer.load("glass_ball"), program="photon", machine="singlepass")
    radii(made)  # which makes its maps
    maps = made.photon_maps
    assert maps is not None
    maps.grid = PhotonGrid.hashed((0.0, 0.0, 0.0), 1.0, 16, 2)  # with caustic photons apart
    return made


def test_discs_hold_as_many(renderer: Renderer) -> None:
    _, whole, caustic = radii(renderer)
    renderer.update(photons=1 << 17)  # four times as many
    _, more, beside = radii(renderer)
    assert more == pytest.approx(whole / 2)
    assert more * beside == pytest.approx(whole * caustic)  # caustic photons are as many as before
    renderer.update(caustic_photons=1 << 18)  # sixteen times as many
    assert radii(renderer)[2] * more == pytest.approx(whole * caustic / 4)


def test_fewer_do_not_widen_it(renderer: Renderer) -> None:
    before = radii(renderer)
    renderer.update(photons=1 << 10, caustic_photons=1 << 10)
    assert radii(renderer) == before


def test_a_radius_that_is_told_stays(renderer: Renderer) -> None:
    renderer.update(photon_radius=0.25, photons=1 << 20, caustic_photons=1 << 20)
    assert radii(renderer) == (0.25, 0.0, 0.5)
