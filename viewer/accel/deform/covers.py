"""Conservative boxes of posed meshes without their vertices.

A skinned vertex is a convex combination of where its joints take it: the boxes of the vertices at rest that follow each
joint, moved by its matrix, hold all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform.deformation import MeshPose
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.geometry.triangles import LARGEST_COORDINATE

# Of the coordinates: sums of products in float32, of up to some dozen terms.
ROUNDING = 2.0**-19

Box = NDArray[np.float64]
_EMPTY = np.array([[np.inf] * 3, [-np.inf] * 3])


class DeformedBounds:
    """The boxes of one deforming mesh at rest, scaled by ``scale`` to its object's space.

    skinned : whether joints move it. sums : the least and the largest sum of a vertex's weights.
    """

    def __init__(self, mesh: DeformedMesh, scale: float) -> None:
        deformation = mesh.deformation
        self._mesh, self.scale, self.skinned = mesh, scale, deformation.skinned
        self._shift = [_extremes(target.positions, scale) for target in deformation.targets]
        sums = deformation.weights.sum(axis=1, dtype=np.float64)
        self.sums = (float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf))) if len(sums) else (1.0, 1.0)
        self._cached: tuple[object, Box] | None = None  # positions, and the boxes of them

    @property
    def convex(self) -> bool:
        """Whether weights are such that boxes hold: none is below zero."""
        return bool((self._mesh.deformation.weights >= 0).all())

    def at_rest(self, pose: MeshPose) -> Box:
        """(N, 2, 3): the boxes before joints move them, by morph weights."""
        boxes = self._boxes(pose)
        for weight, shift in zip(pose.weights.tolist(), self._shift, strict=True):
            if weight != 0.0:
                boxes = boxes + np.sort(weight * shift, axis=0)
        return boxes

    def _boxes(self, pose: MeshPose) -> Box:
        """(N, 2, 3): of the vertices that follow each joint, or of all; inf, -inf for none."""
        mesh, deformation = self._mesh, self._mesh.deformation
        if self._cached is not None and self._cached[0] is pose.positions and len(self._cached[1]) >= 1:
            return self._cached[1]
        vertices = mesh.rest.positions if pose.positions is None else pose.positions
        if not deformation.skinned and len(vertices):
            columns = vertices.T  # reductions along so short an axis are slow
            ends = np.array(
                [[coordinates.min() for coordinates in columns], [coordinates.max() for coordinates in columns]],
                np.float64,
            )
            if np.isfinite(ends).all():
                self._cached = pose.positions, ends[None] * self.scale
                return self._cached[1]
        positions = vertices.astype(np.float64) * self.scale
        sound = np.isfinite(positions).all(axis=1)
        count = len(pose.joints) if deformation.skinned else 1
        boxes = np.empty((count, 2, 3))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        if not deformation.skinned and sound.any():
            boxes[0] = positions[sound].min(axis=0), positions[sound].max(axis=0)
        for column in range(deformation.joints.shape[1]):
            influenced = np.flatnonzero((deformation.weights[:, column] != 0) & sound)
            np.minimum.at(boxes[:, 0], deformation.joints[influenced, column], positions[influenced])
            np.maximum.at(boxes[:, 1], deformation.joints[influenced, column], positions[influenced])
        self._cached = pose.positions, boxes
        return boxes


def _extremes(change: NDArray[np.float32] | None, scale: float) -> Box:
    """(2, 3): the least and the largest finite displacement, and none."""
    extremes = np.zeros((2, 3))
    if change is not None and len(change):
        finite = np.where(np.isfinite(change), change, 0.0).astype(np.float64) * scale
        extremes[0], extremes[1] = np.minimum(finite.min(axis=0), 0.0), np.maximum(finite.max(axis=0), 0.0)
    return extremes


def boxes_of(covers: Sequence[DeformedBounds], poses: Sequence[MeshPose]) -> Box:
    """(D, 2, 3) float64 of each, low and high, the object's space; zeros where nothing is finite. All joints are taken
    at once: a character may have as many meshes as it has joints."""
    with np.errstate(all="ignore"):
        parts = [cover.at_rest(pose) for cover, pose in zip(covers, poses, strict=True)]
        counts, boxes = np.array([len(part) for part in parts]), np.concatenate(parts)
        skinned = np.array([cover.skinned for cover in covers])
        of_joint, owner = np.repeat(skinned, counts), np.repeat(np.arange(len(covers)), counts)
        least, most = np.array([cover.sums for cover in covers]).T
        if of_joint.any():
            joints = np.concatenate([pose.joints for cover, pose in zip(covers, poses, strict=True) if cover.skinned])
            of = owner[of_joint]
            scales = np.array([cover.scale for cover in covers])[of, None]
            boxes[of_joint] = _moved(boxes[of_joint], joints, scales, least[of, None, None], most[of, None, None])
    boxes[~(boxes[:, 0] <= boxes[:, 1]).all(axis=1)] = _EMPTY  # those that are not finite, too
    starts = np.cumsum(counts) - counts
    low, high = np.minimum.reduceat(boxes[:, 0], starts), np.maximum.reduceat(boxes[:, 1], starts)
    nothing = low[:, 0] > high[:, 0]
    low[nothing] = high[nothing] = 0.0
    margin = ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    return np.clip(np.stack([low - margin, high + margin], axis=1), -LARGEST_COORDINATE, LARGEST_COORDINATE)


def _moved(boxes: Box, joints: Box, scales: Box, least: Box, most: Box) -> Box:
    """Boxes (J, 2, 3) of each joint's vertices where the joint (J, 4, 4) takes them: by the ``least`` and the ``most``
    sums of weights; of a sum of 0 with the origin, where vertices go that follow no joint."""
    linear, place = joints[:, :3, :3], joints[:, :3, 3] * scales
    middle, half = boxes.mean(axis=1), (boxes[:, 1] - boxes[:, 0]) / 2
    center = np.einsum("jrc,jc->jr", linear, middle) + place
    reach = np.einsum("jrc,jc->jr", np.abs(linear), half)
    reach = np.where((half >= 0).all(axis=1, keepdims=True), reach, -np.inf)
    # Large terms may cancel.
    reach += ROUNDING * (np.einsum("jrc,jc->jr", np.abs(linear), np.abs(middle) + half) + np.abs(place))
    moved = np.stack([center - reach, center + reach], axis=1)
    ends = np.stack([least * moved, most * moved])
    return np.stack([ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)], axis=1)
