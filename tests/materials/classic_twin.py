"""The classic material in NumPy float64, written from the thesis's formulas (section 6.3), and materials at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bsdf_twin import Array, dot, unit
from numpy.typing import NDArray

from raystream.kernels.records import INTERACTION
from raystream.scene.material import KINDS, ClassicMaterial, Material


class Seen(NamedTuple):
    """What (N, 3) each way gets, and the directions; ``sure``: far from the critical angle, where rounding decides."""

    reflection: Array
    refraction: Array
    diffuse: Array
    reflected: Array
    refracted: Array
    sure: NDArray[np.bool_]


def random_materials(count: int, seed: int, lit: bool = False) -> list[Material]:
    random = np.random.default_rng(seed)

    def color() -> tuple[float, float, float]:
        red, green, blue = random.random(3)
        return float(red), float(green), float(blue)

    found = []
    for k in range(count):
        low, middle, high = sorted(random.uniform(1.1, 2.2, 3))
        own = ClassicMaterial(
            *(float(random.uniform(0, 0.4)), float(random.uniform(0.2, 1)), float(random.uniform(0, 6))),
            specular=color(),
            ambient=color(),
            reflectivity=float(random.random()),
            transmittance=float(random.uniform(0.1, 1)),
            indices=(low, middle, high) if k % 2 else (middle,) * 3,
            thickness=float(random.uniform(0.1, 2)) if k % 4 > 1 else 0.0,
            thickness_model="slab" if k % 8 > 3 else "path",
            lit=lit,
        )
        found.append(Material(f"classic {k}", (*color(), 1.0), kind="classic", classic=own))
    return found


def surfaces(found: list[Material], count: int, seed: int) -> tuple[NDArray, Array]:
    """Upright ones of these materials, met from both sides."""
    random = np.random.default_rng(seed)
    at = np.zeros(count, INTERACTION.dtype)
    number = np.arange(count) % len(found)
    at["kind"] = KINDS["classic"] + 8 * number
    at["albedo"] = np.array([each.base_color[:3] for each in found])[number]
    at["normal"] = at["shading"] = unit(random.normal(size=(count, 3)))
    at["parameter"] = np.array([each.classic.indices[1] for each in found if each.classic])[number]
    at["specular"] = np.array([each.parts_channels for each in found])[number]
    wo = unit(random.normal(size=(count, 3))).astype(np.float32)
    at["wo"] = wo
    return at, wo.astype(float)


def seen(found: list[Material], at: NDArray, wo: Array, channel: int = 1) -> Seen:
    """(6.3) to (6.7), (6.30): by the indices of all channels; directions by one channel's index."""
    owns = [each.classic for each in found if each.classic]
    number = at["kind"] >> 3

    def field(name: str) -> Array:
        return np.array([getattr(own, name) for own in owns], float)[number]

    n = at["shading"].astype(float)
    n = np.where(dot(n, wo)[:, None] < 0, -n, n)
    front, sheet = dot(at["shading"].astype(float), wo) >= 0, field("thickness") > 0
    d = -wo
    cosine = np.minimum(-dot(d, n), 1.0)
    e = np.where((front | sheet)[:, None], 1 / field("indices"), field("indices"))
    root = 1 - e**2 * (1 - cosine**2)[:, None]
    share = np.clip(field("bias") + field("scale") * (1 + dot(d, n)) ** field("power"), 0, 1)
    back = np.where(root < 0, 1.0, share[:, None])
    r, t = field("reflectivity")[:, None], field("transmittance")[:, None]
    own_e, own_root = e[:, channel], np.maximum(root[:, channel], 0)
    refracted = own_e[:, None] * d + (own_e * cosine - np.sqrt(own_root))[:, None] * n
    return Seen(
        back * field("specular") * r,
        (1 - back) * field("ambient") * t,
        at["albedo"].astype(float) * (back * (1 - r) + (1 - back) * (1 - t)),
        d - 2 * dot(d, n)[:, None] * n,
        refracted,
        (np.abs(root) > 2e-3).all(axis=1),
    )


def textured(color: Array, texel: Array, mode: str, environment: Array) -> Array:
    """Table 1 of the thesis."""
    opacity, texel = texel[:, 3:], texel[:, :3]
    return {
        "replace": texel,
        "decal": color * (1 - opacity) + texel * opacity,
        "modulate": color * texel,
        "blend": color * (1 - texel) + environment * texel,
    }[mode]
