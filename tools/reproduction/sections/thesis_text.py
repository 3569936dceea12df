"""T 6.2 to 6.4: what the text claims of structure, rays and weights, measured on the thesis's own structure and back
ends; its materials (T 6.3): textures in turn (table 1, figure 6-5), filters (6-6), sheets (6-11), channels apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.scene.builtin import build as builtin
from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.camera import Camera
from raystream.scene.edits.classic_plane import GLASS
from raystream.scene.material import CLASSIC_MODES, ClassicMaterial, ClassicTexture, Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from reproduction.simulators.packets import traffic
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted import formulas, loops
from reproduction.simulators.whitted.back_ends import Emulation, Processor, wide
from reproduction.simulators.whitted.model import SETTINGS, Traced, build
from reproduction.simulators.whitted.probes import INDEX, SCHLICK, directions, share

from .. import report
from ..context import Context
from ..drawings import draw_tree
from ..plane_tests import differing
from ..published.thesis import REFLECTION
from ..report import Absent, Figure, Parts, captioned, checked, concluded, listed, section, tabled, told, worded
from ..shown import Shot, sheet, webp
from ..thesis_back_ends import DEPTH, SAME, SHARE, SKY, drawn, fragments, prepared
from .thesis import model as scene_of
from .thesis import of_scenes

EDGE, QUICK = 64, 24
BOUND = 1e-5  # of a direction or a share, float32
ADDED = 1e-12  # of light, float64
CHANNELS = 3
SHOWN = 13  # rays of the drawn tree
BALL = 144
DEGREES = (0, 15, 30, 45, 60, 75, 85)
WHITE = (1.0, 1.0, 1.0)
FRESNEL: Mapping[str, Any] = dict(zip(("bias", "scale", "power"), SCHLICK, strict=True))
# Materials of the sphere, which reflects, refracts, and does both by Fresnel's share.
RAYS: Mapping[str, ClassicMaterial] = {
    "reflected rays alone": replace(GLASS, bias=1.0, scale=0.0, reflectivity=1.0, transmittance=0.0),
    "refracted rays alone": replace(GLASS, bias=0.0, scale=0.0, reflectivity=0.0, transmittance=1.0),
    "both by (6.3)": replace(GLASS, **FRESNEL, reflectivity=1.0, transmittance=1.0),
}
DEEPEST = 8
ANGLES = range(90)
APART = (1.35, 1.5, 1.65)  # indices of the channels
MOVE = np.array([[0.0, -1.0, 0.0, 0.25], [1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, -0.125], [0.0, 0.0, 0.0, 1.0]])
TREE = ("boxes", "links", "corners", "numbers", "roots")
TOP = ("top_boxes", "top_links", "instances")
# Algorithm 6-4, and what it lacks: arguments of `formulas.reached`.
TESTED = {"printed": (False, False), "near and far exchanged": (True, False), "and none behind": (True, True)}


@section(
    "thesis_text",
    paper="T 6.2, T 6.3, T 6.4",
    title="Claims of the text on structure, rays and weights, measured",
    order=2,
)
def thesis_text(context: Context) -> Parts:
    """The structure, reflected and refracted rays, and their weights."""
    yield told("thesis_text")
    edge = QUICK if context.quick else EDGE
    found = yield from of_scenes(context, "structure", lambda file: structure(*scene_of(context, file), edge), edge)

    def of(what: str, shown: str) -> str:
        return report.by_name({name: each[what] for name, each in found.items()}, shown)

    counts = ("nodes", "levels", "one_sided", "endless", "neighbours")
    rows = [(name, *(f"{each[what]:,}" for what in counts)) for name, each in found.items()]
    yield tabled("the_tree_built_as_printed", rows)
    heads = ("scene", *(f"boxes a ray, {each}" for each in TESTED), "and none beyond the hit", "hits lost as printed")
    rows = [(name, *(f"{one:.1f}" for one in each["tested"]), f"{each['lost']:.1%}") for name, each in found.items()]
    yield tabled("algorithm_6_4_boxes_tested", rows, columns=heads, depth=DEPTH, edge=edge)
    for claim, what, shown in (("halved_in_turn", "endless", ","), ("near_and_far", "lost", ".1%")):
        yield concluded(claim, [each[what] == 0 for each in found.values()], worded(claim, found=of(what, shown)))
    lost = max(each["lost_exchanged"] for each in found.values())
    yield checked("exchanged", lost == 0, lost=lost)
    alone = [each["neighbours"] == 0 for each in found.values()]
    yield concluded("leaf_neighbour", alone, worded("leaf_neighbour", found=of("neighbours", ",")))
    moved = context.keep("rigid", rigid)
    yield concluded("rigid_motion", [moved["below"] == 0], worded("rigid_motion", moved=moved))
    grid_edge = QUICK if context.quick else 2 * EDGE
    differ = context.keep(("grids below", grid_edge), lambda: grids(context, grid_edge))
    yield concluded("any_lower_level", [differ <= SHARE], worded("any_lower_level", share=differ))
    yield from _rays(context)
    found = yield from of_scenes(context, "weights", lambda file: weights(*scene_of(context, file), edge), edge)
    drawn_tree = context.keep(("tree", edge), lambda: tree(edge, SHOWN))
    yield captioned("rays_of_pixel", svg=draw_tree(drawn_tree), depth=DEPTH)
    rows = []
    for name, each in found.items():
        rows.append((f"{name}, rays", *(f"{count:,}" for count in each["rays"])))
        rows.append((f"{name}, pixels still to change", *(f"{part:.1%}" for part in each["unfinished"][:-1]), "-"))
    columns = ("scene", *(f"level {level}" for level in range(DEEPEST + 1)))
    yield tabled("rays_that_end_with_a", rows, columns=columns, edge=edge, same=SAME, deepest=DEEPEST, depth=DEPTH)
    apart = [each["apart"] for each in found.values()]
    yield concluded("weights", [each < ADDED for each in apart], worded("weights", edge=edge, most=max(apart)))
    rays = context.keep(("channels", edge), lambda: channels(edge))
    ratio = [many / one for one, many in zip(*rays.values(), strict=True)]
    texts = {"depth": DEPTH, "ratio": listed(ratio, ".2f"), "most": CHANNELS**DEPTH}
    yield concluded("three_rays", [max(ratio) <= CHANNELS], worded("three_rays", **texts))


def _rays(context: Context) -> Parts:
    """Reflected and refracted rays, a degree apart."""
    made = context.keep("angles", angles)
    towards = -np.cos(np.radians(ANGLES))  # d . n of what comes to the surface
    above, many = int((towards + REFLECTION * towards > 0).sum()), len(ANGLES)
    yield checked("reflection_sign", above == many, sign=REFLECTION, last=ANGLES[-1], all=many, above=above)
    texts = {"bound": BOUND, "what": "reflected rays by (6.8) with its sign mended, a degree apart"}
    yield checked("near_formula", made["reflected"] < BOUND, off=made["reflected"], **texts)
    text = worded("snell", index=INDEX, angles=many, made=made)
    yield concluded("snell", [made[way] < BOUND for way in ("into", "out")], text)
    texts["what"] = "shares by bias, scale and power (6.3), a degree apart"
    yield checked("near_formula", made["share"] < BOUND, off=made["share"], **texts)
    cosines = np.cos(np.radians(DEGREES))
    shares: dict[str, Iterable[float]] = {
        "(6.3), 0.04, 0.96, 5": [share(each, *SCHLICK) for each in cosines],
        "(6.3), glass of our scenes": [share(each, GLASS.bias, GLASS.scale, GLASS.power) for each in cosines],
        f"Fresnel's equations, index {INDEX:g}": formulas.reflectance(cosines, INDEX),
    }
    rows = [(name, *(f"{each:.3f}" for each in values)) for name, values in shares.items()]
    columns = ("R_f", *(f"{degrees}°" for degrees in DEGREES))
    yield tabled("the_share_that_is_reflected", rows, columns=columns, angles=many, schlick=made["schlick"])
    if not context.quick:
        settings = {"program": "whitted", "depth": DEPTH, "environment": "sky"}
        plain = [replace(each, ambient=WHITE, vertex_colors=False) for each in RAYS.values()]
        shots = [Shot(partial(_ball, each), (BALL, BALL), 1, settings) for each in plain]
        png = sheet(context, "reflection and refraction", *shots, width=CHANNELS * BALL)
        yield captioned("balls", png=png, materials="; ".join(RAYS), size=BALL, depth=DEPTH)


def _ball(material: ClassicMaterial) -> tuple[Scene, None]:
    scene = builtin("sphere")
    return replace(scene, materials=[replace(scene.materials[0], classic=material), *scene.materials[1:]]), None


def structure(scene: Scene, camera: Camera, edge: int) -> dict[str, Any]:
    """Of a scene: algorithm 6-1 over its largest mesh, algorithm 6-4 over its tree, and leaves whose escape index is
    neither their neighbour nor the end of their object."""
    scene = prepared(scene)
    mesh = max(scene.meshes, key=lambda each: len(each.triangles))
    divided, traced = formulas.halved(mesh.positions[mesh.triangles]), Traced.of(scene, SKY, DEPTH)
    levels = [level.rays for level in Emulation(traced).levels(camera, (edge, edge))]
    own = [np.concatenate([each["origin"], each["direction"]], axis=1) for each in levels]
    rays = np.concatenate(own).astype(np.float32)
    whole = traffic(traced.model.structure, np.pad(rays, ((0, 0), (0, 1)), constant_values=loops.FAR), 1)
    tested, lost = [], []
    for exchange, behind in TESTED.values():
        count, who, faces = formulas.reached(traced.model, rays, exchange, behind)
        tested.append(count / len(rays))
        lost.append(formulas.lost(whole.face, who, faces))
    leaf = np.flatnonzero(traced.model.links[:, 2] > 0)
    escape = traced.model.links[leaf, 0]
    return {
        **{name: getattr(divided, name) for name in ("nodes", "levels", "one_sided", "endless")},
        "tested": [*tested, whole.boxes / len(rays)],
        "lost": lost[0],
        "lost_exchanged": lost[1],
        "neighbours": int(((escape != leaf + 1) & (escape != len(traced.model.links))).sum()),
    }


def rigid() -> dict[str, int]:
    """Bytes of both levels of the sphere's scene, and those that change as the sphere is turned and moved."""
    scene = builtin("sphere")
    moved = replace(scene, instances=[replace(scene.instances[0], transform=MOVE), *scene.instances[1:]])
    one, other = build(scene), build(moved)

    def changed(name: str) -> int:
        here, there = getattr(one, name), getattr(other, name)
        return here.nbytes if here.shape != there.shape else int((here != there).sum()) * here.itemsize

    tree, top = (sum(getattr(one, name).nbytes for name in names) for names in (TREE, TOP))
    return {"tree": tree, "below": sum(map(changed, TREE)), "top": top, "above": sum(map(changed, TOP))}


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
        cosine, (bias, scale, power) = np.cos(turn), SCHLICK
        by_formula, ours = min(max(bias + scale * (1 - cosine) ** power, 0.0), 1.0), share(cosine, *SCHLICK)
        off["share"] = max(off["share"], abs(ours - by_formula))
        off["schlick"] = max(off["schlick"], abs(ours - float(formulas.reflectance(np.array(cosine), INDEX))))
    return {**off, "beyond": beyond, "total": total}


