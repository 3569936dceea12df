"""Claims of T's text (6.2 to 6.4), measured on its structure and its back ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from raystream.scene.builtin import build as builtin
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.simulators.packets import traffic
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted import formulas, loops
from reproduction.simulators.whitted.back_ends import Emulation, Processor, wide
from reproduction.simulators.whitted.model import SETTINGS, Model, Traced, build
from reproduction.simulators.whitted.probes import INDEX, SCHLICK, directions, share

from .context import Context
from .plane_tests import differing
from .thesis_back_ends import DEPTH, SAME, SKY, drawn, fragments, prepared

DEEPEST = 8
ANGLES = range(90)
APART = (1.35, 1.5, 1.65)  # indices of the channels
MOVE = np.array([[0.0, -1.0, 0.0, 0.25], [1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, -0.125], [0.0, 0.0, 0.0, 1.0]])
TREE = ("boxes", "links", "corners", "numbers", "roots")
TOP = ("top_boxes", "top_links", "instances")
# Algorithm 6-4, and what it lacks: arguments of `formulas.reached`.
TESTED = {"printed": (False, False), "near and far exchanged": (True, False), "and none behind": (True, True)}


def structure(scene: Scene, camera: Camera, edge: int) -> dict[str, Any]:
    """Of a scene: algorithm 6-1 over its largest mesh, algorithm 6-4 over its tree, and leaves whose escape index is
    neither their neighbour nor the end of their object."""
    scene = prepared(scene)
    mesh = max(scene.meshes, key=lambda each: len(each.triangles))
    divided = formulas.halved(mesh.positions[mesh.triangles])
    traced = Traced.of(scene, SKY, DEPTH)
    own = [
        np.concatenate([each.rays["origin"], each.rays["direction"]], axis=1)
        for each in Emulation(traced).levels(camera, (edge, edge))
    ]
    rays = np.concatenate(own).astype(np.float32)
    whole = traffic(traced.model.structure, np.pad(rays, ((0, 0), (0, 1)), constant_values=loops.FAR), 1)
    tested, lost = [], []
    for exchange, behind in TESTED.values():
        count, who, faces = formulas.reached(traced.model, rays, exchange, behind)
        tested.append(count / len(rays))
        lost.append(formulas.lost(whole.face, who, faces))
    leaf = np.flatnonzero(traced.model.links[:, 2] > 0)
    escape = traced.model.links[leaf, 0]
    elsewhere = int(((escape != leaf + 1) & (escape != len(traced.model.links))).sum())
    return {
        "nodes": divided.nodes,
        "levels": divided.levels,
        "one_sided": divided.one_sided,
        "endless": divided.endless,
        "tested": [*tested, whole.boxes / len(rays)],
        "lost": lost[0],
        "lost_exchanged": lost[1],
        "neighbours": elsewhere,
    }


def rigid() -> dict[str, int]:
    """Bytes of both levels of the sphere's scene, and those that change as the sphere is turned and moved."""
    scene = builtin("sphere")
    moved = replace(scene, instances=[replace(scene.instances[0], transform=MOVE), *scene.instances[1:]])
    one, other = build(scene), build(moved)
    return {
        "tree": sum(getattr(one, name).nbytes for name in TREE),
        "below": sum(_changed(one, other, name) for name in TREE),
        "top": sum(getattr(one, name).nbytes for name in TOP),
        "above": sum(_changed(one, other, name) for name in TOP),
    }


def _changed(one: Model, other: Model, name: str) -> int:
    """Bytes of an array's entries that differ."""
    here, there = getattr(one, name), getattr(other, name)
    return here.nbytes if here.shape != there.shape else int((here != there).sum()) * here.itemsize


def grids(context: Context, edge: int) -> float:
    """The share of pixels of the sphere's scene that differ with grids as the lower level."""
    scene, pictures = prepared(builtin("sphere")), []
    for own in (SETTINGS, {"accel": "two-level-grid", "intersection": SETTINGS["intersection"]}):
        renderer = fragments(context, scene, machine="singlepass", **own)
        pictures.append(drawn(renderer, scene.camera(), (edge, edge)))
        renderer.release()
    return differing(pictures[0], pictures[1], SAME)


