"""Acceleration structures by name: the built data over a scene's triangles, and the modules that traverse it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewer.accel import loop, quadrics, triangles
from viewer.accel.bvh import build as bvh_build
from viewer.accel.bvh import tree as bvh
from viewer.accel.bvh.build import Bvh
from viewer.accel.deform.deforming import Deforming
from viewer.accel.deform.rebuild import Trees
from viewer.accel.deform.refit import RefitTables
from viewer.accel.motion import Moving, bounding, with_keys
from viewer.base.errors import ViewerError
from viewer.options.declare import suggestion
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.edits.culling import culled_of_objects
from viewer.scene.quadric import PlacedQuadric
from viewer.scene.scene import Scene
from viewer.stream.declare.kernel import Module

if TYPE_CHECKING:
    from viewer.accel.two_level.structure import TwoLevel

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Recipe:
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
    """What a flat scene holds: corners (T, 3, 3) of triangles, some of them in the place of quadrics; ``culled`` (T,):
    back faces invisible to the camera; ``moving``: those that move while the shutter is open."""

    corners: NDArray[np.float32]
    placed: Sequence[PlacedQuadric] = ()
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
    _made: dict[str, list[Module]] = field(default_factory=dict, repr=False)

    def modules(self, stepwise: bool = False) -> list[Module]:
        """The modules of the traversal and the triangle test; traversals share memory objects."""
        traversal = self.stepwise if stepwise else self.whole
        if traversal not in self._made:
            self._made[traversal] = self.make(traversal)
        return self._made[traversal]

    def made_like(self, other: Structure) -> list[Module]:
        """The modules of all traversals made for another structure, in their order: counterparts of its `made`. None
        for a structure of another kind, and for two levels, whose tables change in place, but with other trees of the
        same objects, and where both hold what moves while the shutter is open."""
        if (self.name, self.levels) != (other.name, other.levels):
            return []
        swept = self.levels == 2 and self.built.swept and other.built.swept
        if self.levels == 2 and self.built is not other.built and not swept:
            return []
        made = list(other._made)  # which another thread may add to
        for traversal in made:
            if traversal not in self._made:
                self._made[traversal] = self.make(traversal)
        return [module for traversal in made for module in self._made[traversal]]

    def without_stack(self) -> None:
        """Use the traversal of `stepwise` in all passes, for drivers on which a stack fails."""
        if self.whole == "stack":
            self.whole = self.facts["traversal"] = self.stepwise

    def made(self) -> list[Module]:
        """All modules so far."""
        return [module for modules in self._made.values() for module in modules]


def traversals(recipe: Recipe, whole: str, stepwise: str, known: tuple[str, ...]) -> tuple[str, str]:
    """The two traversals of a structure with the ``known`` ones. Raises ViewerError for another structure's."""
    if recipe.traversal == "auto":
        return whole, stepwise
    if recipe.traversal not in known:
        hint = suggestion(recipe.traversal, known) or f"one of auto, {', '.join(known)}"
        raise ViewerError(f"--traversal {recipe.traversal}", f"is not a traversal of --accel {recipe.accel}", hint)
    return recipe.traversal, stepwise if recipe.traversal == "stack" else recipe.traversal


