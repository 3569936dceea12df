"""Acceleration structures by name: the built data over a scene's triangles, and the modules that traverse it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel import bvh_build
from raystream.accel import bvh_tree as bvh
from raystream.accel.bvh_build import Bvh
from raystream.accel.bvh_tree import with_boxes_at_keys
from raystream.accel.deform import Deforming, Trees
from raystream.accel.motion import Moving, builder_corners, with_keys
from raystream.accel.primitives import box_triangles, boxes, record, triangle_module, with_quadrics
from raystream.base.errors import ViewerError
from raystream.kernels.records import RAY
from raystream.options.declare import suggestion
from raystream.scene.quadric import PlacedQuadrics
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module
from raystream.stream.declare.record import ROWS, Field, Record

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class StructureOptions:
    """Options of a structure's build and traversal, of scope ``prepare``, checked."""

    accel: str = "bvh"
    top: str = "auto"
    grid: int | str = "auto"
    build: str = "sah"
    traversal: str = "auto"
    intersection: str = "watertight"
    plane_slack: float = 1.0
    back_faces: str = "culled"
    rebuild: str = "auto"


@dataclass(frozen=True)
class Primitives:
    """A flat scene's primitives: corners (T, 3, 3) of triangles, some in the place of quadrics; ``culled`` (T,): back
    faces invisible to the camera; ``moving``: those that move while the shutter is open."""

    corners: NDArray[np.float32]
    placed: PlacedQuadrics = field(default_factory=lambda: PlacedQuadrics.joined(()))
    culled: NDArray[np.bool_] | None = None
    moving: Moving | None = None


@dataclass
class Structure:
    """A structure over a scene.

    built      : the builder's result. levels : 1, or 2 with a structure over instances.
    whole      : the traversal of passes that take a ray to its hit. stepwise : of single-kernel passes.
    make       : traversal -> modules. facts : picture metadata. statistics : for `raystream info`.
    deforming  : the objects that follow poses in place; None where nothing does. again : with other trees of these.
    """

    name: str
    built: Any
    whole: str
    stepwise: str
    make: Callable[[str], list[Module]]
    levels: int = 1
    facts: dict[str, str] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    deforming: Deforming | None = None
    again: Callable[[Trees], Structure] | None = None
    _by_traversal: dict[str, list[Module]] = field(default_factory=dict, repr=False)

    def modules(self, stepwise: bool = False) -> list[Module]:
        """The modules of the traversal and the triangle test; traversals share memory objects."""
        traversal = self.stepwise if stepwise else self.whole
        if traversal not in self._by_traversal:
            self._by_traversal[traversal] = self.make(traversal)
        return self._by_traversal[traversal]

    @property
    def tests_box(self) -> bool:
        """Whether it has one box that a kernel of eye rays can test, as `raystream.programs.traversal.IN_BOX` does."""
        return any("accel_enter" in module.provides for module in self.modules(stepwise=True))

    def made_like(self, other: Structure) -> list[Module]:
        """This structure's modules of every traversal that ``other`` has modules of, in the same order, to replace them
        one by one. Empty where they cannot: for a structure of another kind, and for two levels, whose tables change in
        place, unless both have the same objects, or triangles that move while the shutter is open."""
        if (self.name, self.levels) != (other.name, other.levels):
            return []
        both_in_motion = self.levels == 2 and self.built.has_motion and other.built.has_motion
        if self.levels == 2 and self.built is not other.built and not both_in_motion:
            return []
        names = list(other._by_traversal)  # which another thread may add to
        for traversal in names:
            if traversal not in self._by_traversal:
                self._by_traversal[traversal] = self.make(traversal)
        return [module for traversal in names for module in self._by_traversal[traversal]]

    def without_stack(self) -> None:
        """Use the traversal of `stepwise` in all passes, for drivers on which a stack fails."""
        if self.whole == "stack":
            self.whole = self.facts["traversal"] = self.stepwise

    def made(self) -> list[Module]:
        """The modules of all traversals requested so far."""
        return [module for modules in self._by_traversal.values() for module in modules]


