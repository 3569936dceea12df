"""Two-level structures: one structure over each object, and one over the instances of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel import bvh_build, primitives
from raystream.accel import bvh_tree as bvh
from raystream.accel.bvh_build import Bvh
from raystream.accel.bvh_tree import keyed
from raystream.accel.deform import Deforming, RefitTables, Trees, boxes_of
from raystream.accel.motion import Moving, bounding, with_keys
from raystream.accel.structures import GRID_CHOICES, TWO_LEVEL, Progress, Structure, StructureOptions, traversals
from raystream.accel.two_level.structure import TwoLevel
from raystream.accel.two_level.top import TopBvhOptions
from raystream.scene.deform import DeformedMesh
from raystream.scene.edits.materials import culled_of_objects
from raystream.scene.quadric import PlacedQuadrics
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module

Sides = list[NDArray[np.bool_] | None]  # of each object its triangles' ``culled``
# The maker of a module, what it is over, and the order of each one's triangles.
LowerLevel = tuple[Callable[[str], Module], list[Any], list[NDArray[np.int32]]]


def over_instances(scene: Scene, options: StructureOptions, progress: Progress | None = None) -> Structure:
    """Two levels: a structure over each distinct mesh, and one over the instances of all."""
    inner = options.accel.removeprefix(TWO_LEVEL)
    top = inner if options.top == "auto" else options.top
    choices = ("stack", "octants", bvh.TRAVERSALS) if inner == "bvh" else GRID_CHOICES
    whole, stepwise = traversals(options, *choices)
    two = TwoLevel.of(scene, top, TopBvhOptions(options.build, options.traversal == "escape"))
    sides: Sides = [None] * len(two.objects.meshes)
    if options.back_faces == "culled":
        sides = culled_of_objects(scene, two.objects.meshes, two.objects.of, two.objects.baked)
    lower_level = (_bvhs if inner == "bvh" else _grids)(two, options, sides, progress)
    return _over_objects(options, two, sides, lower_level, {"top": top}, (whole, stepwise))


def _over_objects(
    options: StructureOptions,
    two: TwoLevel,
    sides: Sides,
    lower_level: LowerLevel,
    facts: dict[str, str],
    traversal_names: tuple[str, str],
    before: Deforming | None = None,
) -> Structure:
    """Two levels over those of ``lower_level``. traversal_names : of both schedules. before : with other trees."""
    (make, built, order), (whole, stepwise), bvhs = lower_level, traversal_names, options.accel == f"{TWO_LEVEL}bvh"
    corners = [shape[o] for shape, o in zip(two.objects.corners, order, strict=True)]
    placed = PlacedQuadrics.joined([quadric for quadric in two.objects.quadrics if quadric is not None])
    marks = None
    if placed:
        firsts = np.cumsum([0, *(0 if quadric is None else len(quadric) for quadric in two.objects.quadrics)]).tolist()
        marked = [
            np.full(len(o), -1, np.int32) if quadric is None else (first + o).astype(np.int32)
            for quadric, first, o in zip(two.objects.quadrics, firsts, order, strict=False)
        ]
        marks = np.concatenate(marked)
    test = primitives.triangle_module(
        options.intersection,
        np.concatenate(corners) if corners else np.zeros((0, 3, 3), np.float32),
        slack=options.plane_slack,
        indices=np.concatenate(order) if order else np.zeros(0, np.int32),
        marks=marks,
        culled=_in_order(sides, order),
    )
    moving = two.objects.moving_in(order)
    if moving is not None:
        test = with_keys(test, moving)
    tests = primitives.with_quadrics(test, primitives.record(placed)) if placed else [test]
    deforming = None
    if bvhs and not two.swept and options.intersection != "planes" and options.rebuild != "build":
        deforming = _deforming(two, built, sides, before)
    first = 0 if deforming is None else len(deforming.indices)  # of the others

    def again(trees: Trees) -> Structure:
        assert deforming is not None
        rebuilt = _of_bvhs([*trees.bvhs, *built[first:]])
        return _over_objects(options, two, sides, rebuilt, facts, traversal_names, replace(deforming, bvhs=trees))

    return Structure(
        options.accel,
        two,
        whole,
        stepwise,
        lambda traversal: [make(traversal), *tests, *two.modules],
        levels=2,
        facts={**facts, **({"build": options.build} if bvhs else {}), "traversal": whole},
        statistics={
            "objects": len(built),
            "instances": int(np.count_nonzero(two.objects.of >= 0)),
            "triangles": two.objects.triangles,
            "seconds": float(sum(inner.statistics["seconds"] for inner in built)),
            **two.top.statistics,
        },
        deforming=deforming,
        again=None if deforming is None else again,
    )


def _deforming(two: TwoLevel, built: Sequence[Bvh], sides: Sides, before: Deforming | None) -> Deforming | None:
    """A structure that follows poses, with boxes of instances found without vertices from the first pose on; or
    ``before`` with tables of its trees."""
    objects = two.objects
    meshes = [mesh for mesh in objects.meshes[: len(objects.deforming)] if isinstance(mesh, DeformedMesh)]
    if not meshes or objects.bound:
        return None
    count = len(meshes)
    firsts = np.cumsum([0, *(len(mesh.rest.positions) for mesh in meshes)])[:-1]
    faces = [mesh.triangles for mesh in meshes]
    trees = RefitTables(built[:count], faces, firsts, sides[:count], any(flags is not None for flags in sides))
    if before is not None:
        return replace(before, trees=trees)
    deforming = Deforming.of(objects.deforming, meshes, objects.scales[:count], trees, built[:count])
    if deforming is not None:
        two.top.often = True
        two.cover(dict(enumerate(boxes_of(deforming.covers, [mesh.pose for mesh in meshes]))))
    return deforming


def _in_order(sides: Sides, order: list[NDArray[np.int32]]) -> NDArray[np.bool_] | None:
    """``culled`` in the order of the triangles' table, one object after the other."""
    if all(flags is None for flags in sides):
        return None
    return np.concatenate([np.zeros(len(o), bool) if s is None else s[o] for s, o in zip(sides, order, strict=True)])


