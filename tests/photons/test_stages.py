"""The stages of a picture with a photon map, timed apart: which there are, not how long they take."""

from __future__ import annotations

import pytest
from reproduction.photon_cases import STAGES, stage_seconds

import raystream
from raystream.base.errors import ViewerError


def test_stages_are_timed_apart() -> None:
    few = {"photons": 300, "photon_bounces": 3, "estimate": "published"}
    renderer = raystream.Renderer("cornell", program="photon", fuse="surface", **few)
    before = renderer.render((8, 8), spp=1).linear.copy()
    found = stage_seconds(renderer, (8, 8))
    assert set(found) == set(STAGES)
    assert all(found[stage] > 0 for stage in STAGES[:3])  # the estimate is a difference, which may be none here
    assert renderer.gpu_scene.executor.times is None
    assert renderer.photon_map.traced == 3  # the picture before, the whole one, and the rays
    assert (renderer.render((8, 8), spp=1).linear == before).all()  # by the radius that it had
    with pytest.raises(ViewerError, match="has no photon map"):
        stage_seconds(raystream.Renderer("cornell", program="cast"), (8, 8))