def angles() -> dict[str, Any]:
    """How far the tracer's directions and shares are from the formulas over `ANGLES`; beyond, total: angles without a
    root, and those at which one ray goes on."""
    off: dict[str, float] = dict.fromkeys(("reflected", "into", "out", "share", "schlick"), 0.0)
    beyond = total = 0
    for angle in ANGLES:
        turn = float(np.radians(angle))
        for inside, what in ((False, "into"), (True, "out")):
            (_, reflected), *rest = directions(angle, inside)
            wanted = np.sin(turn), np.cos(turn) * (-1 if inside else 1)
            off["reflected"] = max(off["reflected"], float(np.abs(reflected[:2] - wanted).max()))
            bent = formulas.bent(turn, INDEX, inside)
            beyond += bent is None
            total += bent is None and not rest
            if bent is not None:
                off[what] = max(off[what], float(np.abs(rest[0][1][:2] - bent).max()) if rest else 1.0)
        cosine = np.cos(turn)
        bias, scale, power = SCHLICK
        by_formula = min(max(bias + scale * (1 - cosine) ** power, 0.0), 1.0)
        ours = share(cosine, *SCHLICK)
        off["share"] = max(off["share"], abs(ours - by_formula))
        off["schlick"] = max(off["schlick"], abs(ours - float(formulas.reflectance(np.array(cosine), INDEX))))
    return {**off, "beyond": beyond, "total": total}


def weights(scene: Scene, camera: Camera, edge: int) -> dict[str, Any]:
    """Rays by level; the share of pixels still to change after each; how far recursion and weights are apart."""
    levels = list(Emulation(Traced.of(prepared(scene), SKY, DEEPEST)).levels(camera, (edge, edge)))
    recursive, weighted = formulas.nested(levels)
    return {
        "rays": [len(each.rays) for each in levels],
        "unfinished": formulas.unfinished(levels, SAME),
        "apart": float(np.abs(recursive - weighted).max()),
    }


def channels(edge: int) -> dict[str, list[int]]:
    """Rays of each level of the sphere's scene, with one index of refraction and with one for each channel."""
    scene = prepared(builtin("sphere"))
    eyes = wide(eye_rays(scene.camera(), (edge, edge)))
    rays = {}
    for name, indices in {"one": (INDEX, INDEX, INDEX), "apart": APART}.items():
        glass = scene.materials[0]
        assert glass.classic is not None
        own = replace(glass, classic=replace(glass.classic, indices=indices))
        traced = Traced.of(replace(scene, materials=[own, *scene.materials[1:]]), SKY, DEPTH)
        whole = [Processor(replace(traced, depth=depth)).trace(eyes)[1] for depth in range(DEPTH + 1)]
        rays[name] = formulas.counted(whole)
    return rays


def tree(edge: int, rays: int) -> list[dict[str, list[Any]]]:
    """The rays of a pixel of the sphere's scene, the first with that many, by level: each's parent in the level above,
    whether it is refracted, its weight in the middle channel, and whether it misses."""
    scene = prepared(builtin("sphere"))
    levels = list(Emulation(Traced.of(scene, SKY, DEPTH)).levels(scene.camera(), (edge, edge)))
    counts = sum(np.bincount(each.pixel, minlength=edge * edge) for each in levels)
    pixel = int(np.argmin(np.abs(counts - rays)))
    found, above = [], [pixel]
    for level in levels:
        own = np.flatnonzero(level.pixel == pixel)
        parent = np.array([above.index(each) for each in level.parent[own].tolist()])
        order = np.lexsort((level.refracted[own], parent))
        own, parent = own[order], parent[order]
        found.append(
            {
                "parent": parent.tolist(),
                "refracted": level.refracted[own].tolist(),
                "weight": [float(f"{each:.2g}") for each in level.weight[own, 1]],
                "missed": level.missed[own].tolist(),
            }
        )
        above = own.tolist()
    return found
