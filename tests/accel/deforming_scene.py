"""Shared by `test_deforming` and `test_deforming_costs`."""

from __future__ import annotations

import deforming

from raystream import Scene

LAYERS = ("depth", "normal", "triangle", "instance")


def complex_scene() -> Scene:
    """All that can deform at once."""
    skinned = deforming.skinned_tube(influences=9, morphs=3, looks=True)
    return deforming.scene(skinned, deforming.faceted_ball(), deforming.skinned_tube(joints=2, influences=1))
