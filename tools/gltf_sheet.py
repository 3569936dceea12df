"""Renders the glTF models of ``scenes/models`` as their reference pictures were, and tells how far block means are off.

    python tools/gltf_sheet.py [names ...] --out DIR --spp 64 [--lobes] [--sheet sheet.jpg] [--table table.md]

Pictures are kept as ``DIR/<model>.npz`` and used again; delete them to render anew. A block of 20 x 20 pixels agrees
where its mean lies within 5 % of the bracket of both of the reference's forms of GGX, or beyond that within the noise
of both pictures. Blocks of ``gltf_sheet.toml`` differ for a reason, and are counted apart. The reference culls no back
faces, and neither do pictures that are compared with it; sheets of ``--back-faces culled`` are judged by the models'
own cards. Needs a folder ``gltf_refs``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))  # the checkout, before an installed one

import raystream
from raystream.base.errors import ViewerError
from raystream.film.tonemap import srgb8
from raystream.scene.camera import Camera
from raystream.scene.environment import ConstantEnvironment

SHARED = Path(os.environ.get("RAYSTREAM_SHARED", "../shared"))
REFERENCES, MODELS = SHARED / "gltf_refs", SHARED / "scenes" / "models"
BLOCK, NEAR = 20, 0.05
SIGMAS = 3.0  # standard errors of a difference: of 192 numbers in a picture one in two lies farther off by chance
REFERENCE_SPP = 128


def render(name: str, spp: int, lobes: bool, program: str, back_faces: str) -> dict[str, NDArray[np.float32]]:
    """``picture`` (H, W, 3) linear, seen and lit as the reference, and ``deviation`` (rows, columns): the standard
    deviation of a block's luminance by one sample a pixel, as a part of it."""
    about = json.loads((REFERENCES / f"{name}.json").read_text())
    camera = about["camera"]
    viewpoint = Camera(camera["origin"], camera["target"], camera["up"], camera["fov_vertical"])
    options: dict[str, Any] = {"program": program, "machine": "singlepass", "pixel_filter": "box"}
    options["environment"] = str(REFERENCES / "lobes.hdr") if lobes else ConstantEnvironment((1.0, 1.0, 1.0))
    if program == "path":
        options["depth"] = about["settings"]["same_depth_in_raystream"]
    model = str(MODELS / about["model"])
    renderer = raystream.Renderer(model, camera=viewpoint, back_faces=back_faces, **options)
    for line in renderer.scene.warnings:
        print(f"    {name}: {line}")
    rendered = renderer.render(size=(about["size"], about["size"]), spp=spp)
    assert rendered.film is not None
    count = rendered.film.count.astype(np.float64)
    variance = np.where(count > 1, rendered.film.square / np.maximum(count - 1, 1), 0.0)
    luminance = rendered.linear.astype(np.float64) @ (0.2126, 0.7152, 0.0722)
    blocks = [_blocks(np.repeat(image[..., None], 3, axis=2))[..., 0] for image in (variance, luminance)]
    deviation = np.sqrt(blocks[0]) / BLOCK / np.maximum(blocks[1], 0.02)
    return {"picture": rendered.linear, "deviation": deviation.astype(np.float32), "spp": np.float32(spp)}


def compare(name: str, rendered: dict[str, NDArray], lobes: bool) -> dict[str, float]:
    """The share of blocks that agree, that of those without a reason to differ, the largest distance from the bracket
    of a block, and the means."""
    picture = rendered["picture"]
    stored = np.load(REFERENCES / f"{name}.npz")
    trust = json.loads((REFERENCES / "trust.json").read_text())[name]
    passes = ("multi_lobes", "ggx_lobes") if lobes else ("multi", "ggx")
    if trust["use"] == "thin" and not lobes:
        passes = ("thin", "thin")
    references = [stored[key].astype(np.float64) for key in passes if key in stored]
    if not references:
        return {}
    blocks = [_blocks(reference) for reference in references]
    low, high = np.minimum.reduce(blocks), np.maximum.reduce(blocks)
    mine = _blocks(picture.astype(np.float64))
    scale = np.maximum(high, 0.02)
    off = np.maximum(np.maximum(low - mine, mine - high), 0.0) / scale
    noise = SIGMAS * rendered["deviation"][..., None] * np.sqrt(1.0 / float(rendered["spp"]) + 1.0 / REFERENCE_SPP)
    near = off <= NEAR + noise
    expected = np.zeros(near.shape[:2], bool)
    for row, column in (block for entry in _expected(name, lobes) for block in entry["blocks"]):
        expected[row, column] = True
    for row, column in np.argwhere(~near.all(axis=2) & ~expected).tolist():
        print(f"    {name}: block {row}, {column}: {mine[row, column]} of {low[row, column]} .. {high[row, column]}")
    means = [float(reference.mean()) for reference in references]
    figures = {"agree": float((off <= NEAR).mean()), "worst": float(off.max()), "mean": float(picture.mean())}
    figures["unexpected"] = float((~near.all(axis=2) & ~expected).sum())
    figures["expected"] = float(((off > NEAR).any(axis=2) & expected).sum())
    return {**figures, "low": min(means), "high": max(means)}


