"""The pictures of MTL materials, ``map_Kd`` and others, as textures of the scene."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import read_file
from raystream.formats.image.images import MODELLERS, read_image
from raystream.formats.image.memory import ImageMemory
from raystream.formats.obj.mtl import roughness_of
from raystream.formats.references import referenced_file, unquoted
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture

# Options before the file name, or behind it: those of one argument, and of one to three numbers.
_ONE = ("-blendu", "-blendv", "-cc", "-clamp", "-bm", "-boost", "-texres", "-imfchan", "-type")
_VECTORS = ("-o", "-s", "-t")

_WORD = re.compile(r'"[^"]*"|\S+')
Options = dict[str, tuple[float, float]]
Bytes = NDArray[np.uint8]

# Pictures used unchanged as textures: the field, and the content of the texels.
_PLAIN = {
    "map_kd": ("texture", "color"),
    "map_ke": ("emission_texture", "color"),
    "map_ks": ("specular_color_texture", "color"),
    "map_ps": ("sheen_color_texture", "data"),
    "map_pc": ("clearcoat_texture", "data"),
    "norm": ("normal_texture", "normal"),
}


def read_textures(
    materials: Sequence[Material],
    folder: Path,
    warnings: list[str],
    lenient: bool = False,
    max_texture: int | None = None,
) -> list[Texture]:
    """The textures of the materials, whose texture numbers are set.

    Only files in the scene's own folder are opened; one warning names the first unreadable one. They become white, or
    if ``lenient`` checkerboards. -o and -s move and scale, -clamp on clamps, -bm scales bumps; other options are
    ignored. map_Pr and map_Pm are combined into one texture, as are map_d and map_Kd, at the first picture's size.
    """
    reader = _Reader(folder, lenient, max_texture)
    for material in materials:
        reader.read(material)
    if reader.faults:
        name, what = next(iter(reader.faults.items()))
        count = f"{len(reader.faults)} pictures, " if len(reader.faults) > 1 else ""
        instead = "a checkerboard" if lenient else "white"
        warnings.append(f"{count}{name!r} not read, {instead} instead: {what}")
    return reader.textures


class _Reader:
    def __init__(self, folder: Path, lenient: bool, max_texture: int | None) -> None:
        self.folder, self.lenient, self.memory = folder, lenient, ImageMemory(max_texture)
        self.textures: list[Texture] = []
        self.faults: dict[str, str] = {}
        self._images: dict[str, Image] = {}

    def read(self, material: Material) -> None:
        """Set a material's texture numbers."""
        named = {key: _parse(text) for key, text in material.source.items() if isinstance(text, str) and text}
        fields = {key: field for key, field in _PLAIN.items() if key in named and self._counts(material, key)}
        for key, (field, content) in fields.items():
            if key == "map_kd" and "map_d" in named and material.kind == "principled":
                continue
            setattr(material, field, self._add(self._image(named[key][0]), named[key][1], content))
        if material.kind != "principled":
            return
        if "map_d" in named:
            self._opacity(material, named)
        self._surface(material, named)
        bump = named.get("bump", named.get("map_bump"))
        if bump is not None and material.normal_texture is None:
            self._bump(material, *bump)

    def _counts(self, material: Material, key: str) -> bool:
        """Whether the material's kind uses this picture: all use the first two."""
        return key == "map_kd" or (key == "map_ke" and any(material.emission)) or material.kind == "principled"

    def _opacity(self, material: Material, named: dict[str, tuple[str, Options]]) -> None:
        """Combine map_d, as opacity, with map_Kd or white."""
        name, options = named["map_d"]
        mask = self._bytes(name)
        values = _grey(mask) if (mask[..., 3] == 255).all() else mask[..., 3]
        color = mask
        if "map_kd" in named:
            color = self._bytes(named["map_kd"][0])
            options = named["map_kd"][1]
        else:
            color = np.full_like(mask, 255)
        texels = color.copy()
        texels[..., 3] = _resized(values, color.shape)
        material.texture = self._add(self._image_of(texels, name), options, "color")

    def _surface(self, material: Material, named: dict[str, tuple[str, Options]]) -> None:
        """Roughness into green, metallic into blue; clearcoat roughness alone."""
        rough = named.get("map_pr") or (named.get("map_ns") if "pr" not in material.source else None)
        metal = named.get("map_pm")
        if rough is not None or metal is not None:
            name, options = rough or metal or ("", {})
            shape = self._bytes(name).shape
            texels = np.full(shape, 255, np.uint8)
            if rough is not None:
                values = _grey(self._bytes(rough[0]))
                if "map_pr" not in named:
                    exponents = np.arange(256) / 255.0 * max(material.source.get("ns", 0.0), 0.0)
                    table = [roughness_of(exponent) * 255.0 for exponent in exponents.tolist()]
                    values, material.roughness = np.round(table).astype(np.uint8)[values], 1.0
                texels[..., 1] = values
            if metal is not None:
                texels[..., 2] = _resized(_grey(self._bytes(metal[0])), shape)
            material.metallic_roughness_texture = self._add(self._image_of(texels, name), options, "data")
        if "map_pcr" in named:
            name, options = named["map_pcr"]
            material.clearcoat_roughness_texture = self._add(self._image(name), options, "data")

    def _bump(self, material: Material, name: str, options: Options) -> None:
        """A coloured picture is a normal map, as modellers write it; a grey one holds heights, with black and white -bm
        texels apart."""
        image, scale = self._image(name), options.get("-bm", (1.0, 1.0))[0]
        rgb = self._bytes(name)[..., :3]
        if (rgb == rgb[..., :1]).all():
            image, scale = self._image_of(_normals(rgb[..., 0], scale), name), 1.0
        material.normal_texture = self._add(image, options, "normal")
        material.normal_scale = scale

    def _bytes(self, name: str) -> Bytes:
        texels = self._image(name).texels
        return texels.astype(np.uint8, copy=False)

    def _image(self, name: str) -> Image:
        if name not in self._images:
            try:
                file = referenced_file(self.folder, name, name)
                image = read_image(self.memory, read_file(file, name), name, file.name, MODELLERS)
            except ViewerError as error:
                self.faults.setdefault(name, error.what)
                image = Image.checkerboard(name) if self.lenient else Image.white(name)
            if image.texels.dtype != np.uint8:  # bytes, so that pictures can be combined
                image = Image(_as_bytes(image.texels), image.name)
            self._images[name] = image
        return self._images[name]

    def _image_of(self, texels: Bytes, name: str) -> Image:
        """A combined image. Raises ViewerError if all of them hold too many texels."""
        self.memory.add(texels.shape[0] * texels.shape[1], name)
        return Image(texels, name)

    def _add(self, image: Image, options: Options, content: str) -> int:
        wide, tall = options.get("-s", (1.0, 1.0))
        right, up = options.get("-o", (0.0, 0.0))
        # OBJ's v points up and the meshes' v down: v = 1 - (tall (1 - v) + up).
        transform = np.array([[wide, 0.0, right], [0.0, tall, 1.0 - tall - up]])
        wrap = "clamp" if options.get("-clamp") else "repeat"
        self.textures.append(Texture(image, (wrap, wrap), transform=transform, name=image.name, content=content))
        return len(self.textures) - 1