def weights(scene: Scene, camera: Camera, edge: int) -> dict[str, Any]:
    """Rays by level; the share of pixels still to change after each; how far recursion and weights are apart."""
    levels = list(Emulation(Traced.of(prepared(scene), SKY, DEEPEST)).levels(camera, (edge, edge)))
    recursive, weighted = formulas.nested(levels)
    apart, unfinished = float(np.abs(recursive - weighted).max()), formulas.unfinished(levels, SAME)
    return {"rays": [len(each.rays) for each in levels], "unfinished": unfinished, "apart": apart}


def channels(edge: int) -> dict[str, list[int]]:
    """Rays of each level of the sphere's scene, with one index of refraction and with one for each channel."""
    scene, rays = prepared(builtin("sphere")), {}
    eyes, glass = wide(eye_rays(scene.camera(), (edge, edge))), scene.materials[0]
    assert glass.classic is not None
    for name, indices in {"one": (INDEX, INDEX, INDEX), "apart": APART}.items():
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
        shown = [float(f"{each:.2g}") for each in level.weight[own, 1]]
        flags = {"refracted": level.refracted[own].tolist(), "weight": shown, "missed": level.missed[own].tolist()}
        found.append({"parent": parent.tolist(), **flags})
        above = own.tolist()
    return found


