"""A small level in the format of Quake III: a square, a curved patch, and a mesh with a colour of its vertices."""

from __future__ import annotations

import numpy as np

from raystream.formats import bsp

ENTITIES = b"""{ "classname" "worldspawn" }
{ "classname" "info_player_start" "origin" "0 0 24" "angle" "90" }
{ "classname" "light" "origin" "32 64 96" "light" "200" "_color" "1 .5 0" }
{ "classname" "light" "origin" "0 0 96" "target" "below" } { "targetname" "below" "origin" "0 0 0" }
{ "classname" "func_door" "model" "*1" "origin" "0 0 320" }\n\0"""


def level_lumps() -> dict[str, bytes]:
    """The lumps by name, in bytes."""
    square = np.array([(0, 0, 0), (64, 0, 0), (64, 64, 0), (0, 64, 0)], np.float32)
    net = np.array([[(32 * k, 128 + 32 * j, 64 * (k == 1)) for k in range(3)] for j in range(3)], np.float32)
    vertices = np.zeros(4 + 9 + 4, bsp.VERTEX)
    vertices["position"] = np.concatenate([square, net.reshape(-1, 3), square + [0, 0, 32]])
    vertices["normal"] = (0, 0, 1)
    vertices["uv"] = vertices["position"][:, :2] / 64
    vertices["light_uv"] = 0.25
    vertices["color"] = (255, 0, 51, 255)
    textures = np.zeros(3, bsp.TEXTURE)
    textures["name"] = [b"walls/stone", b"curve", b"sky"]
    textures["flags"][2] = 4
    faces = np.zeros(4, bsp.FACE)
    faces["kind"] = [bsp.POLYGON, bsp.PATCH, bsp.POLYGON, bsp.MESH]
    faces["texture"] = [0, 1, 2, 1]
    faces["lightmap"] = [0, 0, 0, -1]
    faces["vertex"], faces["vertices"] = [0, 4, 0, 13], [4, 9, 4, 4]
    faces["corners"] = [6, 0, 6, 6]
    faces["net"][1] = 3, 3
    models = np.zeros(2, bsp.MODEL)
    models["face"], models["faces"] = [0, 3], [3, 1]
    page = np.full((1, bsp.PAGE, bsp.PAGE, 3), 128, np.uint8)
    return {
        "entities": ENTITIES,
        "textures": textures.tobytes(),
        "models": models.tobytes(),
        "vertices": vertices.tobytes(),
        "corners": np.array([0, 2, 1, 0, 3, 2], "<i4").tobytes(),
        "faces": faces.tobytes(),
        "lightmaps": page.tobytes(),
    }


def level() -> bytes:
    """The file."""
    return bsp.join_lumps(level_lumps())
