"""Temporal reprojection in NumPy, float64: the twin of ``shaders/film/denoise/reproject.glsl``."""

from __future__ import annotations

from typing import Any

import numpy as np
from alike_twin import (
    NORMAL_FALL,
    PLANE_FALL,
    SHORT,
    SLOPE_SLACK,
    falling,
    moved_by,
    surface_in,
    through,
    unlike,
    with_surface,
)
from numpy.typing import NDArray

from raystream.denoise.records import HISTORY
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE

ALIKE, WIDTH, STEADY, FEW, ENOUGH, LOOSE, APART = 0.25, 1.0, 4.0, 4.0, 7.5, 0.3, 10.0
STAR = [(0, 0), *((s, t) for s in (-1, 1) for t in (-1, 1)), *((2 * s, t) for s in (-1, 1) for t in (-2, 0, 2))]
STAR += [(0, 2 * s) for s in (-1, 1)]


def blended(
    lit: NDArray,
    camera: Camera,
    features: NDArray,
    past: NDArray,
    past_camera: Camera,
    longest: float,
    chance: float,
    samples: float = 1.0,
    moved: Any = (),
    flat: bool = True,
) -> NDArray:
    """(H, W) of `HISTORY`, of records of `LIT`, `FEATURES` and `HISTORY`; moved: (first, end, matrix)."""
    height, width = lit.shape
    rgb, normal, near = (lit[name].astype(float) for name in ("rgb", "normal", "nearness"))
    luminance = rgb @ LUMINANCE
    fields = [np.ones_like(luminance), luminance, luminance**2, rgb, rgb**2, normal]
    alike, close = [0.0] * len(fields), [0.0] * len(fields)
    looks, middle = through(camera, (width, height)), np.indices((height, width))
    for offset in STAR:
        at, _ = moved_by((middle[0], middle[1]), offset, (height - 1, width - 1))
        weight = falling(unlike((normal, near), (normal[at], near[at]), looks, 2, offset))
        nearby = falling(APART * np.abs(near[at] - near) / np.maximum(near, 1e-30))
        for k, values in enumerate(fields):
            wide = (..., None) if values.ndim == 3 else ...
            alike[k] = alike[k] + weight[wide] * values[at]
            close[k] = close[k] + nearby[wide] * values[at]
    fine = np.clip((ENOUGH - alike[0]) / (ENOUGH - FEW), 0, 1)
    normal = normal + fine[..., None] * (LOOSE * close[-1] / close[0][..., None] - normal)
    total, first, second = (one + fine * (other - one) for one, other in zip(alike[:3], close[:3], strict=True))
    mean, square = (one + fine[..., None] * (other - one) for one, other in zip(alike[3:5], close[3:5], strict=True))
    mean /= total[..., None]
    deviation = np.sqrt(np.maximum(square / total[..., None] - mean**2, 0))
    around = np.maximum(second / total - (first / total) ** 2, 0)

    normal_now = normal.copy()
    instance = np.where(features["triangle"] < 0, -1, features["instance"])
    view, _, _ = through(camera, (width, height))
    world = view / np.maximum(near, 1e-30)[..., None] + camera.origin
    number = features["triangle"] if flat else instance
    for begin, end, matrix in moved:
        of = (number >= begin) & (number < end)
        world[of] = world[of] @ matrix[:3, :3].T + matrix[:3, 3]
        normal[of] = normal[of] @ matrix[:3, :3].T
    place = world - past_camera.origin
    depth = place @ past_camera.basis()[2]
    tall, wide = past.shape
    origin, across, down = through(past_camera, (wide, tall))
    found = (near > 0) & (depth > 0)
    nearness = 1 / np.where(depth > 0, depth, 1)
    seen = place * nearness[..., None]
    spot = np.stack([((seen - origin[0, 0]) @ axis) / (axis @ axis) for axis in (across, down)], axis=-1)
    facing = (normal * seen).sum(-1)
    least = 0.02 * np.linalg.norm(normal, axis=-1) * np.linalg.norm(seen, axis=-1) + 1e-20
    facing = np.where(facing < 0, np.minimum(facing, -least), np.maximum(facing, least))
    slope = np.stack([normal @ across, normal @ down], axis=-1) * (nearness / facing)[..., None]
    fall = PLANE_FALL / (nearness + PLANE_FALL * SLOPE_SLACK * np.abs(slope).sum(-1))
    fall *= np.minimum(1, SHORT * (normal**2).sum(-1))
    spot = np.where(found[..., None], np.clip(spot, -2, (wide + 1, tall + 1)), -2.0)
    low = np.floor(spot).astype(int)
    part = spot - low
    names = "first", "second", "age"
    weight, sums = np.zeros((height, width)), {name: np.zeros((height, width)) for name in (*names, "variance")}
    light = np.zeros_like(rgb)
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
        there = low + (x, y)
        inside = np.clip(there, 0, (wide - 1, tall - 1))
        at = inside[..., 1], inside[..., 0]
        turn = ((past["normal"][at] - normal) ** 2).sum(-1)
        expected = nearness + (slope * (there - spot)).sum(-1)
        alike = falling(NORMAL_FALL * turn + fall * np.abs(past["nearness"][at] - expected))
        same = (there == inside).all(-1) & (alike > ALIKE) & (past["instance"][at] == instance)
        share = same * np.where(x, part[..., 0], 1 - part[..., 0]) * np.where(y, part[..., 1], 1 - part[..., 1])
        weight += share
        light += share[..., None] * past["rgb"][at]
        sums["variance"] += share * past["variance"][at]
        for name in names:
            sums[name] += share * past[name][at]

    made = np.zeros((height, width), HISTORY.dtype)
    made["normal"], made["nearness"], made["rgb"] = normal_now, lit["nearness"], lit["rgb"]
    single = np.where(lit["variance"] < 0, around, lit["variance"])
    made["variance"], made["first"], made["second"], made["age"] = single, luminance, luminance**2, samples
    made["instance"] = instance
    old = weight > 0.01
    scale = 1 / np.where(old, weight, 1)
    light, sums = light * scale[..., None], {name: value * scale for name, value in sums.items()}
    before = np.maximum(sums["second"] - sums["first"] ** 2, 0)
    bound = WIDTH * deviation + (chance * np.sqrt(np.maximum(before, single) / total))[..., None] + 1e-4 * mean
    held = np.clip(light, mean - bound, mean + bound)
    off, room = np.abs(light - held) @ LUMINANCE, bound @ LUMINANCE
    counted = np.minimum(sums["age"], longest) * room / (room + off + 1e-30)
    share = samples / (samples + counted)
    firsts = sums["first"] + share * (luminance - sums["first"])
    seconds = sums["second"] + share * (luminance**2 - sums["second"])
    own = np.where(samples + counted < STEADY * samples, single, np.maximum(seconds - firsts**2, 0))
    variance = share**2 * own + (1 - share) ** 2 * sums["variance"]
    made["rgb"] = np.where(old[..., None], held + share[..., None] * (rgb - held), made["rgb"])
    for name, value in (("first", firsts), ("second", seconds), ("age", samples + counted), ("variance", variance)):
        made[name] = np.where(old, value, made[name])
    made["variance"] = with_surface(made["variance"], surface_in(lit["variance"]))
    return made
