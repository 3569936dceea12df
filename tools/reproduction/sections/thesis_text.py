"""T 6.2 to 6.4: what the text claims there, measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from raystream.scene.builtin import build as builtin
from raystream.scene.edits.classic_plane import GLASS
from raystream.scene.material import ClassicMaterial
from raystream.scene.scene import Scene
from reproduction.simulators.whitted.formulas import reflectance
from reproduction.simulators.whitted.probes import INDEX, SCHLICK, share

from ..context import Context
from ..drawings import draw_tree
from ..published.thesis import REFLECTION
from ..report import ARITHMETIC, OWN, Check, Parts, captioned, concluded, listed, section, tabled, told
from ..shown import Shot, sheet
from ..thesis_back_ends import DEPTH, SAME, SHARE
from ..thesis_measures import ANGLES, DEEPEST, TESTED, angles, channels, grids, rigid, structure, tree, weights
from .thesis import model as scene_of
from .thesis import of_scenes

EDGE, QUICK = 64, 24
BOUND = 1e-5  # of a direction or a share, float32
EXACT = 1e-12  # of light, float64
CHANNELS = 3
SHOWN = 13  # rays of the drawn tree
SIZE = 144
DEGREES = (0, 15, 30, 45, 60, 75, 85)
FRESNEL: Mapping[str, Any] = dict(zip(("bias", "scale", "power"), SCHLICK, strict=True))
# Materials of the sphere, which reflects, refracts, and does both by Fresnel's share.
RAYS: Mapping[str, ClassicMaterial] = {
    "reflected rays alone": replace(GLASS, bias=1.0, scale=0.0, reflectivity=1.0, transmittance=0.0),
    "refracted rays alone": replace(GLASS, bias=0.0, scale=0.0, reflectivity=0.0, transmittance=1.0),
    "both by (6.3)": replace(GLASS, **FRESNEL, reflectivity=1.0, transmittance=1.0),
}


@section(
    "thesis_text",
    paper="T 6.2, T 6.3, T 6.4",
    title="Claims of the text on structure, rays and weights, measured",
    order=2,
)
def make(context: Context) -> Parts:
    """The structure, reflected and refracted rays, and their weights."""
    yield told("thesis_text")
    yield from _structure(context)
    yield from _rays(context)
    yield from _weights(context)


# -- 6.2 ---------------------------------------------------------------------------------------------------------------


def _structure(context: Context) -> Parts:
    edge = QUICK if context.quick else EDGE
    found = yield from of_scenes(context, "structure", lambda file: structure(*scene_of(context, file), edge), edge)
    counts = ("nodes", "levels", "one_sided", "endless", "neighbours")
    rows = [(name, *(f"{each[what]:,}" for what in counts)) for name, each in found.items()]
    yield tabled("the_tree_built_as_printed", rows)
    heads = ("scene", *(f"boxes a ray, {each}" for each in TESTED), "and none beyond the hit", "hits lost as printed")
    rows = [(name, *(f"{each:.1f}" for each in found[name]["tested"]), f"{found[name]['lost']:.1%}") for name in found]
    yield tabled("algorithm_6_4_boxes_tested", rows, columns=heads, depth=DEPTH, edge=edge)
    yield concluded(
        "halved_in_turn",
        [each["endless"] == 0 for each in found.values()],
        "primitives in nodes that no axis divides: " + _listed(found, "endless", ","),
    )
    yield concluded(
        "near_and_far",
        [each["lost"] == 0 for each in found.values()],
        f"hits lost without their exchange for negative directions: {_listed(found, 'lost', '.1%')}; with it none",
    )
    lost = max(each["lost_exchanged"] for each in found.values())
    what = "algorithm 6-4 with its planes exchanged loses no hit"
    yield Check(OWN, what, "0", f"{lost:.2%}", lost == 0, "some are lost")
    yield concluded(
        "leaf_neighbour",
        [each["neighbours"] == 0 for each in found.values()],
        "leaves after which another node is next, but for the last of an object: " + _listed(found, "neighbours", ","),
    )
    yield from _two_levels(context)


def _two_levels(context: Context) -> Parts:
    made = context.keep("rigid", rigid)
    yield concluded(
        "rigid_motion",
        [made["below"] == 0],
        f"the sphere turned and moved: of {made['tree']:,} bytes of the lower level {made['below']:,} change, of "
        f"{made['top']:,} of the upper {made['above']:,}",
    )
    edge = QUICK if context.quick else 2 * EDGE
    share = context.keep(("grids below", edge), lambda: grids(context, edge))
    yield concluded(
        "any_lower_level",
        [share <= SHARE],
        f"grids in place of trees: {share:.2%} of the pixels differ; of kd-trees, which the text names, there are none "
        "here",
    )


# -- 6.3 ---------------------------------------------------------------------------------------------------------------


def _rays(context: Context) -> Parts:
    made = context.keep("angles", angles)
    towards = -np.cos(np.radians(ANGLES))  # d . n of what comes to the surface
    above = int((towards + REFLECTION * towards > 0).sum())
    what = f"(6.8) as printed, r = d + {REFLECTION:g} a: rays that leave the surface, at 0 to {ANGLES[-1]} degrees"
    why = "r . n = 3 d . n, below the surface; r = d - 2 a is meant"
    yield Check(ARITHMETIC, what, len(ANGLES), above, above == len(ANGLES), why)
    yield _near("reflected rays by (6.8) with its sign mended, a degree apart", made["reflected"])
    yield concluded(
        "snell",
        [made["into"] < BOUND, made["out"] < BOUND],
        f"index {INDEX:g}, {len(ANGLES)} angles: into glass to {made['into']:.1g}, out of it to {made['out']:.1g}; at "
        f"{made['beyond']} of them the root is negative on the way out, for which the text has no case: one ray is "
        f"reflected there at {made['total']}",
    )
    yield _near("shares by bias, scale and power (6.3), a degree apart", made["share"])
    cosines = np.cos(np.radians(DEGREES))
    shares: dict[str, Iterable[float]] = {
        "(6.3), 0.04, 0.96, 5": [share(each, *SCHLICK) for each in cosines],
        "(6.3), glass of our scenes": [share(each, GLASS.bias, GLASS.scale, GLASS.power) for each in cosines],
        f"Fresnel's equations, index {INDEX:g}": reflectance(cosines, INDEX),
    }
    rows = [(name, *(f"{each:.3f}" for each in values)) for name, values in shares.items()]
    columns = ("R_f", *(f"{degrees}°" for degrees in DEGREES))
    yield tabled("the_share_that_is_reflected", rows, columns=columns, angles=len(ANGLES), schlick=made["schlick"])
    if context.quick:
        return
    shots = [
        Shot(partial(_ball, each), (SIZE, SIZE), 1, {"program": "whitted", "depth": DEPTH, "environment": "sky"})
        for each in RAYS.values()
    ]
    png = sheet(context, "reflection and refraction", *shots, width=CHANNELS * SIZE)
    yield captioned("balls", png=png, materials="; ".join(RAYS), size=SIZE, depth=DEPTH)


def _near(what: str, off: float) -> Check:
    return Check(OWN, what, "equal", f"to {off:.1g}", off < BOUND, f"to {BOUND:g}")


def _ball(material: ClassicMaterial) -> tuple[Scene, None]:
    scene = builtin("sphere")
    own = replace(scene.materials[0], classic=replace(material, ambient=(1.0, 1.0, 1.0), vertex_colors=False))
    return replace(scene, materials=[own, *scene.materials[1:]]), None


# -- 6.3.5 to 6.4.2 ----------------------------------------------------------------------------------------------------


def _weights(context: Context) -> Parts:
    edge = QUICK if context.quick else EDGE
    found = yield from of_scenes(context, "weights", lambda file: weights(*scene_of(context, file), edge), edge)
    drawn = context.keep(("tree", edge), lambda: tree(edge, SHOWN))
    yield captioned("rays_of_pixel", svg=draw_tree(drawn), depth=DEPTH)
    rows = []
    for name, each in found.items():
        rows.append((f"{name}, rays", *(f"{count:,}" for count in each["rays"])))
        rows.append((f"{name}, pixels still to change", *(f"{part:.1%}" for part in each["unfinished"][:-1]), "-"))
    columns = ("scene", *(f"level {level}" for level in range(DEEPEST + 1)))
    yield tabled("rays_that_end_with_a", rows, columns=columns, edge=edge, same=SAME, deepest=DEEPEST, depth=DEPTH)
    apart = [each["apart"] for each in found.values()]
    yield concluded(
        "weights",
        [each < EXACT for each in apart],
        f"greatest difference of the light of {edge} x {edge} pixels, in float64: {max(apart):.1g}",
    )
    rays = context.keep(("channels", edge), lambda: channels(edge))
    ratio = [many / one for one, many in zip(*rays.values(), strict=True)]
    yield concluded(
        "three_rays",
        [max(ratio) <= CHANNELS],
        f"rays of levels 0 to {DEPTH} of the sphere's scene, an index for each channel over one index: "
        f"{listed(ratio, '.2f')}; three at each level would be up to {CHANNELS**DEPTH}",
    )


def _listed(found: Mapping[str, Mapping[str, Any]], what: str, shown: str) -> str:
    return ", ".join(f"{name} {format(each[what], shown)}" for name, each in found.items())
