"""A scene's lights chosen by a light tree: the module of `raystream.lighting.lights` with the tree's tables, and the
one that tells those who meet an emissive surface by chance how likely light sampling finds it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.records import HIT, LIGHT_CONTEXT
from raystream.lighting.light_tree import NODE, TRAIL_BITS, Bounds, build
from raystream.lighting.lights import LightList, Sources
from raystream.scene.light import KINDS, DeltaLights, luminance
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import LARGEST_INTEGER, ROWS, Field, Record

# Near ones: a lamp's two triangles alone are as well chosen by power, in less time (tools/benchmarks/light/lights.py).
MANY_LIGHTS = 3
# Least of a receiver's cosine: its normal may be bent by a texture, which light sampling does not look up.
LEAST_FACING = 0.05

CHANCE = Record(
    "LightChance",
    Field("probability", "float", about="with which the list has it, by power"),
    Field("area_density", "float", "1 / area", about="one over its area; 0 of lights without extent"),
)
EMITTER = Record(
    "LightEmitter",
    Field("face", "int", about="of its instance, or of the scene where that is one object; ascending", within=ROWS),
    Field("bit_trail", "ivec2", about="down the tree, see raystream.lighting.light_tree"),
    Field("area_density", "float", "1 / area", about="one over its area; 0: it is no light"),
)
OBJECT = Record(
    "LightObject",
    Field("first", "int", about="of the emitters of an instance, or of the scene", within=ROWS),
    Field("last", "int", about="behind them", within=ROWS),
)

CONTEXT = Record(
    LIGHT_CONTEXT.name,
    Field("position", "vec3", "scene units", "world"),
    Field("receiver", "vec4", "", "world", "unit normal, and 1 where light comes through the surface"),
)


class LightTrees(NamedTuple):
    """Both trees in one: nodes, see `LightTree`; near, far: links of the roots, of which one that has no light is
    never followed. bit_trails (N, 2): of the list's lights; depth: levels."""

    nodes: NDArray
    near: int
    far: int
    bit_trails: NDArray[np.int64]
    depth: int


def too_many(listed: LightList) -> bool:
    """Whether the list has more lights than nodes can be addressed for."""
    return listed.count * NODE.texels > LARGEST_INTEGER


def bounds_of(sources: Sources) -> Bounds:
    """Of a list's lights, in its order."""
    surfaces = _surfaces(sources)
    parts = [surfaces, *([_punctual(sources.punctual)] if len(sources.punctual) else [])]
    return Bounds(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _surfaces(sources: Sources) -> Bounds:
    emitting = sources.emitting
    corners = emitting.corners.astype(np.float64)
    count = len(corners)
    ball = np.zeros(count, bool) if emitting.sphere is None else emitting.sphere
    low, high = corners.min(axis=1, initial=np.inf), corners.max(axis=1, initial=-np.inf)
    middle = (low + high) / 2
    radius = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1, initial=0.0)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice = np.linalg.norm(normal, axis=1)
    shining = luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    middle[ball], radius[ball] = corners[ball, 0], corners[ball, 1, 0]
    area = np.where(ball, math.pi * radius**2, twice / 2)  # as it is seen from the front
    axis = np.where(ball[:, None], [0.0, 1.0, 0.0], normal / np.where(twice > 0, twice, 1.0)[:, None])
    both = np.zeros(count, bool) if emitting.both is None else emitting.both.copy()
    # The two sides of a surface are alike: normals that differ in sign alone belong together.
    most = np.take_along_axis(axis, np.abs(axis).argmax(axis=1)[:, None], axis=1)
    axis = np.where(both[:, None] & (most < 0), -axis, axis)
    spread = np.where(ball, math.pi, 0.0)
    return Bounds(middle, radius, axis, spread, np.full(count, math.pi / 2), _positive(area * shining), both)


def _punctual(lights: DeltaLights) -> Bounds:
    spot, far = lights.kind == KINDS.index("spot"), lights.far
    return Bounds(
        np.where(far[:, None], 0.0, lights.position),
        np.zeros(len(lights)),
        lights.direction,
        np.where(spot, lights.inner, math.pi),
        np.where(spot, lights.outer - lights.inner, math.pi / 2),
        _positive(luminance(lights.intensity)),
        np.zeros(len(lights), bool),
    )