def over_grid(
    primitives: Primitives, recipe: Recipe, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """The uniform grid over triangles and quadrics."""
    from viewer.accel.grid import build as grid_build
    from viewer.accel.grid import grid

    if recipe.rebuild == ON_DEVICE and not primitives.placed:
        return _grid_on_device(primitives, recipe, before)
    bounds, boxed = _bounding(primitives)
    built = grid_build.build(bounds, recipe.grid, boxed=boxed)
    whole, stepwise = traversals(recipe, "dda", "dda", tuple(grid.TRAVERSALS))
    extent = float(max(built.voxel * built.resolution))
    tests = _tests(recipe, primitives, extent=extent)
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


def _grid_on_device(primitives: Primitives, recipe: Recipe, before: Structure | None) -> Structure:
    """The uniform grid over triangles, to be built on the device; ``before``: of an earlier frame."""
    from viewer.accel.grid import grid
    from viewer.accel.grid.on_device import DeviceGrid, plan

    if recipe.intersection == "planes":
        hint = "take --intersection watertight"
        raise ViewerError("--intersection planes", "keeps no corners, of which --rebuild device-grid builds", hint)
    earlier = before.built if before is not None and isinstance(before.built, DeviceGrid) else None
    built = plan(primitives.corners, recipe.grid, earlier)
    whole, stepwise = traversals(recipe, "dda", "dda", tuple(grid.TRAVERSALS))
    tests = _tests(recipe, primitives, extent=float(max(built.voxel * built.resolution)))
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


def over_bvh(
    primitives: Primitives, recipe: Recipe, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """The bounding volume hierarchy over triangles and quadrics."""
    bounds, _ = _bounding(primitives)
    built: Bvh = bvh_build.build(bounds, recipe.build, leaf=bvh.MOST_IN_LEAF, progress=progress)
    whole, stepwise = traversals(recipe, "stack", "octants", bvh.TRAVERSALS)
    extent = float((built.high[0] - built.low[0]).max())
    tests = _tests(recipe, primitives, extent=extent, order=built.order)
    return Structure(
        "bvh",
        built,
        whole,
        stepwise,
        lambda traversal: [bvh.module([built], traversal), *tests],
        facts={"build": recipe.build, "traversal": whole},
        statistics=dict(built.statistics),
    )


def brute_force(
    primitives: Primitives, recipe: Recipe, progress: Progress | None = None, before: Structure | None = None
) -> Structure:
    """No structure: every ray is tested against all triangles and quadrics, as in Purcell et al. (2003, section 2.4).
    Raises ViewerError for more than `MOST_UNSORTED`."""
    if len(primitives.corners) > MOST_UNSORTED:
        raise ViewerError(
            "--accel none",
            f"{len(primitives.corners):,} triangles and quadrics to test against every ray",
            f"it takes up to {MOST_UNSORTED:,}; use --accel bvh",
        )
    whole, stepwise = traversals(recipe, "loop", "loop", ("loop",))
    bounds, _ = _bounding(primitives)
    order = np.flatnonzero(np.isfinite(bounds).all(axis=(1, 2))).astype(np.int32)
    held = bounds[order].reshape(-1, 3)
    extent = float(np.ptp(held, axis=0).max()) if len(held) else 1.0
    tests = _tests(recipe, primitives, extent=extent, order=order)
    return Structure(
        "none",
        order,
        whole,
        stepwise,
        lambda traversal: [loop.module(len(order)), *tests],
        facts={"traversal": whole},
        statistics={
            "triangles": len(primitives.corners),
            "left_out": len(primitives.corners) - len(order),
            "seconds": 0.0,
        },
    )


def _bounding(primitives: Primitives) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
    """Corners (T, 3, 3) for builders, with a triangle over the box of each quadric and of what moves, and a mask of
    those.

    Duplicate triangles are left out.
    """
    bounds = bounding(primitives.corners, primitives.moving, primitives.culled)
    if not primitives.placed and primitives.moving is None:
        return bounds, None
    boxed = np.zeros(len(bounds), bool)
    if primitives.moving is not None:
        boxed[primitives.moving.numbers] = True
    if primitives.placed:
        numbers = [quadric.number for quadric in primitives.placed]
        bounds = bounds.copy()
        bounds[numbers] = quadrics.corners_of(quadrics.boxes(primitives.placed))
        boxed[numbers] = True
    return bounds, boxed


def _tests(
    recipe: Recipe, primitives: Primitives, extent: float = 1.0, order: NDArray[np.int32] | None = None
) -> list[Module]:
    """The modules of the tests of a flat scene's candidates."""
    marks = None
    if primitives.placed:
        marks = np.full(len(primitives.corners), -1, np.int32)
        marks[[quadric.number for quadric in primitives.placed]] = np.arange(len(primitives.placed))
    test = triangles.module(
        recipe.intersection,
        primitives.corners,
        extent,
        order,
        slack=recipe.plane_slack,
        marks=marks,
        culled=primitives.culled,
    )
    if primitives.moving is not None:
        test = with_keys(test, primitives.moving, order)
    return quadrics.with_quadrics(test, quadrics.record(primitives.placed)) if primitives.placed else [test]


def over_instances(scene: Scene, recipe: Recipe, progress: Progress | None = None) -> Structure:
    """Two levels: a structure over each distinct mesh, and one over the instances of all."""
    from viewer.accel.two_level.structure import TwoLevel

    inner = recipe.accel.removeprefix(TWO_LEVEL)
    top = inner if recipe.top == "auto" else recipe.top
    whole, stepwise = (
        traversals(recipe, "stack", "octants", bvh.TRAVERSALS) if inner == "bvh" else traversals(recipe, *GRID_CHOICES)
    )
    two = TwoLevel.of(scene, top)
    sides: Sides = [None] * len(two.objects.meshes)
    if recipe.back_faces == "culled":
        sides = culled_of_objects(scene, two.objects.meshes, two.objects.of, two.objects.own)
    made = (_bvhs if inner == "bvh" else _grids)(two, recipe, sides, progress)
    return _over_objects(recipe, two, sides, made, {"top": top}, (whole, stepwise))


def _over_objects(
    recipe: Recipe,
    two: TwoLevel,
    sides: Sides,
    made: Made,
    facts: dict[str, str],
    ways: tuple[str, str],
    before: Deforming | None = None,
) -> Structure:
    """Two levels over structures that are ``made``. ways : the traversals. before : with other trees."""
    (make, built, order), (whole, stepwise), bvhs = made, ways, recipe.accel == f"{TWO_LEVEL}bvh"
    corners = [shape[o] for shape, o in zip(two.objects.corners, order, strict=True)]
    placed = [quadric for quadric in two.objects.quadrics if quadric is not None]
    marks = None
    if placed:
        count = iter(range(len(placed)))
        marked = [-1 if quadric is None else next(count) for quadric in two.objects.quadrics]
        marks = np.repeat(np.array(marked, np.int32), [len(o) for o in order])
    test = triangles.module(
        recipe.intersection,
        np.concatenate(corners) if corners else np.zeros((0, 3, 3), np.float32),
        slack=recipe.plane_slack,
        numbers=np.concatenate(order) if order else np.zeros(0, np.int32),
        marks=marks,
        culled=_in_order(sides, order),
    )
    moving = two.objects.moving_in(order)
    if moving is not None:
        test = with_keys(test, moving)
    tests = quadrics.with_quadrics(test, quadrics.record(placed)) if placed else [test]
    deforming = None
    if bvhs and not two.swept and recipe.intersection != "planes" and recipe.rebuild != "build":
        deforming = _deforming(two, built, sides, before)
    first = 0 if deforming is None else len(deforming.numbers)  # of the others

    def again(trees: Trees) -> Structure:
        assert deforming is not None
        others = _of_bvhs([*trees.bvhs, *built[first:]])
        return _over_objects(recipe, two, sides, others, facts, ways, replace(deforming, bvhs=trees))

    return Structure(
        recipe.accel,
        two,
        whole,
        stepwise,
        lambda traversal: [make(traversal), *tests, *two.modules],
        levels=2,
        facts={**facts, **({"build": recipe.build} if bvhs else {}), "traversal": whole},
        statistics={
            "objects": len(built),
            "instances": int(np.count_nonzero(two.objects.of >= 0)),
            "triangles": two.objects.triangles,
            "seconds": float(sum(each.statistics["seconds"] for each in built)),
            **two.top.statistics,
        },
        deforming=deforming,
        again=None if deforming is None else again,
    )


def _deforming(two: TwoLevel, built: Sequence[Bvh], sides: Sides, before: Deforming | None) -> Deforming | None:
    """What follows poses, its instances within boxes that are found without vertices from the first pose on; or
    ``before`` with tables of its trees."""
    objects = two.objects
    meshes = [mesh for mesh in objects.meshes[: len(objects.deforming)] if isinstance(mesh, DeformedMesh)]
    if not meshes or objects.bound:
        return None
    count = len(meshes)
    firsts = np.cumsum([0, *(len(mesh.rest.positions) for mesh in meshes)])[:-1]
    faces = [mesh.triangles for mesh in meshes]
    trees = RefitTables(built[:count], faces, firsts, sides[:count], any(each is not None for each in sides))
    if before is not None:
        return replace(before, trees=trees)
    found = Deforming.of(objects.deforming, meshes, objects.scales[:count], trees, built[:count])
    if found is not None:
        two.top.often = True
        boxes = (cover.of(mesh.pose) for cover, mesh in zip(found.covers, meshes, strict=True))
        two.cover(dict(enumerate(boxes)))
    return found


Sides = list[NDArray[np.bool_] | None]


def _in_order(sides: Sides, order: list[NDArray[np.int32]]) -> NDArray[np.bool_] | None:
    """``culled`` in the order of the triangles' table, one object after the other."""
    if all(each is None for each in sides):
        return None
    return np.concatenate([np.zeros(len(o), bool) if s is None else s[o] for s, o in zip(sides, order, strict=True)])


Made = tuple[Callable[[str], Module], list[Any], list[NDArray[np.int32]]]


def _bvhs(two: TwoLevel, recipe: Recipe, sides: Sides, progress: Progress | None) -> Made:
    """The maker of the module of the objects' hierarchies, these, and the order of each one's triangles."""
    first = 0 if two.swept else len(two.objects.deforming)
    posed = [number < first for number in range(len(two.objects.corners))]
    built = [
        # Triangles that lie in one place now may not in another pose.
        bvh_build.build(
            corners if follows else bounding(corners, moving, culled),
            recipe.build,
            leaf=bvh.MOST_IN_LEAF,
            progress=share,
        )
        for (corners, share), moving, culled, follows in zip(
            _shares(two.objects.corners, progress), two.objects.moving, sides, posed, strict=True
        )
    ]
    return _of_bvhs(built)


def _of_bvhs(built: list[Bvh]) -> Made:
    """The same of hierarchies that have been built."""
    # An empty scene still has an object, which no instance uses.
    held = built or [bvh_build.build(np.zeros((0, 3, 3), np.float32))]
    return lambda traversal: bvh.module(held, traversal), built, [each.order for each in built]


def _grids(two: TwoLevel, recipe: Recipe, sides: Sides, progress: Progress | None) -> Made:
    """The same for grids."""
    from viewer.accel.grid import build as grid_build
    from viewer.accel.grid import objects as grid_objects

    built = []
    parts = zip(_shares(two.objects.corners, progress), two.objects.quadrics, two.objects.moving, sides, strict=True)
    for (corners, share), quadric, moving, culled in parts:
        boxed = None if quadric is None else np.ones(1, bool)
        if moving is not None:
            boxed = np.zeros(len(corners), bool)
            boxed[moving.numbers] = True
        built.append(grid_build.build(bounding(corners, moving, culled), recipe.grid, boxed=boxed))
        if share is not None:
            share(1.0, "building the grids")
    held = built or [grid_build.build(np.zeros((0, 3, 3), np.float32))]
    order = [np.arange(len(corners), dtype=np.int32) for corners in two.objects.corners]
    return lambda traversal: grid_objects.module(held), built, order


def _shares(
    parts: Sequence[NDArray[np.float32]], progress: Progress | None
) -> Iterator[tuple[NDArray[np.float32], Progress | None]]:
    """Each part, with its own share of the progress."""
    total, before = max(1, sum(map(len, parts))), 0
    for part in parts:
        yield part, None if progress is None else partial(_share, progress, before / total, len(part) / total)
        before += len(part)


def _share(progress: Progress, before: float, of: float, share: float, text: str) -> None:
    progress(before + of * share, text)


ON_DEVICE = "device-grid"  # of `Recipe.rebuild`: grids are built on the device
FLAT: Mapping[str, Callable[..., Structure]] = {"bvh": over_bvh, "grid": over_grid, "none": brute_force}
MOST_UNSORTED = 1 << 12  # triangles and quadrics that a ray is tested against without a structure
TWO_LEVEL = "two-level-"  # prefix of two-level structures' names, before the objects' structure
# A scene is traversed in one level, which is faster, up to this many triangles, about a gibibyte, or below this
# multiple of the triangles of its distinct meshes.
MOST_FLAT, LEAST_REPEATED = 1 << 22, 4
GRID_CHOICES = ("adinetz", "adinetz", ("adinetz",))


def automatic(scene: Scene) -> str:
    """The structure of ``--accel auto`` for a scene."""
    if scene.deforms:
        return f"{TWO_LEVEL}bvh"  # whose trees follow a pose
    distinct = sum(len(scene.meshes[mesh].triangles) for mesh in {instance.mesh for instance in scene.instances})
    flat = scene.triangle_count
    moves = any(instance.motion is not None for instance in scene.instances)  # boxes of objects are tighter
    return f"{TWO_LEVEL}bvh" if moves or (flat > MOST_FLAT and flat >= LEAST_REPEATED * distinct) else "bvh"
