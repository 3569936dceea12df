"""The list of lights in GLSL, called on arrays, and its twin in NumPy."""

from __future__ import annotations

import math

import numpy as np
from glsl_call import Function

from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.emitters import Emitters
from raystream.lighting.environment import environment
from raystream.lighting.lights import QUANTA
from raystream.scene.environment import DARKNESS
from raystream.scene.light import Light

SIGNATURE = "bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found)"
PDF = "float environment_pdf(vec3 direction, bool compensated)"
FACING = np.float32([[[-1, 2, -1], [1, 2, -1], [0, 2, 1]]])  # above the origin, its front side down
BOUNDS = ((-3, -3, -3), (3, 3, 3))


def random(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """choose (N,) and u (N, 2), 24 bits each, as the samplers give them."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, QUANTA, count) / QUANTA, rng.integers(0, QUANTA, (count, 2)) / QUANTA


def sampler(device, listed, scene_lighting=DARKNESS, compensated=False):
    """light_sample of (position, choose, u) as it is for one kind of estimator."""
    modules = [environment(scene_lighting), listed.module()]
    function = Function(device, SIGNATURE, modules=modules, records=[LIGHT_SAMPLE])
    return lambda position, choose, u: function(position, choose, u, np.full(len(u), compensated))


def some_emitters(count: int = 12, seed: int = 3) -> Emitters:
    rng = np.random.default_rng(seed)
    corners = (rng.normal(size=(count, 1, 3)) * 2 + rng.normal(size=(count, 3, 3))).astype(np.float32)
    material = np.arange(count, dtype=np.int32) % 3
    return Emitters(corners, np.float32([[1, 2, 3], [0, 0, 40], [9, 0.1, 0]])[material], material)


PUNCTUAL = [
    Light("point", "p", (1, 2, 3), intensity=(5, 6, 7)),
    Light("spot", "s", (-1, 2, 1), (0.3, -1, 0), (9, 8, 7), 0.2, 0.9),
    Light("spot", "hard", (-1, 2, 1), (0, -1, 0), (9, 8, 7), 0.5, 0.5001),
    Light("directional", "d", direction=(1, -2, 0.5), intensity=(0.5, 0.4, 0.3)),
]


def chosen(listed, choose: np.ndarray) -> np.ndarray:
    """The number of the light, -1 for the environment: the twin of the choice, in whole numbers."""
    quantum = (choose * QUANTA).astype(np.int64)
    slot, rest = np.divmod(quantum - listed.environment_levels, max(listed.levels, 1))
    slot = np.clip(slot, 0, len(listed.records) - 1)
    number = np.where(rest < listed.records["threshold"][slot], slot, listed.records["alias"][slot])
    return np.where(quantum < listed.environment_levels, -1, number)


def folded(u: np.ndarray) -> np.ndarray:
    upper = u[:, 1] > u[:, 0]
    return np.where(
        upper[:, None],
        np.stack([u[:, 0] / 2, u[:, 1] - u[:, 0] / 2], 1),
        np.stack([u[:, 0] - u[:, 1] / 2, u[:, 1] / 2], 1),
    )


def twin(emitting, punctual, listed, number, position, u):
    """(found, direction, distance, weight, pdf) of one call in float64, from the lights themselves."""
    probability = listed.probability[number]
    if number < len(emitting.corners):
        a, b, c = emitting.corners[number].astype(np.float64)
        v, w = folded(u[None])[0]
        way = a + v * (b - a) + w * (c - a) - position
        normal = np.cross(b - a, c - a)
        area = np.linalg.norm(normal) / 2
        distance = np.linalg.norm(way)
        cosine = -normal @ way / distance / (2 * area)
        pdf = probability / area * distance**2 / cosine
        return cosine > 0, way / distance, distance, emitting.emission[number] / pdf, pdf
    light = punctual[number - len(emitting.corners)]
    intensity = np.asarray(light.intensity) / probability
    if light.kind == "directional":
        return True, -np.asarray(light.direction), 3.4e38, intensity, 0.0
    way = np.asarray(light.position) - position
    distance = np.linalg.norm(way)
    share = 1.0
    if light.kind == "spot":  # as the extension words it
        scale = 1 / max(0.001, math.cos(light.inner) - math.cos(light.outer))
        offset = -math.cos(light.outer) * scale
        share = np.clip(-way / distance @ light.direction * scale + offset, 0, 1) ** 2
    return share > 0, way / distance, distance, intensity * share / distance**2, 0.0
