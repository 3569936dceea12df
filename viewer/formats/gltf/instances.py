"""Instances of meshes: of nodes, and of EXT_mesh_gpu_instancing, whose meshes stay shared."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.meshes import Meshes
from raystream.formats.gltf.nodes import Nodes
from raystream.formats.gltf.omissions import Omissions
from raystream.scene.animation import hidden
from raystream.scene.hierarchy import compose, visible_nodes
from raystream.scene.scene import Instance

# Memory of an instance: its matrix and Python objects.
_INSTANCE_BYTES = 512


class Placed(NamedTuple):
    """Instances; the place in `Nodes` of the node that each moves with, -1 of skinned ones, which their joints place,
    and of the node that each is of; transforms (I, 4, 4) relative to the first, None if all are identities."""

    instances: list[Instance]
    nodes: list[int]
    owners: list[int]
    offsets: NDArray[np.float64] | None


def read_instances(
    document: JsonObject,
    nodes: Nodes,
    meshes: Meshes,
    accessors: Accessors,
    warnings: list[str],
    omissions: Omissions,
    weighted: Collection[int] = (),
) -> Placed:
    """The instances of the nodes that are shown, if only at times.

    weighted : numbers of the nodes whose weights of morph targets are animated.
    """
    objects = document.objects("nodes")
    count = len(document.objects("meshes"))
    visible = visible_nodes(nodes.visible, nodes.parents)
    instances: list[Instance] = []
    hung: list[int] = []
    owners: list[int] = []
    offsets: dict[int, NDArray[np.float64]] = {}  # first instance of a node -> (N, 4, 4)
    flat = 0
    for place in objects.having("mesh", nodes.numbers):
        if not nodes.shown[place]:
            continue
        number, world = nodes.numbers[place], nodes.world[place]
        node = objects[number]
        drawn: list[int] = []
        with omissions:
            drawn = meshes.of(node.index("mesh", count, "mesh"), node, place, number in weighted)
        if not drawn:
            continue
        name = nodes.names[place] or f"node {number}"
        extension = node.extension("EXT_mesh_gpu_instancing")
        skinned = [mesh in meshes.deformers.skinned for mesh in drawn]
        worlds, below = world[None], np.eye(4)[None]
        if extension is not None:
            with omissions:
                worlds, below = _gpu_instances(extension, accessors, world)
            offsets[len(instances)] = np.repeat(below, len(drawn), axis=0)
        accessors.budget.charge(_INSTANCE_BYTES * len(worlds) * len(drawn))
        owners.extend([place] * (len(worlds) * len(drawn)))
        hung.extend([-1 if has_skin else place for has_skin in skinned] * len(worlds))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            flat += int(np.count_nonzero(np.linalg.det(worlds[:, :3, :3]) == 0))
        if not visible[place]:
            worlds = below = hidden(np.broadcast_to(world, worlds.shape))
        for matrix, offset in zip(worlds, below, strict=True):
            instances.extend(
                Instance(mesh, offset if free else matrix, name=name) for mesh, free in zip(drawn, skinned, strict=True)
            )
    if flat:
        warnings.append(f"{flat:,} nodes or instances have a zero scale along an axis")
    if not offsets:
        return Placed(instances, hung, owners, None)
    all_offsets = np.broadcast_to(np.eye(4), (len(instances), 4, 4)).copy()
    for instance, matrices in offsets.items():
        all_offsets[instance : instance + len(matrices)] = matrices
    return Placed(instances, hung, owners, all_offsets)


def _gpu_instances(
    extension: JsonObject, accessors: Accessors, world: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Transforms (N, 4, 4) of EXT_mesh_gpu_instancing, in the world and below the node."""
    attributes = extension.child("attributes")
    components = {
        key: accessors.floats(key, attributes, (width,), normalize)
        for key, width, normalize in (("TRANSLATION", 3, False), ("ROTATION", 4, True), ("SCALE", 3, False))
        if key in attributes
    }
    counts = {len(values) for values in components.values()}
    if len(counts) != 1:
        raise extension.fail("attributes", f"expected accessors of one count, got {sorted(counts) or 'none'}")
    count = counts.pop()
    accessors.budget.charge(_INSTANCE_BYTES * count)
    rotation = np.zeros((count, 4))
    rotation[:, 3] = 1.0
    parts = (
        components.get("TRANSLATION", np.zeros((count, 3))),
        components.get("ROTATION", rotation),
        components.get("SCALE", np.ones((count, 3))),
    )
    for key, part in zip(("TRANSLATION", "ROTATION", "SCALE"), parts, strict=True):
        if not np.isfinite(part).all():
            raise attributes.fail(key, "has non-finite values")
    below = compose(*parts)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        worlds = world @ below
    if not np.isfinite(worlds).all():
        raise extension.fail("attributes", "a transform overflows float64", "scale it down")
    return worlds, below