# -- materials ---------------------------------------------------------------------------------------------------------

PLAIN = ClassicMaterial()  # which neither reflects nor refracts: it shines in its colour
# Colours of table 1, exact in a half float but for the material's.
COLOR, TEXEL, OPACITY, ENVIRONMENT = (0.2, 0.6, 0.3), (0.5, 0.25, 0.75), 0.25, (1.0, 0.5, 0.0)
EXACT = 1e-6  # float32 of a few products
GREEN = (0.15, 0.55, 0.2)
SIZE, QUICK_SIZE = 320, 64
SETTING: dict[str, Any] = {"program": "whitted", "depth": 5, "environment": "sky"}
PANE = [[(-1.3, 0.0, 1.9), (1.9, 0.0, 1.9), (1.9, 2.2, 1.9), (-1.3, 2.2, 1.9)]]
# Textures in turn, and those of them that remain to be seen.
HIDDEN = {"marble, grid, wood": "wood", "wood, marble, grid": "marble, grid"}
SLANT = 45.0  # degrees from the normal, of a ray through the pane
FORMULAS = {
    "replace": "T_c",
    "decal": "C_c (1 - T_a) + T_c T_a",
    "modulate": "C_c T_c",
    "blend": "C_c (1 - T_c) + T_e T_c",
}