def _bvhs(two: TwoLevel, options: StructureOptions, sides: Sides, progress: Progress | None) -> LowerLevel:
    """The maker of the module of the objects' hierarchies, these, and the order of each one's triangles."""
    first = 0 if two.swept else len(two.objects.deforming)
    posed = [index < first for index in range(len(two.objects.corners))]
    built = [
        # Triangles that lie in one place now may not in another pose.
        _tree(corners if follows else bounding(corners, moving, culled, mean=True), moving, options, report)
        for (corners, report), moving, culled, follows in zip(
            _with_progress(two.objects.corners, progress), two.objects.moving, sides, posed, strict=True
        )
    ]
    return _of_bvhs(built)


def _tree(
    bounds: NDArray[np.float32], moving: Moving | None, options: StructureOptions, progress: Progress | None
) -> Bvh:
    built = bvh_build.build(bounds, options.build, leaf=bvh.MOST_IN_LEAF, progress=progress)
    return keyed(built, bounds, moving)


def _of_bvhs(built: list[Bvh]) -> LowerLevel:
    """The same of hierarchies that have been built."""
    # An empty scene still has an object, which no instance uses.
    trees = built or [bvh_build.build(np.zeros((0, 3, 3), np.float32))]
    return lambda traversal: bvh.module(trees, traversal), built, [tree.order for tree in built]


def _grids(two: TwoLevel, options: StructureOptions, sides: Sides, progress: Progress | None) -> LowerLevel:
    """The same for grids."""
    from raystream.accel.grid import blocks as grid_blocks
    from raystream.accel.grid import build as grid_build

    built = []
    parts = zip(
        _with_progress(two.objects.corners, progress), two.objects.quadrics, two.objects.moving, sides, strict=True
    )
    for (corners, report), quadric, moving, culled in parts:
        boxed = None if quadric is None else np.ones(len(quadric), bool)
        if moving is not None:
            boxed = np.zeros(len(corners), bool)
            boxed[moving.indices] = True
        built.append(grid_build.build(bounding(corners, moving, culled), options.grid, boxed=boxed))
        if report is not None:
            report(1.0, "building the grids")
    grids = built or [grid_build.build(np.zeros((0, 3, 3), np.float32))]
    order = [np.arange(len(corners), dtype=np.int32) for corners in two.objects.corners]
    return lambda traversal: grid_blocks.module(grids), built, order


def _with_progress(
    parts: Sequence[NDArray[np.float32]], progress: Progress | None
) -> Iterator[tuple[NDArray[np.float32], Progress | None]]:
    """Each part, with its own share of the progress."""
    total, before = max(1, sum(map(len, parts))), 0
    for part in parts:
        yield part, None if progress is None else partial(_scaled_progress, progress, before / total, len(part) / total)
        before += len(part)


def _scaled_progress(progress: Progress, before: float, scale: float, fraction: float, text: str) -> None:
    progress(before + scale * fraction, text)