def resolved_traversals(
    options: StructureOptions, whole: str, stepwise: str, names: tuple[str, ...]
) -> tuple[str, str]:
    """The traversals by ``options``: (of passes that take a ray to its hit, of single-kernel passes). By default
    ``whole`` and ``stepwise``. Raises ViewerError for one that is not among the structure's ``names``."""
    if options.traversal == "auto":
        return whole, stepwise
    if options.traversal not in names:
        hint = suggestion(options.traversal, names) or f"one of auto, {', '.join(names)}"
        raise ViewerError(f"--traversal {options.traversal}", f"is not a traversal of --accel {options.accel}", hint)
    return options.traversal, stepwise if options.traversal == "stack" else options.traversal


def grid_structure(
    primitives: Primitives, options: StructureOptions, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """The uniform grid over triangles and quadrics."""
    from raystream.accel.grid import build as grid_build
    from raystream.accel.grid import grid

    if options.rebuild == ON_DEVICE and not primitives.placed:
        return _grid_on_device(primitives, options, before)
    bounds, boxed = _builder_input(primitives)
    built = grid_build.build(bounds, options.grid, boxed=boxed)
    whole, stepwise = resolved_traversals(options, "dda", "dda", tuple(grid.TRAVERSALS))
    extent = float(max(built.voxel * built.resolution))
    tests = _candidate_tests(options, primitives, extent=extent)
    resolution = "x".join(map(str, built.resolution))
    return Structure(
        "grid",
        built,
        whole,
        stepwise,
        lambda traversal: [grid.module(built, traversal), *tests],
        facts={"grid": resolution, "traversal": whole},
        statistics={**built.statistics, "resolution": resolution},
    )


def _grid_on_device(primitives: Primitives, options: StructureOptions, before: Structure | None) -> Structure:
    """The uniform grid over triangles, to be built on the device; ``before``: of an earlier frame."""
    from raystream.accel.grid import grid
    from raystream.accel.grid.grid import DeviceGrid, plan

    if options.intersection == "planes":
        hint = "take --intersection watertight"
        raise ViewerError("--intersection planes", "keeps no corners, of which --rebuild device-grid builds", hint)
    earlier = before.built if before is not None and isinstance(before.built, DeviceGrid) else None
    built = plan(primitives.corners, options.grid, earlier)
    whole, stepwise = resolved_traversals(options, "dda", "dda", tuple(grid.TRAVERSALS))
    tests = _candidate_tests(options, primitives, extent=float(max(built.voxel * built.resolution)))
    resolution = "x".join(map(str, built.resolution))
    built.statistics["resolution"] = resolution
    return Structure(
        "grid",
        built,
        whole,
        stepwise,
        lambda traversal: [grid.module_over(built, built.pointers, built.lists, traversal), *tests],
        facts={"grid": resolution, "traversal": whole, "built": "on the device"},
        statistics=built.statistics,
    )


def bvh_structure(
    primitives: Primitives, options: StructureOptions, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """The bounding volume hierarchy over triangles and quadrics."""
    bounds, _ = _builder_input(primitives, mean=True)
    built: Bvh = bvh_build.build(bounds, options.build, leaf=bvh.MAX_IN_LEAF, progress=progress)
    built = with_boxes_at_keys(built, bounds, primitives.moving)
    whole, stepwise = resolved_traversals(options, "stack", "octants", bvh.TRAVERSALS)
    extent = float((built.high[0] - built.low[0]).max())
    tests = _candidate_tests(options, primitives, extent=extent, order=built.order)
    return Structure(
        "bvh",
        built,
        whole,
        stepwise,
        lambda traversal: [bvh.module([built], traversal), *tests],
        facts={"build": options.build, "traversal": whole},
        statistics=dict(built.statistics),
    )


def octree_structure(
    primitives: Primitives, options: StructureOptions, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """The octree over triangles and quadrics."""
    from raystream.accel import octree

    bounds, boxed = _builder_input(primitives)
    built = octree.build(bounds, boxed)
    whole, stepwise = resolved_traversals(options, "octants", "octants", ("octants",))
    extent = float((built.high[0] - built.low[0]).max()) if len(built.low) else 1.0
    tests = _candidate_tests(options, primitives, extent=extent)
    return Structure(
        "octree",
        built,
        whole,
        stepwise,
        lambda traversal: [octree.module(built), *tests],
        facts={"traversal": whole},
        statistics=built.statistics,
    )


def loop_structure(
    primitives: Primitives, options: StructureOptions, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """No structure: every ray is tested against all triangles and quadrics, as in Purcell et al. (2003, section 2.4).
    Raises ViewerError for more than `MAX_UNSORTED`."""
    if len(primitives.corners) > MAX_UNSORTED:
        raise ViewerError(
            "--accel none",
            f"{len(primitives.corners):,} triangles and quadrics to test against every ray",
            f"it takes up to {MAX_UNSORTED:,}; use --accel bvh",
        )
    whole, stepwise = resolved_traversals(options, "loop", "loop", ("loop",))
    bounds, _ = _builder_input(primitives)
    order = np.flatnonzero(np.isfinite(bounds).all(axis=(1, 2))).astype(np.int32)
    points = bounds[order].reshape(-1, 3)
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 1.0
    tests = _candidate_tests(options, primitives, extent=extent, order=order)
    return Structure(
        "none",
        order,
        whole,
        stepwise,
        lambda traversal: [loop_module(len(order)), *tests],
        facts={"traversal": whole},
        statistics={
            "triangles": len(primitives.corners),
            "left_out": len(primitives.corners) - len(order),
            "seconds": 0.0,
        },
    )


def _builder_input(primitives: Primitives, mean: bool = False) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
    """(corners (T, 3, 3) for builders, mask (T,) of those that stand for a box): each quadric and moving triangle
    (``mean``: its mean box) is a triangle that spans its box, duplicates are NaN. The mask is None without any."""
    bounds = builder_corners(primitives.corners, primitives.moving, primitives.culled, mean)
    if not primitives.placed and primitives.moving is None:
        return bounds, None
    boxed = np.zeros(len(bounds), bool)
    if primitives.moving is not None:
        boxed[primitives.moving.indices] = True
    if primitives.placed:
        indices = primitives.placed.indices
        bounds = bounds.copy()
        bounds[indices] = box_triangles(boxes(primitives.placed))
        boxed[indices] = True
    return bounds, boxed


def _candidate_tests(
    options: StructureOptions, primitives: Primitives, extent: float = 1.0, order: NDArray[np.int32] | None = None
) -> list[Module]:
    """The modules of the tests of a flat scene's candidates."""
    marks = None
    if primitives.placed:
        marks = np.full(len(primitives.corners), -1, np.int32)
        marks[primitives.placed.indices] = np.arange(len(primitives.placed))
    test = triangle_module(
        options.intersection,
        primitives.corners,
        extent,
        order,
        slack=options.plane_slack,
        marks=marks,
        culled=primitives.culled,
    )
    if primitives.moving is not None:
        test = with_keys(test, primitives.moving, order)
    return with_quadrics(test, record(primitives.placed)) if primitives.placed else [test]


ON_DEVICE = "device-grid"  # of `StructureOptions.rebuild`: grids are built on the device
FLAT: Mapping[str, Callable[..., Structure]] = {
    **{"bvh": bvh_structure, "grid": grid_structure, "octree": octree_structure},
    "none": loop_structure,
}
MAX_UNSORTED = 1 << 12  # triangles and quadrics that a ray is tested against without a structure
TWO_LEVEL = "two-level-"  # prefix of two-level structures' names, before the objects' structure
# A scene is traversed in one level, which is faster, up to this many triangles, about a gibibyte, or below this
# multiple of the triangles of its distinct meshes.
MAX_FLAT, MIN_REPETITION = 1 << 22, 4
GRID_CHOICES = ("adinetz", "adinetz", ("adinetz",))


def default_structure(scene: Scene) -> str:
    """The structure of ``--accel auto`` for a scene."""
    if scene.deforms:
        return f"{TWO_LEVEL}bvh"  # whose trees follow a pose
    distinct = sum(len(scene.meshes[mesh].triangles) for mesh in {instance.mesh for instance in scene.instances})
    flat = scene.triangle_count
    moves = any(instance.motion is not None for instance in scene.instances)  # boxes of objects are tighter
    return f"{TWO_LEVEL}bvh" if moves or (flat > MAX_FLAT and flat >= MIN_REPETITION * distinct) else "bvh"


TRAVERSAL = Record("Traversal", Field("candidate", "int", about="address of the next candidate", within=ROWS))


def loop_module(count: int) -> Module:
    """The loop over ``count`` candidates."""
    return Module(
        "loop over all",
        provides=("accel_start", "accel_step", "accel_candidate", "accel_more", "accel_ends"),
        source="accel/loop.glsl",
        uniforms={"loop_count": ("int", count)},
        module_state=TRAVERSAL,
        uses=(RAY,),
    )
