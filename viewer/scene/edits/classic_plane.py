"""Any model in the thesis's setting of bunny and dragon: classic glass on a reflecting, textured plane.

The materials are not published; these are our own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from raystream.base.errors import ViewerError
from raystream.scene.edits.materials import colorings
from raystream.scene.geometry.bounds import NONE, SHADOW
from raystream.scene.material import ClassicMaterial, ClassicTexture, Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture, uv_transform

TILES = 8.0  # repetitions of the texture along a side of a plane
WIDTHS = 3.0  # side of the plane, in largest edges of the model

GLASS = ClassicMaterial(
    bias=0.05, scale=0.95, power=3.0, reflectivity=0.9, transmittance=0.85, ambient=(0.85, 0.95, 1.0)
)
POLISHED = ClassicMaterial(bias=0.15, scale=0.85, power=3.0, reflectivity=0.8, specular=(1.0, 0.97, 0.9))


def on_plane(scene: Scene, size: tuple[float, float] | str | None = None) -> Scene:
    """The scene in glass on tiles; unchanged if it is that already.

    Every material except emitters and classic ones becomes glass of its base colour and texture, or of its meshes'
    vertex colours if all have them.

    size : of the plane, as in `Scene.on_ground`; None: some widths of the model. Raises ViewerError for a scene without
    extent.
    """
    placed = scene.on_ground(_side(scene) if size in (None, SHADOW, NONE) else size)
    if placed.ground is None:
        raise ViewerError(scene.name, "has no extent to put a plane under", "show another file")
    floor = placed.instances[placed.ground].material
    plain = {
        index
        for index, material in enumerate(placed.materials)
        if material.kind != "classic" and not any(material.emission)
    }
    if not plain:
        return placed
    colored, materials, textures = colorings(placed, plain), list(placed.materials), list(placed.textures)
    for index in plain:
        old, classic = materials[index], replace(GLASS, vertex_colors=colored[index] == {True})
        if index == floor:
            if not any(texture is tiles() for texture in textures):
                textures.append(tiles())
            layer = next(k for k, texture in enumerate(textures) if texture is tiles())
            classic = replace(POLISHED, vertex_colors=False, textures=(ClassicTexture(layer),))
        materials[index] = Material(
            old.name,
            old.base_color,
            kind="classic",
            classic=classic,
            texture=old.texture,
            alpha_mode=old.alpha_mode,
            alpha_cutoff=old.alpha_cutoff,
        )
    return placed.with_parts(materials=materials, textures=textures)


@cache
def tiles() -> Texture:
    """Two by two, light and dark, with lines between them."""
    row, column = np.indices((64, 64))
    light = ((row // 32 + column // 32) % 2 == 0) * 90.0 + 140.0
    light[(row % 32 < 2) | (column % 32 < 2)] = 60.0
    texels = np.full((64, 64, 4), 255, np.uint8)
    texels[..., :3] = light[..., None] * np.array([1.0, 0.97, 0.9])
    return Texture(Image(texels, "tiles"), transform=uv_transform(scale=(TILES, TILES)), name="tiles")


def _side(scene: Scene) -> tuple[float, float] | str:
    """The plane's size in heights of the model, or in its largest edge if it is flat."""
    edges = np.ptp(scene.bounds(ground=False), axis=0)
    if not edges.max() > 0:
        return "auto"
    side = WIDTHS * float(edges.max() / edges[1]) if edges[1] > 0 else WIDTHS
    return side, side
