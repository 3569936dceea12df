"""The pictures that MTL materials name by ``map_Kd``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from viewer.base.errors import ViewerError
from viewer.formats.files import read_file, resolve_uri
from viewer.formats.image.images import LARGEST_IMAGE, MOST_TEXELS, decode
from viewer.scene.material import Material
from viewer.scene.texture import Image, Texture

# Options before the file's name: those of one argument, and of one to three numbers.
_ONE = ("-blendu", "-blendv", "-cc", "-clamp", "-bm", "-boost", "-texres", "-imfchan", "-type")
_VECTORS = ("-o", "-s", "-t")


def read_textures(materials: Sequence[Material], folder: Path, warnings: list[str]) -> list[Texture]:
    """The textures of the materials, which get their numbers.

    Only files in the scene's own folder are opened; of those that cannot be had, the first is named in one warning, and
    they are white. -o and -s move and scale, -clamp on clamps; other options have no effect.
    """
    found: list[Texture] = []
    images: dict[str, Image] = {}
    faults: dict[str, str] = {}
    texels = 0
    for material in materials:
        text = material.source.get("map_kd")
        if not isinstance(text, str) or not text:
            continue
        name, options = _parse(text)
        if name not in images:
            try:
                file = resolve_uri(folder, name, name, encoded=False)
                images[name] = decode(read_file(file, name), name, file.name, min(LARGEST_IMAGE, MOST_TEXELS - texels))
            except ViewerError as error:
                faults.setdefault(name, error.what)
                images[name] = Image.white(name)
            texels += images[name].texels.shape[0] * images[name].texels.shape[1]
        wide, tall = options.get("-s", (1.0, 1.0))
        right, up = options.get("-o", (0.0, 0.0))
        # OBJ counts v upwards, and the meshes' has been turned: v = 1 - (tall (1 - v) + up).
        transform = np.array([[wide, 0.0, right], [0.0, tall, 1.0 - tall - up]])
        way = "clamp" if options.get("-clamp") else "repeat"
        material.texture = len(found)
        found.append(Texture(images[name], (way, way), transform=transform, name=name))
    if faults:
        name, what = next(iter(faults.items()))
        count = f"{len(faults)} pictures, " if len(faults) > 1 else ""
        warnings.append(f"{count}{name!r} not read, white instead: {what}")
    return found


def _parse(text: str) -> tuple[str, dict[str, tuple[float, float]]]:
    """The file's name, which may hold blanks, and the options: pairs of numbers, (1, 1) for ``-clamp on``."""
    words = text.split()
    options: dict[str, tuple[float, float]] = {}
    while len(words) > 1 and words[0] in (*_ONE, *_VECTORS, "-mm"):
        option = words.pop(0)
        taken: list[str] = []
        most = 3 if option in _VECTORS else 2 if option == "-mm" else 1
        while len(words) > 1 and len(taken) < most and (option in _ONE or _number(words[0]) is not None):
            taken.append(words.pop(0))
        if option in _VECTORS and taken:
            first, second = (_number(word) or 0.0 for word in (taken + taken[:1] if len(taken) == 1 else taken)[:2])
            options[option] = (first, second)
        elif option == "-clamp" and taken[:1] == ["on"]:
            options[option] = (1.0, 1.0)
    return " ".join(words).replace("\\", "/"), options


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None
