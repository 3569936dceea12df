"""The inspector showed another picture than the renderer: debug views left `light_candidates`, which only the sampler
set, at a module's default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream.viewport.debug_views.inspector import Inspector

SIZE = 12, 9


@pytest.mark.parametrize(
    "options",
    [
        {"light_candidates": 1},
        {"light_candidates": 2},
        {"light_candidates": 3, "depth": 2, "strategy": "lights", "seed": 5, "light_sampler": "power"},
        {"clamp": 0.5, "roulette": 1},
    ],
    ids=str,
)
def test_the_inspector_makes_the_renderer_s_picture(options: dict[str, Any]) -> None:
    renderer = raystream.Renderer("balls", program="path", **options)
    inspector = Inspector(renderer, size=SIZE)
    inspector.begin(renderer.camera)
    inspector.run_to_end()
    shown = inspector.values("film.sum")[0]
    expected = renderer.render(size=SIZE, spp=1).linear
    inspector.release()
    renderer.release()
    assert shown.any()
    np.testing.assert_array_equal(shown, expected)
