"""The preset 2003: as many photons are stored as were published."""

from __future__ import annotations

from typing import Any

import pytest

import raystream
from raystream.cli.presets import preset
from raystream.renderer.inputs.settings import NAMES
from raystream.scene.builtin.caustics import PUBLISHED, STORED


@pytest.mark.slow
@pytest.mark.parametrize("scene", PUBLISHED)
def test_as_many_photons_are_stored(scene: str) -> None:
    """Within 3 %: by chance, and as drivers round."""
    chosen: dict[str, Any] = {**preset("2003", scene), "machine": "singlepass", "nearest": 1, "light_samples": 1}
    options = {name: value for name, value in chosen.items() if name in NAMES}  # others are of the picture's file
    renderer = raystream.Renderer(scene, **options)
    renderer.render((4, 4), spp=1)
    assert abs(renderer.photon_map.stored / STORED[scene] - 1) < 0.03
