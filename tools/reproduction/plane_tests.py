"""The tests of a triangle that A compares, timed in turns: by planes with and without a condition around the
sides, and by a watertight one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.accel import primitives, structures
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module

from .context import Context
from .timed import Releasing

FILE = Path(__file__).parent / "triangle_planes_conditional.glsl"
CONDITION = "planes, with the condition"


@contextmanager
def conditional() -> Iterator[None]:
    """Structures that are built meanwhile test their triangles by `FILE`."""
    original = primitives.triangle_module

    def made(*arguments: Any, **options: Any) -> Module:
        return replace(original(*arguments, **options), source=str(FILE))

    with patch.object(primitives, "triangle_module", made), patch.object(structures, "triangle_module", made):
        yield


@contextmanager
def by_test(
    context: Context, scene: Scene, size: tuple[int, int], settings: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, raystream.Renderer]]:
    """Renderers by name, each with its own settings; those named `CONDITION` by the conditional test. All have made a
    first picture."""
    made: dict[str, raystream.Renderer] = {}
    with Releasing() as held:
        for name, own in settings.items():
            with conditional() if name == CONDITION else nullcontext():
                made[name] = held.own(raystream.Renderer(scene, device=context.device, **own))
                made[name].render(size, spp=1)
        yield made


def differing(one: NDArray[np.float32], other: NDArray[np.float32], by: float = 0.02) -> float:
    """The share of pixels (H, W, 3) of two pictures that differ by more than that in a channel."""
    return float((np.abs(one - other).max(axis=2) > by).mean())
