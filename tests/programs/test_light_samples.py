"""Distributed shadow rays: several for each surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer

POINT: dict[str, Any] = {"pixel_filter": "point", "first_hits": "rays"}
FEW: dict[str, Any] = {"photons": 300, "photon_bounces": 3, "estimate": "nearest"}
PROGRAMS = ("shadow", "whitted", "photon")


def of(scene: str, program: str, **options: Any) -> Renderer:
    return Renderer(raystream.load(scene), program=program, **{"machine": "singlepass", **FEW, **options})


@pytest.mark.parametrize("program", PROGRAMS)
def test_shadow_rays_of_a_surface_are_those_of_as_many_samples(program: str) -> None:
    """Through pixels' centres samples differ in their points of the lamp alone. 1e-5: sums in another order."""
    renderer = of("cornell", program, **POINT)
    few, many = (renderer.render((12, 12), spp=spp).linear for spp in (1, 16))
    renderer.update(light_samples=16)
    one = renderer.render((12, 12), spp=1).linear
    np.testing.assert_allclose(one, many, rtol=1e-5, atol=1e-6)
    renderer.update(light_samples=4)
    np.testing.assert_allclose(renderer.render((12, 12), spp=4).linear, many, rtol=1e-5, atol=1e-6)
    assert np.abs(few - one).mean() > 100 * np.abs(many - one).mean()


@pytest.mark.parametrize("program", PROGRAMS)
def test_machines_agree_to_the_bit(program: str) -> None:
    other = {} if program == "photon" else {"fuse": "none"}  # whose kernels are three times as many
    machines = ({"machine": "singlepass"}, {"machine": "multipass", **other})
    one, other = (
        of("cornell", program, light_samples=3, **machine).render((8, 8), spp=2).linear for machine in machines
    )
    assert one.tobytes() == other.tobytes() and one.max() > 0


def test_a_light_without_extent_is_asked_once() -> None:
    """By a program that knows what it asks."""

    def shadow_rays(scene: str) -> list[int]:
        renderer, found = of(scene, "shadow"), []
        for number in (1, 8):
            renderer.update(light_samples=number)
            found.append(renderer.render((8, 8), spp=1, stats=True).stats.kernels["resolve"].calls)
        return found

    one, many = shadow_rays("ring")
    assert one == many > 0
    one, many = shadow_rays("cornell")
    assert many > 6 * one
