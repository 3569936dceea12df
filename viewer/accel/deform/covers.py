"""Conservative boxes of posed meshes without their vertices.

A skinned vertex is a convex combination of where its joints take it: the boxes of the vertices at rest that follow each
joint, moved by its matrix, hold all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.deform.deformation import MeshPose
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.geometry.triangles import LARGEST_COORDINATE

# Of the coordinates: sums of products in float32, of up to some dozen terms.
ROUNDING = 2.0**-19

Box = NDArray[np.float64]


class Cover:
    """The boxes of one deforming mesh at rest, scaled by ``scale`` to its object's space."""

    def __init__(self, mesh: DeformedMesh, scale: float) -> None:
        deformation = mesh.deformation
        self._mesh, self._scale = mesh, scale
        self._shift = [_extremes(target.positions, scale) for target in deformation.targets]
        sums = deformation.weights.sum(axis=1, dtype=np.float64)
        self._sums = (float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf))) if len(sums) else (1.0, 1.0)
        self._held: tuple[object, Box] | None = None  # positions, and the boxes of them

    @property
    def convex(self) -> bool:
        """Whether weights are such that boxes hold: none is below zero."""
        return bool((self._mesh.deformation.weights >= 0).all())

    def of(self, pose: MeshPose) -> Box:
        """(2, 3) float64, low and high, the object's space; zeros where nothing is finite."""
        boxes = self._boxes(pose)
        with np.errstate(all="ignore"):
            for weight, shift in zip(pose.weights.tolist(), self._shift, strict=True):
                if weight != 0.0:
                    boxes = boxes + np.sort(weight * shift, axis=0)
            if self._mesh.deformation.skinned:
                boxes = self._moved(boxes, pose)
        boxes = boxes[(boxes[:, 0] <= boxes[:, 1]).all(axis=1)]  # not those that are empty or not finite
        if not len(boxes):
            return np.zeros((2, 3))
        low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
        margin = ROUNDING * np.maximum(np.abs(low), np.abs(high)).max()
        return np.clip(np.stack([low - margin, high + margin]), -LARGEST_COORDINATE, LARGEST_COORDINATE)

    def _moved(self, boxes: Box, pose: MeshPose) -> Box:
        """The boxes of each joint's vertices (J, 2, 3) where the joint takes them; and the origin, where vertices that
        follow none go."""
        linear, place = pose.joints[:, :3, :3], pose.joints[:, :3, 3] * self._scale
        middle, half = boxes.mean(axis=1), (boxes[:, 1] - boxes[:, 0]) / 2
        center = np.einsum("jrc,jc->jr", linear, middle) + place
        reach = np.einsum("jrc,jc->jr", np.abs(linear), half)
        reach = np.where((half >= 0).all(axis=1, keepdims=True), reach, -np.inf)
        # Large terms may cancel.
        reach += ROUNDING * (np.einsum("jrc,jc->jr", np.abs(linear), np.abs(middle) + half) + np.abs(place))
        moved = np.stack([center - reach, center + reach], axis=1)
        least, most = self._sums
        ends = np.stack([least * moved, most * moved])
        moved = np.stack([ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)], axis=1)
        return np.concatenate([moved, np.zeros((1, 2, 3))]) if least == 0.0 else moved

    def _boxes(self, pose: MeshPose) -> Box:
        """(N, 2, 3): of the vertices that follow each joint, or of all; inf, -inf for none."""
        mesh, deformation = self._mesh, self._mesh.deformation
        if self._held is not None and self._held[0] is pose.positions and len(self._held[1]) >= 1:
            return self._held[1]
        positions = (mesh.rest.positions if pose.positions is None else pose.positions).astype(np.float64) * self._scale
        sound = np.isfinite(positions).all(axis=1)
        count = len(pose.joints) if deformation.skinned else 1
        boxes = np.empty((count, 2, 3))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        if not deformation.skinned and sound.any():
            boxes[0] = positions[sound].min(axis=0), positions[sound].max(axis=0)
        for column in range(deformation.joints.shape[1]):
            taken = np.flatnonzero((deformation.weights[:, column] != 0) & sound)
            np.minimum.at(boxes[:, 0], deformation.joints[taken, column], positions[taken])
            np.maximum.at(boxes[:, 1], deformation.joints[taken, column], positions[taken])
        self._held = pose.positions, boxes
        return boxes


def _extremes(change: NDArray[np.float32] | None, scale: float) -> Box:
    """(2, 3): the least and the largest finite displacement, and none."""
    found = np.zeros((2, 3))
    if change is not None and len(change):
        finite = np.where(np.isfinite(change), change, 0.0).astype(np.float64) * scale
        found[0], found[1] = np.minimum(finite.min(axis=0), 0.0), np.maximum(finite.max(axis=0), 0.0)
    return found
