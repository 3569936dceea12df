"""T 6.3: the materials of the thesis. Textures in turn (table 1, figure 6-5), filters (6-6), sheets (6-11), channels
that part (6-12, 6-13)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.scene.builtin import build
from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.camera import Camera
from raystream.scene.edits.classic_plane import GLASS
from raystream.scene.material import CLASSIC_MODES, ClassicMaterial, ClassicTexture, Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

from .. import report
from ..context import Context
from ..report import CLAIM, OWN, Absent, Check, Figure, Parts, Table, Text, captioned, faults, listed, table, tabled
from ..shown import Shot, sheet, webp

PLAIN = ClassicMaterial()  # which neither reflects nor refracts: it shines in its colour
# Colours of table 1, exact in a half float but for the material's.
COLOR, TEXEL, OPACITY, ENVIRONMENT = (0.2, 0.6, 0.3), (0.5, 0.25, 0.75), 0.25, (1.0, 0.5, 0.0)
EXACT = 1e-6  # float32 of a few products
GREEN = (0.15, 0.55, 0.2)
SIZE, QUICK = 320, 64
SKY: dict[str, Any] = {"program": "whitted", "depth": 5, "environment": "sky"}
PANE = [[(-1.3, 0.0, 1.9), (1.9, 0.0, 1.9), (1.9, 2.2, 1.9), (-1.3, 2.2, 1.9)]]
# Textures in turn, and those of them that remain to be seen.
HIDDEN = {"marble, grid, wood": "wood", "wood, marble, grid": "marble, grid"}
SLANT = 45.0  # degrees from the normal, of a ray through the pane
# Figures of the sphere: what of its glass is another.
AMBIENT = {"ambient colour white": (1.0, 1.0, 1.0), "blue": (0.25, 0.35, 1.0)}


@report.section("classic", paper="T 6.3", title="Materials (table 1; figures 6-5, 6-6, 6-11 to 6-13)")
def classic(context: Context) -> Parts:
    """Modes by their formulas, and pictures."""
    yield _modes(context)
    yield from _order(context)
    yield tabled("formulas_of_shading", table("sections/shading"))
    yield from faults("T (6", "T 6.3", "T algorithm", "T 6.2", "T 6.4")
    if context.quick:
        yield Absent("Figures 6-6 and 6-11 to 6-13", "take long: without --quick")
        return
    edge = SIZE
    glass = {name: replace(GLASS, ambient=color) for name, color in AMBIENT.items()}
    yield _balls(context, "Figure 6-6: the ambient colour filters what is refracted", glass, edge)
    sheet = replace(GLASS, bias=0.0, scale=0.5, reflectivity=0.3, transmittance=0.95, ambient=(1.0, 1.0, 1.0))
    panes = {
        "without thickness": sheet,
        "path": replace(sheet, thickness=0.6),
        "slab": replace(sheet, thickness=0.6, thickness_model="slab"),
    }
    yield _balls(context, "Figure 6-11: a pane of some thickness shifts what is behind it", panes, edge, pane=True)
    yield Text(_shifts(panes["path"]))
    apart = (1.35, 1.5, 1.65)
    parts = {"one index": replace(GLASS, ambient=(1.0, 1.0, 1.0))}
    parts["an index for each channel"] = replace(parts["one index"], indices=apart)
    yield _balls(context, "Figure 6-12: dispersion", parts, edge)
    sheets = {"one index": panes["path"], "an index for each channel": replace(panes["path"], indices=apart)}
    yield _balls(
        context, "Figure 6-13: dispersion in a pane: channels leave parallel, and apart", sheets, edge, pane=True
    )


def _shifts(pane: ClassicMaterial) -> str:
    """How far a ray comes out beside its line, by both models of thickness."""
    into = math.radians(SLANT)
    within = math.asin(math.sin(into) / pane.indices[0])
    path = pane.thickness * math.sin(into - within)
    return (
        f"A ray leaves a pane of thickness T as it came, beside its line. By the published model (path), T is its way "
        f"inside at whatever angle, which the text calls an estimate: T sin(a1 - a2), at {SLANT:g} degrees and index "
        f"{pane.indices[0]:g} {path / pane.thickness:.3f} T. A real slab shifts it by T sin(a1 - a2) / cos a2, "
        f"{path / math.cos(within) / pane.thickness:.3f} T."
    )


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


def _expected() -> dict[str, NDArray[np.float64]]:
    """Table 1 of the thesis, of the colours above."""
    c, t, e = (np.array(each) for each in (COLOR, TEXEL, ENVIRONMENT))
    return {
        "replace": t,
        "decal": c * (1 - OPACITY) + t * OPACITY,
        "modulate": c * t,
        "blend": c * (1 - t) + e * t,
    }


FORMULAS = {
    "replace": "T_c",
    "decal": "C_c (1 - T_a) + T_c T_a",
    "modulate": "C_c T_c",
    "blend": "C_c (1 - T_c) + T_e T_c",
}


def _modes(context: Context) -> Table:
    texels = [Texture(Image(np.array([[(*TEXEL, OPACITY)]], np.float16), "texel"))]
    scenes = {mode: _panel((ClassicTexture(0, mode, ENVIRONMENT),), texels, COLOR) for mode in CLASSIC_MODES}

    def colors() -> dict[str, list[float]]:
        return {mode: linear[2, 2].tolist() for mode, linear in _colors(scenes, context, 4).items()}

    found, rows, checks = context.keep("modes", colors), [], []
    for mode, wanted in _expected().items():
        same = float(np.abs(np.array(found[mode]) - wanted).max()) <= EXACT
        both = listed(wanted, ".4g"), listed(found[mode], ".4g")
        rows.append((mode.upper(), FORMULAS[mode], *both))
        what = f"{mode.upper()}: the colour of the formula is rendered"
        checks.append(Check(OWN, what, *both, same, "not the formula's colour"))
    color, texel, environment = (listed(each, ".4g") for each in (COLOR, TEXEL, ENVIRONMENT))
    own: dict[str, Any] = {"color": color, "texel": texel, "opacity": OPACITY, "environment": environment}
    return tabled("table_1_modes_of_textures", rows, checks, **own)


def _order(context: Context) -> Parts:
    """Textures one upon the other."""
    edge, textures = QUICK if context.quick else SIZE // 2, list(_textures().values())
    marble, grid, wood = ClassicTexture(0, "replace"), ClassicTexture(1, "modulate"), ClassicTexture(2, "replace")
    orders = {
        "green material": (),
        "marble, grid, wood": (marble, grid, wood),
        "wood, marble, grid": (wood, marble, grid),
        "wood": (wood,),
        "marble, grid": (marble, grid),
    }

    scenes = {name: _panel(layers, textures, GREEN) for name, layers in orders.items()}
    names = list(orders)[:3]

    def make() -> dict[str, Any]:
        found = _colors(scenes, context, edge)
        shown = [np.rint(255 * np.clip(found[name], 0, 1) ** (1 / 2.2)).astype(np.uint8) for name in names]
        return {
            "picture": webp(*shown),
            "same": {last: bool(np.array_equal(found[last], found[alone])) for last, alone in HIDDEN.items()},
        }

    made: Mapping[str, Any] = context.keep(("order", edge), make)
    yield captioned("textures_in_order", png=made["picture"], orders="; ".join(names))
    for last, alone in HIDDEN.items():
        same = made["same"][last]
        what = f"{last} looks like {alone}, bit for bit: what replaces hides what was before"
        yield Check(CLAIM, what, "yes", "yes" if same else "no", same, "the pictures differ")
    yield report.concluded(
        "last_replaces",
        list(made["same"].values()),
        f"{sum(made['same'].values())} of {len(HIDDEN)} orders the same bits",
    )


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


def _balls(
    context: Context, title: str, materials: Mapping[str, ClassicMaterial], edge: int, pane: bool = False
) -> Figure:
    """The thesis's sphere, with the materials in turn; or a pane before it that has them."""
    shots = []
    for material in materials.values():
        scene, own = build("sphere"), Material("own", kind="classic", classic=material)
        if pane:
            meshes = [*scene.meshes, quads(PANE).mesh("pane", len(scene.materials))]
            scene = replace(scene, meshes=meshes, materials=[*scene.materials, own])
            scene.instances = [*scene.instances, Instance(len(meshes) - 1, name="pane")]
        else:
            scene = replace(scene, materials=[own, *scene.materials[1:]])
            scene.meshes = [replace(scene.meshes[0], colors=None), *scene.meshes[1:]]
        shots.append(Shot(lambda scene=scene: (scene, None), (edge, edge), 1, SKY))
    return captioned("classic_balls", png=sheet(context, title, *shots), title=title, materials="; ".join(materials))
