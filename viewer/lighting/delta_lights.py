"""Lights without extent as columns: lists of a hundred thousand of them are made without a step of Python for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.scene.light import KINDS, LUMINANCE, Light

Float = NDArray[np.float64]


class DeltaLights(NamedTuple):
    """N lights, see `Light`: kind (N,), a number of `KINDS`; position, direction, intensity (N, 3); inner, outer (N,).

    lights : the same as objects. falloff (N, 2) and solid_angle (N,) are theirs; falloff is 0 of all but spots.
    """

    lights: Sequence[Light]
    kind: NDArray[np.int8]
    position: Float
    direction: Float
    intensity: Float
    inner: Float
    outer: Float
    falloff: Float
    solid_angle: Float

    @classmethod
    def of(cls, lights: Sequence[Light]) -> DeltaLights:
        """The columns of these lights."""
        rows = list(map(_FIELDS, lights))
        columns = [list(map(itemgetter(k), rows)) for k in range(6)]
        kind = np.array(list(map(KINDS.index, columns[0])), np.int8)
        position, direction, intensity = (np.array(each, np.float64).reshape(-1, 3) for each in columns[1:4])
        inner, outer = (np.array(each, np.float64) for each in columns[4:])
        falloff = np.zeros((len(rows), 2))
        solid_angle = np.where(kind == KINDS.index("point"), 4.0 * math.pi, 0.0)
        for number in np.flatnonzero(kind == KINDS.index("spot")).tolist():
            falloff[number], solid_angle[number] = lights[number].falloff, lights[number].solid_angle
        return cls(lights, kind, position, direction, intensity, inner, outer, falloff, solid_angle)

    def __len__(self) -> int:
        return len(self.lights)

    @property
    def far(self) -> NDArray[np.bool_]:
        """(N,): whether each is infinitely far."""
        return self.kind == KINDS.index("directional")

    @property
    def flux(self) -> Float:
        """(N,): luminances of the intensities, as `viewer.scene.light.luminance` has that of each, to the bit."""
        return np.asarray((self.intensity[:, None, :] @ LUMINANCE[:, None])[:, 0, 0])

    def place(self, rows: NDArray) -> None:
        """Where they are, into rows (N,) of `viewer.lighting.lights.LIGHT` or `LIGHT_KEY`."""
        far = self.far[:, None]
        rows["at"] = np.where(far, 0.0, self.position)
        rows["along"] = np.where(far, -self.direction, self.direction)
        rows["across"][:, :2] = self.falloff


_FIELDS = attrgetter("kind", "position", "direction", "intensity", "inner", "outer")
