"""Renders the glTF models of ``scenes/models`` as their reference pictures were, and tells how far block means are off.

    python tools/gltf_sheet.py [names ...] --out DIR --spp 64 [--lobes] [--sheet sheet.jpg]

Pictures are kept as ``DIR/<model>.npy`` and used again; delete them to render anew. A block of 20 x 20 pixels agrees
where its mean lies within 5 % of the bracket of both of the reference's forms of GGX. Needs a folder ``gltf_refs``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the checkout goes before an installed package

import viewer
from viewer.base.errors import ViewerError
from viewer.film.tonemap import srgb8
from viewer.scene.camera import Camera
from viewer.scene.environment import ConstantEnvironment

SHARED = Path(os.environ.get("RAYSTREAM_SHARED", "../shared"))
REFERENCES, MODELS = SHARED / "gltf_refs", SHARED / "scenes" / "models"
BLOCK, NEAR = 20, 0.05


def render(name: str, spp: int, lobes: bool, program: str) -> NDArray[np.float32]:
    """(H, W, 3) linear, seen and lit as the reference."""
    about = json.loads((REFERENCES / f"{name}.json").read_text())
    camera = about["camera"]
    seen = Camera(camera["origin"], camera["target"], camera["up"], camera["fov_vertical"])
    environment = str(REFERENCES / "lobes.hdr") if lobes else ConstantEnvironment((1.0, 1.0, 1.0))
    renderer = viewer.Renderer(
        str(MODELS / about["model"]),
        program=program,
        camera=seen,
        environment=environment,
        machine="singlepass",
        pixel_filter="box",
        **({"depth": about["settings"]["same_depth_in_raystream"]} if program == "path" else {}),
    )
    for line in renderer.scene.warnings:
        print(f"    {name}: {line}")
    return renderer.render(size=(about["size"], about["size"]), spp=spp).linear


def compare(name: str, picture: NDArray, lobes: bool) -> dict[str, float]:
    """The share of blocks that agree, the largest distance from the bracket of a block, and the means."""
    held = np.load(REFERENCES / f"{name}.npz")
    trust = json.loads((REFERENCES / "trust.json").read_text())[name]
    passes = ("multi_lobes", "ggx_lobes") if lobes else ("multi", "ggx")
    if trust["use"] == "thin" and not lobes:
        passes = ("thin", "thin")
    found = [held[key].astype(np.float64) for key in passes if key in held]
    if not found:
        return {}
    blocks = [_blocks(each) for each in found]
    low, high = np.minimum.reduce(blocks), np.maximum.reduce(blocks)
    mine = _blocks(picture.astype(np.float64))
    scale = np.maximum(high, 0.02)
    off = np.maximum(np.maximum(low - mine, mine - high), 0.0) / scale
    return {
        "agree": float((off <= NEAR).mean()),
        "worst": float(off.max()),
        "mean": float(picture.mean()),
        "low": float(min(each.mean() for each in found)),
        "high": float(max(each.mean() for each in found)),
    }


def _blocks(picture: NDArray) -> NDArray:
    rows, columns = picture.shape[0] // BLOCK, picture.shape[1] // BLOCK
    return picture.reshape(rows, BLOCK, columns, BLOCK, 3).mean(axis=(1, 3))


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default="gltf_sheet")
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--lobes", action="store_true", help="under lobes.hdr instead of white")
    parser.add_argument("--program", default="path")
    parser.add_argument("--sheet", help="PNG or JPEG of all pictures, the reference below each")
    chosen = parser.parse_args()
    trust = json.loads((REFERENCES / "trust.json").read_text())
    folder = Path(chosen.out)
    folder.mkdir(parents=True, exist_ok=True)
    tiles = []
    for name in chosen.names or sorted(path.stem for path in REFERENCES.glob("*.npz")):
        held = np.load(REFERENCES / f"{name}.npz")
        if chosen.lobes and "multi_lobes" not in held:
            continue
        file = (
            folder / f"{name}{'_lobes' if chosen.lobes else ''}{'' if chosen.program == 'path' else chosen.program}.npy"
        )
        began = time.perf_counter()
        if not file.exists():
            try:
                np.save(file, render(name, chosen.spp, chosen.lobes, chosen.program))
            except ViewerError as error:
                print(f"{name:28} {error}")
                continue
        picture = np.load(file)
        found = compare(name, picture, chosen.lobes)
        seconds = time.perf_counter() - began
        print(
            f"{name:28} {100 * found['agree']:5.1f} % of blocks agree, worst {100 * found['worst']:6.1f} %, "
            f"mean {found['mean']:.4f} of {found['low']:.4f} .. {found['high']:.4f}  "
            f"[{trust[name].get('material')}, {trust[name]['use']}] {seconds:.0f} s",
            flush=True,
        )
        key = (
            "thin" if trust[name]["use"] == "thin" and not chosen.lobes else f"multi{'_lobes' if chosen.lobes else ''}"
        )
        tiles.append((name, np.concatenate([picture, held[key].astype(np.float32)])))
    if chosen.sheet and tiles:
        _sheet(tiles, chosen.sheet)


def _sheet(tiles: list[tuple[str, NDArray]], name: str) -> None:
    """Eight in a row, by name; as JPEG small enough to be kept."""
    wide, (tall, across) = 8, tiles[0][1].shape[:2]
    picture = np.zeros((-(-len(tiles) // wide) * tall, wide * across, 3), np.uint8)
    for number, (_, tile) in enumerate(tiles):
        row, column = divmod(number, wide)
        picture[row * tall : (row + 1) * tall, column * across : (column + 1) * across] = srgb8(tile)
    image = Image.fromarray(picture)
    drawing = ImageDraw.Draw(image)
    for number, (label, _) in enumerate(tiles):
        row, column = divmod(number, wide)
        at = (column * across + 4, row * tall + 2)
        drawing.rectangle(drawing.textbbox(at, label[:26]), fill="white")
        drawing.text(at, label[:26], fill="black")
    image.save(name, quality=80, optimize=True)


if __name__ == "__main__":
    main()
