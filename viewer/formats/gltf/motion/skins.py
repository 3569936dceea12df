"""Skins of glTF 2.0 (section 3.7.3): joints, inverse bind matrices, and the joints that a vertex follows."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.nodes import Nodes
from raystream.scene.hierarchy import Skin
from raystream.scene.mesh import Float, Int

# Sums of weights that are nearer to 1 than this are rounding alone: those of 8 bits are multiples of 1/255.
_ROUNDING = 1e-6


class Skins:
    """The skins of a document, each read when a node first needs it."""

    def __init__(self, document: JsonObject, nodes: Nodes, accessors: Accessors) -> None:
        self.document = document.objects("skins")
        self.count = len(document.objects("nodes"))
        self.accessors = accessors
        self._place = {number: k for k, number in enumerate(nodes.numbers)}
        self._skins: dict[int, Skin] = {}

    def of(self, number: int) -> Skin:
        """A skin over the nodes of the scene.

        Raises ViewerError for a skin without joints, joints out of range, and fewer or non-finite matrices.
        """
        if number not in self._skins:
            item = self.document[number]
            joints = item.indices("joints", self.count, "node")
            if not joints:
                raise item.fail("joints", "names no joint")
            inverse = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
            if "inverseBindMatrices" in item:
                inverse = self._matrices(item, len(joints))
            places = np.array([self._place[joint] for joint in joints], np.int64)
            self.accessors.budget.charge(128 * len(joints))
            self._skins[number] = Skin(places, inverse)
        return self._skins[number]

    def _matrices(self, item: JsonObject, count: int) -> NDArray[np.float64]:
        values = self.accessors.floats("inverseBindMatrices", item, (16,))
        if len(values) < count:
            raise item.fail("inverseBindMatrices", f"has {len(values):,} matrices for {count:,} joints")
        columns = values[:count].astype(np.float64).reshape(count, 4, 4)
        matrices = columns.transpose(0, 2, 1).copy()
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)  # as glTF demands of the file's own
        finite = np.isfinite(matrices).all(axis=(1, 2))
        if not finite.all():
            raise item.fail("inverseBindMatrices", f"matrix {int(np.argmin(finite))} is not finite")
        return matrices


def mended(joints: NDArray[np.int64], weights: NDArray[np.float32], left_out: Counter[str]) -> tuple[Int, Float]:
    """Joints (V, K) int32 and weights (V, K) float32 with sums of 1, of those in a file.

    Negative weights and those that are not finite count as 0. A vertex without any follows its first joint. Joints
    without weight are joint 0, as glTF demands, and columns without any are dropped.
    """
    with np.errstate(all="ignore"):
        positive = np.where(np.isfinite(weights) & (weights > 0), weights, np.float32(0)).astype(np.float64)
    total = positive.sum(axis=1)
    none = total <= 0
    if none.any():
        left_out["vertices have no weight; they follow their first joint"] += int(none.sum())
        positive[none] = 0.0
        positive[none, 0] = total[none] = 1.0
    off = np.abs(total - 1.0) > _ROUNDING
    positive[off] /= total[off, None]
    used = np.asarray(positive.any(axis=0))
    used[0] |= not used.any()
    used_weights = positive[:, used].astype(np.float32)
    return np.where(used_weights > 0, joints[:, used], 0).astype(np.int32), used_weights
