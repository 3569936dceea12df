"""Photons that are weighed in a state of their own had the powers and directions of those that a neighbouring pixel
looked at last: llvmpipe (Mesa 22.3) keeps a value that every turn of a loop sets from the last turn, also for pixels
that had left the loop. Pictures of scenes whose interactions take six texels were wrong in most pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.renderer.device import gpu_scene
from raystream.renderer.renderer import Renderer


@pytest.mark.parametrize("machine", ["singlepass", pytest.param("multipass", marks=pytest.mark.slow)])
def test_weighing_apart_changes_nothing(device: Any, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """Walls of different colours, over which powers differ: the sums are the same, in the same order."""
    pictures, form = [], gpu_scene._program_form
    for apart in (False, True):
        monkeypatch.setattr(gpu_scene, "_program_form", lambda *given, apart=apart: {**form(*given), "apart": apart})
        renderer = Renderer("cornell", device=device, machine=machine, program="photon", photons=1024)
        pictures.append(renderer.render((8, 8), 1).linear)
        assert ("weigh" in renderer.program().by_name) == apart
    assert pictures[0].std() > 0.01
    np.testing.assert_array_equal(*pictures)