@section("classic", paper="T 6.3", title="Materials (table 1; figures 6-5, 6-6, 6-11 to 6-13)")
def classic(context: Context) -> Parts:
    """Modes by their formulas, and pictures."""
    texels = [Texture(Image(np.array([[(*TEXEL, OPACITY)]], np.float16), "texel"))]
    scenes = {mode: _panel((ClassicTexture(0, mode, ENVIRONMENT),), texels, COLOR) for mode in CLASSIC_MODES}
    found = context.keep("modes", lambda: {k: v[2, 2].tolist() for k, v in _colors(scenes, context, 4).items()})
    rows, checks = [], []
    c, t, e = (np.array(each) for each in (COLOR, TEXEL, ENVIRONMENT))
    decal = c * (1 - OPACITY) + t * OPACITY
    for mode, wanted in zip(FORMULAS, (t, decal, c * t, c * (1 - t) + e * t), strict=True):
        same = float(np.abs(np.array(found[mode]) - wanted).max()) <= EXACT
        theirs, ours = listed(wanted, ".4g"), listed(found[mode], ".4g")
        rows.append((mode.upper(), FORMULAS[mode], theirs, ours))
        checks.append(checked("mode_color", same, mode=mode.upper(), theirs=theirs, ours=ours))
    own: dict[str, Any] = {"color": COLOR, "texel": TEXEL, "environment": ENVIRONMENT}
    own = {name: listed(each, ".4g") for name, each in own.items()}
    yield tabled("table_1_modes_of_textures", rows, checks, opacity=OPACITY, **own)
    yield from _order(context)
    yield tabled("formulas_of_shading", report.table("sections/shading"))
    yield from report.faults("T (6", "T 6.3", "T algorithm", "T 6.2", "T 6.4")
    if context.quick:
        yield Absent("Figures 6-6 and 6-11 to 6-13", "take long: without --quick")
        return
    glass, blue = replace(GLASS, ambient=WHITE), replace(GLASS, ambient=(0.25, 0.35, 1.0))
    sheet = replace(glass, bias=0.0, scale=0.5, reflectivity=0.3, transmittance=0.95)
    path, both = replace(sheet, thickness=0.6), ("one index", "an index for each channel")
    slab = replace(path, thickness_model="slab")
    parted = [replace(each, indices=APART) for each in (glass, path)]
    yield _balls(context, "figure_6_6", {"ambient colour white": glass, "blue": blue})
    yield _balls(context, "figure_6_11", {"without thickness": sheet, "path": path, "slab": slab}, pane=True)
    into = math.radians(SLANT)
    within = math.asin(math.sin(into) / path.indices[0])
    shift = math.sin(into - within)
    yield told("shifts", slant=SLANT, index=path.indices[0], path=shift, slab=shift / math.cos(within))
    yield _balls(context, "figure_6_12", dict(zip(both, (glass, parted[0]), strict=True)))
    yield _balls(context, "figure_6_13", dict(zip(both, (path, parted[1]), strict=True)), pane=True)


def _panel(layers: tuple[ClassicTexture, ...], textures: list[Texture], color: tuple[float, float, float]) -> Scene:
    """A square that fills the picture."""
    part = quads([[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]])
    uvs = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)
    own = Material("panel", (*color, 1.0), kind="classic", classic=replace(PLAIN, textures=layers))
    mesh = replace(part.mesh("panel", 0), uvs=uvs)
    return Scene([mesh], [Instance(0)], [own], [Camera((0, 0, 3), (0, 0, 0), fov=36)], name="panel", textures=textures)


