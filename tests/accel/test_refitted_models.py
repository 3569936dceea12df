"""Khronos's animated models: rays hit what they hit over a structure built anew, at moments of their animations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream import Renderer
from raystream.formats import load

RAYS, MOMENTS = 3000, 4
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("model", "animation", "deforms"),
    [
        ("RiggedSimple", 0, True),
        ("MorphStressTest", "all", True),
        pytest.param("AnimatedMorphCube", 0, True, marks=SLOW),
        pytest.param("BrainStem", 0, True, marks=SLOW),
        pytest.param("BoxAnimated", 0, False, marks=SLOW),
        pytest.param("InterpolationTest", "all", False, marks=SLOW),
    ],
)
def test_hits_of_models_in_motion(
    device: Any, shared_scenes: Path, model: str, animation: int | str, deforms: bool
) -> None:
    scene = load(shared_scenes / "models" / f"{model}.glb")
    scene.play(animation)
    camera, (low, high) = scene.camera(), scene.bounds()
    renderer, rng = Renderer(scene, program="cast", camera=camera), np.random.default_rng(1)
    assert (renderer.prepared.structure.deforming is not None) is deforms
    hit = 0
    for seconds in np.linspace(0.0, scene.duration, MOMENTS).tolist():
        renderer.update(moment=seconds)
        fresh = Renderer(scene.posed(seconds), program="cast", camera=camera)
        origins = (low + high) / 2 + rng.normal(size=(RAYS, 3)) * np.linalg.norm(high - low)
        directions = low + rng.random((RAYS, 3)) * (high - low) - origins
        found, wanted = (each.trace(origins, directions) for each in (renderer, fresh))
        for name in ("instance", "triangle", "distance"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), (seconds, name)
        hit += int((found.triangle >= 0).sum())
        fresh.release()
    assert hit > RAYS
    renderer.release()