def _positive(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """None is quite without power: it would never be chosen."""
    return np.maximum(power, 1e-9 * power.max(initial=1e-300))


def choice(sources: Sources) -> LightTrees:
    """The trees of a list's lights: of those that are near, and of those that are infinitely far."""
    bounds = bounds_of(sources)
    far = np.zeros(len(bounds.power), bool)
    far[len(far) - len(sources.punctual) :] = sources.punctual.far
    bit_trails = np.zeros((len(far), 2), np.int64)
    nodes: list[NDArray] = []
    roots, depth = [], 0
    for group in (~far, far):
        indices = np.flatnonzero(group)
        tree = build(bounds.of(indices), far=group is far)
        start = sum(len(part) for part in nodes)
        for side in ("left_link", "right_link"):
            links = tree.nodes[side].copy()
            tree.nodes[side] = np.where(links < 0, -1 - indices[np.maximum(-1 - links, 0)], links + start)
        roots.append(start if len(tree.nodes) else (-1 - int(indices[0]) if len(indices) else -1))
        bit_trails[indices] = tree.bit_trails
        nodes.append(tree.nodes)
        depth = max(depth, tree.depth)
    return LightTrees(np.concatenate(nodes), roots[0], roots[1], bit_trails, depth)


def tree_modules(listed: LightList, levels: int, base: Module | None = None) -> list[Module]:
    """The module ``lights`` with `choice`, and ``emitter_pdf`` over hits of a structure of ``levels``.

    base : the list's own. Beside it there are 96 bytes for each light, and 16 for each triangle that shines; how many
    they are is in no source.
    """
    assert listed.sources is not None
    chosen = choice(listed.sources)
    area = _areas(listed.sources)
    chances = np.zeros(len(listed.records), CHANCE.dtype)
    chances["probability"][: listed.count] = listed.probability
    chances["area_density"][: len(area)] = 1.0 / area
    nodes = chosen.nodes if len(chosen.nodes) else np.zeros(1, NODE.dtype)
    base = base or listed.module()
    uniforms = {
        **base.uniforms,
        "light_roots": ("ivec2", (chosen.near, chosen.far)),
        "light_far_share": ("float", float(listed.sources.far_share)),
    }
    lights = replace(
        base,
        provides=tuple(name for name in base.provides if name != "emitter_pdf"),
        source="shading/light_by_tree.glsl",
        memories=(*base.memories, Table("light_nodes", NODE, nodes), Table("light_chances", CHANCE, chances)),
        uniforms=uniforms,
        constants={**base.constants, "LIGHT_TRAIL_BITS": TRAIL_BITS, "LIGHT_LEAST_FACING": LEAST_FACING},
        module_state=CONTEXT,
    )
    emitters, objects = _places(listed.sources, chosen, area, levels)
    emitter_module = Module(
        "light emitters",
        provides=("emitter_pdf",),
        source="shading/emitter_by_tree.glsl",
        memories=(Table("light_emitters", EMITTER, emitters), Table("light_objects", OBJECT, objects)),
        needs=("light_sample",),
        uses=(HIT,),
    )
    return [lights, emitter_module]


def _areas(sources: Sources) -> NDArray[np.float64]:
    """(N,) of the surfaces, as the device has their corners."""
    emitting = sources.emitting
    edges = emitting.corners[:, 1:] - emitting.corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]).astype(np.float64), axis=1) / 2
    ball = np.zeros(len(area), bool) if emitting.sphere is None else emitting.sphere
    return np.where(ball, 4.0 * math.pi * emitting.corners[:, 1, 0].astype(np.float64) ** 2, area)


def _places(sources: Sources, chosen: LightTrees, area: NDArray, levels: int) -> tuple[NDArray, NDArray]:
    """The tables of `EMITTER`, all that should shine, and of `OBJECT`, by the numbers that hits have."""
    count = len(sources.listed)
    rows = np.zeros(max(count, 1), EMITTER.dtype)
    listed = sources.listed >= 0
    rows["face"][:count] = sources.triangle
    rows["bit_trail"][:count][listed] = chosen.bit_trails[sources.listed[listed]]
    rows["area_density"][:count][listed] = 1.0 / area[sources.listed[listed]]
    if levels == 1:
        objects = np.zeros(1, OBJECT.dtype)
        objects["last"] = count
        return rows, objects
    starts = sources.starts
    rows["face"][:count] -= starts[sources.instance].astype(np.int32)
    objects = np.zeros(len(starts), OBJECT.dtype)
    every = np.arange(len(starts))
    objects["first"] = np.searchsorted(sources.instance, every)
    objects["last"] = np.searchsorted(sources.instance, every, side="right")
    return rows, objects
