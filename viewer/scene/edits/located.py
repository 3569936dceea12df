"""Scenes far from the origin of their coordinates, such as UTM's: places relative to a point nearby, so that float32
holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from viewer.scene.geometry.centre import FAR
from viewer.scene.geometry.transform import shifted
from viewer.scene.mesh import Instance
from viewer.scene.scene import Scene


def located(scene: Scene) -> Scene:
    """The scene relative to a point near its middle, if it lies far from its origin and has one already; animated ones
    as they are, whose nodes place their instances."""
    if any(scene.origin) or scene.hierarchy is not None or not scene.instances:
        return scene
    low, high = scene.bounds(ground=False)
    edge, middle = float((high - low).max()), (low + high) / 2.0
    if not (0.0 < edge < float(np.abs(middle).max()) / FAR):
        return scene
    step = 2.0 ** np.ceil(np.log2(edge))  # the same for scenes alike
    return about(scene, (np.round(middle / step) * step).tolist())


def about(scene: Scene, origin: Sequence[float]) -> Scene:
    """The same scene with its places relative to another point of the file's coordinates."""
    shift = np.subtract(scene.origin, origin)
    if not shift.any():
        return scene
    lights = [
        replace(
            light,
            position=tuple(np.add(light.position, shift).tolist()),
            motion=tuple(replace(key, position=tuple(np.add(key.position, shift).tolist())) for key in light.motion),
        )
        for light in scene.lights
    ]
    return scene.with_parts(
        instances=[_moved(each, shift) for each in scene.instances],
        cameras=[replace(each, base=scene.origin).about(origin) for each in scene.cameras],
        lights=lights,
        origin=tuple(map(float, origin)),
    )


def _moved(instance: Instance, shift: NDArray[np.float64]) -> Instance:
    transform = shifted(instance.transform, shift)
    motion = None if instance.motion is None else shifted(instance.motion, shift)
    return replace(instance, transform=transform, motion=motion)
