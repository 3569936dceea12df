"""Photon maps in pieces of pictures: one for each sample, others than the exact one while something moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.film.device_film import FilmBuffer
from raystream.options.table import OPTIONS
from raystream.renderer.photon_map import MIN_PHOTONS
from raystream.renderer.preview.scheduler import PHOTON_PART
from raystream.renderer.sampling.sampler import FramePlan, Tiling

SIZE, TILE = (24, 16), (16, 8)
FEW: dict[str, Any] = {"photons": PHOTON_PART * MIN_PHOTONS, "photon_bounces": 2, "depth": 1}


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return Renderer(raystream.load("cornell"), device=device, program="photon", machine="singlepass", **FEW)


def traced(renderer: Renderer, film: FilmBuffer | None = None, **choices: Any) -> int:
    """Photon maps that a picture takes."""
    before = renderer.photon_map.trace_count
    plan = FramePlan(renderer.settings, renderer.camera, SIZE, tiling=Tiling(TILE), **choices)
    for _ in renderer.sampler.render_tiles(plan, film):
        pass
    return renderer.photon_map.trace_count - before


@pytest.mark.parametrize(("estimate", "maps"), [("nearest", 1), ("progressive", 2)])
def test_a_round_of_samples_has_a_map_for_each(renderer: Renderer, estimate: str, maps: int) -> None:
    """Not for each tile of each sample; of an estimate of the nearest one for all, which is the first of others."""
    renderer.update(estimate=estimate, seed=5)
    with renderer.device.current():
        film = FilmBuffer(renderer.device, SIZE)
    assert traced(renderer, film=film, samples=3) == maps and film.samples == 3
    with renderer.device.current():
        fields = film.fields()
    np.testing.assert_array_equal(fields["count"], 3)
    linear = fields["sum"] / fields["count"][..., None]
    np.testing.assert_array_equal(linear, renderer.render(SIZE, spp=3).linear)


def test_what_moves_is_followed_by_what_there_is(renderer: Renderer) -> None:
    """Another sample's photons serve while the camera moves; under a moving light fewer are traced."""
    renderer.update(estimate="progressive", seed=6)
    renderer.render(SIZE, spp=2)
    maps = renderer.photon_map
    stored = maps.stored
    renderer.update(camera="278,273,-700 278,273,0")
    assert traced(renderer, photon_part=PHOTON_PART) == 0 and maps.stored == stored
    scene = renderer.scene
    renderer.update(seed=7)
    assert traced(renderer, photon_part=PHOTON_PART) == 1
    assert (
        stored / PHOTON_PART / 1.2 < maps.stored < 1.2 * stored / PHOTON_PART
    )  # within three standard deviations of chance
    assert traced(renderer) == 1 and maps.stored > stored / 1.2  # at rest all of them
    assert renderer.scene is scene


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("photons", 5000),
        ("caustic_photons", 77),
        ("photon_bounces", 3),
        ("seed", 9),
        ("nearest", 9),
        ("photon_radius", 9.0),
        ("photon_grid", (3, 2, 4)),
        ("photon_filter", "cone"),
        ("light_samples", 2),
    ],
)
def test_photons_are_traced_by_options_that_say_so(renderer: Renderer, name: str, value: Any) -> None:
    """Others decide how they are looked for, and the same photons serve them."""
    renderer.update(estimate="nearest")
    traced(renderer)
    before = renderer.settings
    renderer.update(**{name: value})
    assert traced(renderer) == OPTIONS[name].scope.emission
    renderer.update(settings=before)