def _grey(texels: Bytes) -> Bytes:
    """(H, W): the red channel, for images that should be grey."""
    return np.ascontiguousarray(texels[..., 0])


def _as_bytes(texels: NDArray) -> Bytes:
    if texels.dtype == np.uint16:
        return (texels >> 8).astype(np.uint8)
    return np.clip(np.round(texels.astype(np.float32) * 255.0), 0, 255).astype(np.uint8)


def _resized(values: Bytes, shape: tuple[int, ...]) -> Bytes:
    """(H, W) resampled by nearest texels."""
    rows = (np.arange(shape[0]) * values.shape[0]) // shape[0]
    columns = (np.arange(shape[1]) * values.shape[1]) // shape[1]
    return values[rows[:, None], columns]


def _normals(heights: Bytes, scale: float) -> Bytes:
    """A normal map (H, W, 4) from repeating heights, by central differences."""
    high = heights.astype(np.float32) * np.float32(scale / 255.0)
    right = (np.roll(high, -1, axis=1) - np.roll(high, 1, axis=1)) / 2
    up = (np.roll(high, 1, axis=0) - np.roll(high, -1, axis=0)) / 2
    normal = np.stack([-right, -up, np.ones_like(high)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    texels = np.full((*heights.shape, 4), 255, np.uint8)
    texels[..., :3] = np.round((normal + 1) / 2 * 255)
    return texels


def _parse(text: str) -> tuple[str, Options]:
    """The file name, which may contain blanks and stand in quotes, and the options, which may stand before and behind
    it: pairs of numbers, (1, 1) for ``-clamp on``."""
    words = [(word[0], word.start(), word.end()) for word in _WORD.finditer(text)]
    options: Options = {}
    first, last = _options([word for word, _, _ in words], options), len(words)
    for at in range(first + 1, len(words)):
        behind: Options = {}
        tail = [word for word, _, _ in words[at:]]
        if tail[0] == "#" or _options(tail, behind, all_words=True) == len(tail):
            options.update(behind)
            last = at
            break
    name = text[words[first][1] : words[last - 1][2]] if first < last else text
    return unquoted(name).replace("\\", "/"), options


def _options(words: list[str], options: Options, all_words: bool = False) -> int:
    """Take the options at the beginning, and return how many words they are; the last is none, unless ``all_words``."""
    at, end = 0, len(words) if all_words else len(words) - 1
    while at < end and words[at] in (*_ONE, *_VECTORS, "-mm"):
        option = words[at]
        at += 1
        arguments: list[str] = []
        most = 3 if option in _VECTORS else 2 if option == "-mm" else 1
        while at < end and len(arguments) < most and (option in _ONE or _number(words[at]) is not None):
            arguments.append(words[at])
            at += 1
        if option in _VECTORS and arguments:
            first, second = (
                _number(word) or 0.0 for word in (arguments + arguments[:1] if len(arguments) == 1 else arguments)[:2]
            )
            options[option] = (first, second)
        elif option == "-clamp" and arguments[:1] == ["on"]:
            options[option] = (1.0, 1.0)
        elif option == "-bm" and arguments and _number(arguments[0]) is not None:
            value = _number(arguments[0]) or 0.0
            options[option] = (value, value)
    return at


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None
