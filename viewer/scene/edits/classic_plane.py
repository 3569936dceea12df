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

TILE_REPEATS = 8.0  # of the texture along a side of the plane
PLANE_WIDTHS = 3.0  # side of the plane, in largest edges of the model

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
    on_ground = scene.on_ground(_plane_size(scene) if size in (None, SHADOW, NONE) else size)
    if on_ground.ground is None:
        raise ViewerError(scene.name, "has no extent to put a plane under", "show another file")
    floor = on_ground.instances[on_ground.ground].material
    replaced = {
        index
        for index, material in enumerate(on_ground.materials)
        if material.kind != "classic" and not any(material.emission)
    }
    if not replaced:
        return on_ground
    colored, materials, textures = colorings(on_ground, replaced), list(on_ground.materials), list(on_ground.textures)
    for index in replaced:
        material, glass = materials[index], replace(GLASS, vertex_colors=colored[index] == {True})
        if index == floor:
            if not any(texture is tiles() for texture in textures):
                textures.append(tiles())
            layer = next(k for k, texture in enumerate(textures) if texture is tiles())
            glass = replace(POLISHED, vertex_colors=False, textures=(ClassicTexture(layer),))
        materials[index] = Material(
            material.name,
            material.base_color,
            kind="classic",
            classic=glass,
            texture=material.texture,
            alpha_mode=material.alpha_mode,
            alpha_cutoff=material.alpha_cutoff,
        )
    return on_ground.with_parts(materials=materials, textures=textures)


@cache
def tiles() -> Texture:
    """The plane's texture: 2 x 2 tiles, light and dark, with lines between them."""
    row, column = np.indices((64, 64))
    light = ((row // 32 + column // 32) % 2 == 0) * 90.0 + 140.0
    light[(row % 32 < 2) | (column % 32 < 2)] = 60.0
    texels = np.full((64, 64, 4), 255, np.uint8)
    texels[..., :3] = light[..., None] * np.array([1.0, 0.97, 0.9])
    return Texture(Image(texels, "tiles"), transform=uv_transform(scale=(TILE_REPEATS, TILE_REPEATS)), name="tiles")


def _plane_size(scene: Scene) -> tuple[float, float] | str:
    """The plane's (width, depth) in heights of the model, or largest edges if it is flat; else ``auto``."""
    edges = np.ptp(scene.bounds(ground=False), axis=0)
    if not edges.max() > 0:
        return "auto"
    side = PLANE_WIDTHS * float(edges.max() / edges[1]) if edges[1] > 0 else PLANE_WIDTHS
    return side, side
