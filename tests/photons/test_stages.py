"""The stages of a picture with a photon map, timed apart: which there are, not how long they take."""

from __future__ import annotations

import pytest
from reproduction.photon_stages import STAGES, stage_seconds

import viewer
from viewer.base.errors import ViewerError


def test_stages_are_timed_apart() -> None:
    few = {"photons": 300, "photon_bounces": 3, "estimate": "published"}
    renderer = viewer.Renderer("cornell", program="photon", fuse="surface", **few)
    found = stage_seconds(renderer, (8, 8))
    assert set(found) == set(STAGES) and all(seconds > 0 for seconds in found.values())
    assert renderer.gpu_scene.executor.times is None
    assert renderer.photon_map.traced == 2  # once to compile, once by the clock
    renderer.update(machine="singlepass")
    with pytest.raises(ViewerError, match="take the machine multipass"):
        stage_seconds(renderer, (8, 8))
    with pytest.raises(ViewerError, match="has no photon map"):
        stage_seconds(viewer.Renderer("cornell", program="cast"), (8, 8))
