"""A photon map is traced anew where its photons would be other ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer


@pytest.mark.parametrize("rays", [0, 1])
def test_a_final_gather_of_a_single_ray_has_a_map_of_its_own(device: Any, rays: int) -> None:
    """It holds direct light, which without a gather shadow rays bring; switched on and off."""
    options: dict[str, Any] = {"program": "photon", "photons": 500, "caustic_photons": 100, "environment": "none"}
    changed, new = (
        Renderer(raystream.load("cornell"), device=device, final_gather=k, **options) for k in (1 - rays, rays)
    )
    changed.render((6, 4), spp=1)
    changed.update(final_gather=rays)
    np.testing.assert_array_equal(changed.render((6, 4), spp=1).linear, new.render((6, 4), spp=1).linear)


def test_a_map_is_for_the_picture_s_height(device: Any) -> None:
    """The field of view is that of the height: a wide picture has the photons of a square one as high."""

    def grid(size: tuple[int, int]) -> Any:
        renderer = Renderer(
            raystream.load("cornell"), device=device, program="photon", photons=500, caustic_photons=100
        )
        renderer.render(size, spp=1)
        return renderer.photon_map.grid

    assert grid((4, 40)) == grid((40, 40)) != grid((4, 4))
