"""A renderer for each structure, and the exact answer that all must give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exact
import meshes
import numpy as np

from raystream import Hits, Renderer
from raystream.accel.structures import Structure

AXES = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32)

STRUCTURES = {"bvh": {"accel": "bvh"}, "octants": {"accel": "bvh", "traversal": "octants"}, "grid": {"accel": "grid"}}


class Tracers:
    """A renderer for each structure, asked together: they must agree to the bit, and one answer is judged."""

    def __init__(self, corners: np.ndarray, options: dict[str, Any]) -> None:
        scene = meshes.scene(corners)
        self.each = {
            name: Renderer(scene, **{**choices, **options}, program="cast") for name, choices in STRUCTURES.items()
        }

    def trace(self, *rays: Any, **options: Any) -> Hits:
        return self._agreed(lambda renderer: renderer.trace(*rays, **options))

    def render(self, size: tuple[int, int], layers: tuple[str, ...]) -> tuple[np.ndarray, ...]:
        """The picture, linear, and its layers."""

        def arrays(renderer: Renderer) -> tuple[np.ndarray, ...]:
            picture = renderer.render(size, layers=layers)
            return picture.linear, *picture.layers.values()

        return self._agreed(arrays)

    def update(self, **options: Any) -> None:
        for renderer in self.each.values():
            renderer.update(**options)

    @property
    def grid(self) -> Structure:
        return self.each["grid"].prepared.structure

    def _agreed(self, ask: Callable[[Renderer], Any]) -> Any:
        first = None
        for name, renderer in self.each.items():
            answer = ask(renderer)
            first = answer if first is None else first
            assert all(one.tobytes() == other.tobytes() for one, other in zip(first, answer, strict=True)), name
        return first


def tracer(corners: np.ndarray, **options: Any) -> Tracers:
    return Tracers(corners, options)


def assert_right(
    corners: np.ndarray,
    origins: np.ndarray,
    directions: np.ndarray,
    hits: Hits,
    least: float = 0.0,
    **tolerances: float,
) -> float:
    """Hits are the exact ones, but for rays that pass an edge too near to tell; returns the share of those.

    least : the least share of rays that must hit.
    """
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance, **tolerances)
    assert not len(verdict.wrong), f"rays {verdict.wrong[:10]} of {len(verdict.wrong)}"
    assert (hits.triangle >= 0).mean() >= least
    assert np.array_equal(hits.triangle >= 0, np.isfinite(hits.distance))
    assert ((hits.barycentrics >= 0) & (hits.barycentrics <= 1)).all()
    return len(verdict.near_edge) / len(origins)