def _expected(name: str, lobes: bool) -> list[dict[str, Any]]:
    """Entries of a model: ``blocks`` (row, column) in which a picture is not the reference's, and the ``reason``."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["expected"]
    return [entry for entry in entries if entry["model"] == name and lobes in entry["lobes"]]


def _blocks(picture: NDArray) -> NDArray:
    rows, columns = picture.shape[0] // BLOCK, picture.shape[1] // BLOCK
    return picture.reshape(rows, BLOCK, columns, BLOCK, 3).mean(axis=(1, 3))


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default="gltf_sheet")
    parser.add_argument("--spp", type=int, default=64, help="samples of a pixel")
    parser.add_argument("--lobes", action="store_true", help="under lobes.hdr instead of white")
    parser.add_argument("--program", default="path")
    parser.add_argument("--back-faces", default="shown", choices=("shown", "culled"))
    parser.add_argument("--table", help="Markdown")
    parser.add_argument("--sheet", help="PNG or JPEG of all pictures, the reference below each")
    chosen = parser.parse_args()
    trust = json.loads((REFERENCES / "trust.json").read_text())
    folder = Path(chosen.out)
    folder.mkdir(parents=True, exist_ok=True)
    tiles, rows = [], []
    for name in chosen.names or sorted(path.stem for path in REFERENCES.glob("*.npz")):
        stored = np.load(REFERENCES / f"{name}.npz")
        if chosen.lobes and "multi_lobes" not in stored:
            continue
        lobes, program = "_lobes" if chosen.lobes else "", "" if chosen.program == "path" else chosen.program
        file = folder / f"{name}{lobes}{program}.npz"
        if not file.exists():
            try:
                np.savez(file, **render(name, chosen.spp, chosen.lobes, chosen.program, chosen.back_faces))
            except ViewerError as error:
                print(f"{name:28} {error}")
                continue
        rendered = dict(np.load(file))
        picture, figures = rendered["picture"], compare(name, rendered, chosen.lobes)
        print(
            f"{name:28} {100 * figures['agree']:5.1f} % of blocks agree, worst {100 * figures['worst']:6.1f} %, "
            f"{figures['unexpected']:.0f} beyond noise without a reason, {figures['expected']:.0f} with, "
            f"mean {figures['mean']:.4f} of {figures['low']:.4f} .. {figures['high']:.4f}  "
            f"[{trust[name].get('material')}, {trust[name]['use']}]",
            flush=True,
        )
        rows.append((name, trust[name], figures))
        key = "thin" if trust[name]["use"] == "thin" and not chosen.lobes else f"multi{lobes}"
        tiles.append((name, srgb8(np.concatenate([picture, stored[key].astype(np.float32)]))))
    if chosen.sheet and tiles:
        _sheet(tiles, chosen.sheet)
    if chosen.table:
        Path(chosen.table).write_text(_table(rows, chosen.lobes), encoding="utf-8")


def _table(rows: Iterable[tuple[str, dict, dict[str, float]]], lobes: bool) -> str:
    """Markdown: a row for each model, and below them the reasons."""
    head = ("model", "trusted", "blocks within 5 %", "farthest", "beyond noise", "with a reason", "mean", "reference")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    notes = []
    for name, trust, figures in rows:
        cells = [name, f"{trust['material']}: {trust['use']}", f"{100 * figures['agree']:.1f} %"]
        cells += [f"{100 * figures['worst']:.1f} %", f"{figures['unexpected']:.0f}", f"{figures['expected']:.0f}"]
        cells += [f"{figures['mean']:.4f}", f"{figures['low']:.4f} .. {figures['high']:.4f}"]
        lines.append(f"| {' | '.join(cells)} |")
        if trust["material"] == "no":
            notes.append(f"- {name}, not trusted: {trust['note']}")
        for entry in _expected(name, lobes):
            blocks = ", ".join(str(tuple(block)) for block in entry["blocks"])
            notes.append(f"- {name}, blocks {blocks}: {entry['reason']}")
    return "\n".join([*lines, "", *notes, ""])


def _sheet(tiles: list[tuple[str, NDArray]], name: str) -> None:
    """Eight in a row, by name; as JPEG small enough to be kept."""
    wide, (tile_height, tile_width) = 8, tiles[0][1].shape[:2]
    image = Image.new("RGB", (wide * tile_width, -(-len(tiles) // wide) * tile_height))
    drawing = ImageDraw.Draw(image)
    for number, (label, tile) in enumerate(tiles):
        x, y = number % wide * tile_width, number // wide * tile_height
        image.paste(Image.fromarray(tile), (x, y))
        drawing.rectangle(drawing.textbbox((x + 4, y + 2), label[:26]), fill="white")
        drawing.text((x + 4, y + 2), label[:26], fill="black")
    image.save(name, quality=80, optimize=True)


if __name__ == "__main__":
    main()