def _colors(scenes: Mapping[str, Scene], context: Context, edge: int) -> dict[str, NDArray[np.float32]]:
    """Linear pictures of panels, by one renderer."""
    found: dict[str, NDArray[np.float32]] = {}
    first = next(iter(scenes.values()))
    renderer = Renderer(first, device=context.device, program="whitted", pixel_filter="point")
    for name, scene in scenes.items():
        renderer.update(scene=scene)
        found[name] = np.array(renderer.render((edge, edge), spp=1).linear)
    renderer.release()
    return found


def _order(context: Context) -> Parts:
    """Textures one upon the other."""
    edge, textures = QUICK_SIZE if context.quick else SIZE // 2, list(_textures().values())
    marble, grid, wood = ClassicTexture(0, "replace"), ClassicTexture(1, "modulate"), ClassicTexture(2, "replace")
    orders = {
        "green material": (),
        "marble, grid, wood": (marble, grid, wood),
        "wood, marble, grid": (wood, marble, grid),
        "wood": (wood,),
        "marble, grid": (marble, grid),
    }
    scenes, names = {name: _panel(layers, textures, GREEN) for name, layers in orders.items()}, list(orders)[:3]

    def make() -> dict[str, Any]:
        found = _colors(scenes, context, edge)
        shown = [np.rint(255 * np.clip(found[name], 0, 1) ** (1 / 2.2)).astype(np.uint8) for name in names]
        same = {last: bool(np.array_equal(found[last], found[alone])) for last, alone in HIDDEN.items()}
        return {"picture": webp(*shown), "same": same}

    made: Mapping[str, Any] = context.keep(("order", edge), make)
    yield captioned("textures_in_order", png=made["picture"], orders="; ".join(names))
    for last, alone in HIDDEN.items():
        same = made["same"][last]
        yield checked("order_hides", same, last=last, alone=alone, word="yes" if same else "no")
    text = f"{sum(made['same'].values())} of {len(HIDDEN)} orders the same bits"
    yield concluded("last_replaces", list(made["same"].values()), text)


def _textures() -> dict[str, Texture]:
    row, column = np.indices((64, 64)) / 64.0
    veins = 0.5 + 0.5 * np.sin(2 * np.pi * (2 * column + 0.35 * np.sin(2 * np.pi * 2 * row)))
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (6 * column + 0.3 * np.sin(2 * np.pi * row)))
    lines = np.where((row * 8 % 1 < 0.12) | (column * 8 % 1 < 0.12), 0.25, 1.0)
    of = {
        "marble": (veins[..., None] ** 4 * 0.45 + 0.5) * np.array([1.0, 0.98, 0.94]),
        "grid": lines[..., None] * np.ones(3),
        "wood": (rings[..., None] * 0.3 + 0.45) * np.array([1.0, 0.7, 0.4]),
    }
    made = {}
    for name, color in of.items():
        texels = np.full((64, 64, 4), 255, np.uint8)
        texels[..., :3] = np.rint(255 * np.clip(color, 0, 1))
        made[name] = Texture(Image(texels, name), name=name)
    return made


def _balls(context: Context, key: str, materials: Mapping[str, ClassicMaterial], pane: bool = False) -> Figure:
    """The thesis's sphere, with the materials in turn; or a pane before it that has them."""
    shots, title = [], worded(key)
    for material in materials.values():
        scene, own = builtin("sphere"), Material("own", kind="classic", classic=material)
        if pane:
            meshes = [*scene.meshes, quads(PANE).mesh("pane", len(scene.materials))]
            scene = replace(scene, meshes=meshes, materials=[*scene.materials, own])
            scene.instances = [*scene.instances, Instance(len(meshes) - 1, name="pane")]
        else:
            scene = replace(scene, materials=[own, *scene.materials[1:]])
            scene.meshes = [replace(scene.meshes[0], colors=None), *scene.meshes[1:]]
        shots.append(Shot(lambda scene=scene: (scene, None), (SIZE, SIZE), 1, SETTING))
    return captioned("classic_balls", png=sheet(context, title, *shots), title=title, materials="; ".join(materials))
