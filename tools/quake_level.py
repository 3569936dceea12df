"""Makes ``assets/levels/chapel.bsp``: a small level of our own in the format of Quake III (BSP version 46), free to
ship: a vaulted hall with arches, aisles, columns and stairs, its textures, and lightmaps that are traced here.

    python tools/quake_level.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from level.chapel import LIGHTS, build
from level.faces import Level
from level.lightmaps import bake
from level.textures import NAMES, pictures
from numpy.typing import NDArray
from PIL import Image

from raystream.formats import bsp


def level_bytes(level: Level, pages: NDArray[np.uint8]) -> bytes:
    """The file."""
    faces = np.zeros(len(level.faces), bsp.FACE)
    for face, level_face in zip(faces, level.faces, strict=True):
        face["texture"], face["kind"], face["effect"] = level_face["texture"], level_face["kind"], -1
        face["vertex"], face["vertices"] = level_face["vertex"], level_face["number"]
        face["corner"], face["corners"] = level_face["first"], len(level_face["corners"])
        face["lightmap"] = level_face.get("lightmap", -1)
        face["light_start"], face["light_size"] = (
            level_face.get("light_start", (0, 0)),
            level_face.get("light_size", (0, 0)),
        )
        face["net"] = level_face.get("net", (0, 0))
    textures = np.zeros(len(NAMES), bsp.TEXTURE)
    textures["name"], textures["contents"] = [f"chapel/{name}".encode() for name in NAMES], 1
    model = np.zeros(1, bsp.MODEL)
    every = np.concatenate(level.vertices)
    model["box"], model["faces"] = [every["position"].min(axis=0), every["position"].max(axis=0)], len(faces)
    text = '{\n"classname" "worldspawn"\n"message" "The chapel"\n}\n'
    starts = (("start", (-350, -60, 30), 4, -4), ("stage", (330, 100, 86), 200, 6), ("aisle", (-350, -372, 30), 12, -2))
    for name, (x, y, z), angle, tilt in starts:
        text += f'{{\n"classname" "info_player_deathmatch"\n"name" "{name}"\n"origin" "{x} {y} {z}"\n'
        text += f'"angle" "{angle}"\n"angles" "{tilt} {angle} 0"\n}}\n'
    for at, strength, color in LIGHTS:
        place = " ".join(f"{coordinate:g}" for coordinate in at)
        text += f'{{\n"classname" "light"\n"origin" "{place}"\n"light" "{strength:g}"\n'
        text += f'"_color" "{color[0]:g} {color[1]:g} {color[2]:g}"\n}}\n'
    lumps = {
        "entities": text.encode() + b"\0",
        "textures": textures.tobytes(),
        "models": model.tobytes(),
        "vertices": every.tobytes(),
        "corners": np.array(level.corners, "<i4").tobytes(),
        "faces": faces.tobytes(),
        "lightmaps": pages.tobytes(),
    }
    return bsp.join_lumps(lumps)


def main(folder: Path) -> None:
    """Write the level and its pictures into a folder."""
    level = build()
    pages = bake(level)
    (folder / "chapel").mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        Image.fromarray(picture).quantize(64).save(folder / "chapel" / f"{name}.png", optimize=True)
    (folder / "chapel.bsp").write_bytes(level_bytes(level, pages))
    print(f"{len(level.faces):,} faces, {len(pages)} lightmaps")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "assets" / "levels")
