"""How much light a picture's surfaces get by the way they face, on average: an ambient cube, as uniforms of passes.

G. McTaggart's ambient cube ("Half-Life 2 Source Shading", 2004): a value for each way along an axis, between which
surfaces have those of three by the squares of the cosines; see ``shaders/film/upsample/facing.glsl``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viewer.scene.light import LUMINANCE
from viewer.stream.gl.stream import Stream

EVEN: Mapping[str, Any] = {"facing_low": (1.0, 1.0, 1.0), "facing_high": (1.0, 1.0, 1.0)}  # all the same
DOUBT = 20.0  # pixels of the picture's mean light that count for every way
LEAST = 0.1  # of that mean: what hardly gets any light is not parted from the little it has
BRIGHTEST = 4.0  # of that mean: a single sample that is brighter counts as this


def ambient_cube(lit: Stream) -> Mapping[str, Any]:
    """Of a stream with ``normal`` and ``rgb``, relative to the mean of its surfaces; the context must be current."""
    fields = lit.fields({"normal", "rgb"})
    with np.errstate(all="ignore"):
        light = fields["rgb"].reshape(-1, 3).astype(np.float64) @ LUMINANCE
        normal = fields["normal"].reshape(-1, 3).astype(np.float64)
        share = normal * normal
        used = np.isfinite(light) & (share.sum(axis=1) > 0.25)
        mean = float(light[used].mean()) if used.any() else 0.0
    if not mean > 0.0:
        return EVEN
    light, normal, share = np.clip(light[used] / mean, 0.0, BRIGHTEST), normal[used], share[used]
    made = {}
    for name, faces in (("facing_low", normal < 0), ("facing_high", normal > 0)):
        weights = share * faces
        values = (light @ weights + DOUBT) / (weights.sum(axis=0) + DOUBT)
        made[name] = tuple(float(value) for value in np.maximum(values, LEAST))
    return made
