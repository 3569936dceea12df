"""MTL, the materials of OBJ files (Alias/Wavefront), with the fields of physically based rendering."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import read_file, referenced_file, short, unquoted
from raystream.formats.image.images import MODELLERS, ImageMemory, read_image
from raystream.formats.text import decoded, without_mark
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture

# Largest number of bytes read from a library.
MAX_BYTES = 16 << 20

_COLORS = ("kd", "ke", "ks", "ka", "tf")
# Fields of physically based rendering, and of normal and bump maps.
_PHYSICAL = frozenset(("pr", "pm", "ps", "pc", "pcr", "aniso", "map_pr", "map_pm", "map_ps", "map_pc", "map_pcr"))
_BUMPS = frozenset(("norm", "bump", "map_bump"))
_SHEEN_ROUGHNESS = 0.5  # MTL has none
MAX_IOR = 100.0
_NUMBERS = ("ns", "ni", "d", "tr", "pr", "pm", "illum", "pc", "pcr", "ps", "aniso", "anisor", "sharpness")


def read_mtl(content: bytes, name: str, warnings: list[str]) -> list[Material]:
    """The materials of a library; malformed lines are skipped, with a warning that names the first.

    Kd is the base colour, Ke the emission, d (or 1 - Tr) the opacity, where 0 without a picture becomes 1, with a
    warning; Ni is the index of refraction. Roughness is Pr, or
    follows from the exponent Ns (see `roughness_of`). ``source`` keeps all statements by lower-case name;
    `mtl_textures` reads their pictures.

    illum 0 and 1 are matte; 4, 6, 7 and 9 are glass of index Ni (default 1.5) tinted by Tf, if d, Tf or Ni implies
    transmission; 3, 5 and 8 are mirrors of reflectance Ks if that exceeds Kd. Otherwise Ks is the normal reflectance of
    a dielectric layer over Kd. With fields of physically based rendering (Pr, Pm, Ps sheen, Pc and Pcr clearcoat, aniso
    and anisor), Ks is ignored, and Ni sets the reflectance. Purely diffuse materials are ``lambert``, clear mirrors
    ``mirror``, clear glass ``dielectric``, all others ``principled``.
    """
    if len(content) > MAX_BYTES:
        warnings.append(f"{name}: only the first {MAX_BYTES:,} bytes of the materials were read")
        content = content[:MAX_BYTES]
    materials: list[Material] = []
    faults: list[int] = []
    for line_number, line in enumerate(without_mark(content).splitlines(), 1):
        words = line.split(None, 1)
        if not words or words[0].startswith(b"#"):
            continue
        key, value = decoded(words[0]).lower(), decoded(words[1].strip()) if len(words) > 1 else ""
        if key == "newmtl":
            materials.append(Material(name=value or "material"))
        elif not materials:
            faults.append(line_number)
        elif key in _COLORS or key in _NUMBERS:
            values = _values(value, 3 if key in _COLORS else 1)
            if values is None:
                faults.append(line_number)
            else:
                materials[-1].source[key] = values if key in _COLORS else values[0]
        else:
            materials[-1].source[key] = value
    invisible = [material.name for material in materials if _set_fields(material)]
    if invisible:
        names = ", ".join(short(label, 30) for label in invisible[:5])
        warnings.append(f"{name}: materials of opacity 0 are opaque instead: {names}")
    if faults:
        warnings.append(f"{name}: line {faults[0]} is malformed; {len(faults):,} lines in all were left out")
    return materials


def _values(text: str, count: int) -> list[float] | None:
    """``count`` finite numbers, one standing for three equal ones; None otherwise."""
    words = text.split("#")[0].split()
    if words and words[0] == "-halo":
        words = words[1:]
    try:
        values = [float(word) for word in words]
    except ValueError:  # also 'spectral' and 'xyz'
        return None
    if not values or not all(math.isfinite(value) for value in values):
        return None
    if len(values) >= count:
        return values[:count]
    return values * 3 if len(values) == 1 else None


def clamped(value: float) -> float:
    """The value clamped to 0 .. 1."""
    return min(max(value, 0.0), 1.0)


def _set_fields(material: Material) -> bool:
    """Set the fields by the statements. Returns whether an opacity of 0 became 1: a slip of exporters that write
    MTL's Tr for d, or d for Tr."""
    source = material.source

    kd = source.get("kd", [0.8, 0.8, 0.8])
    opacity = source["d"] if "d" in source else 1.0 - source.get("tr", 0.0)
    material.base_color = (clamped(kd[0]), clamped(kd[1]), clamped(kd[2]), clamped(opacity))
    ke = source.get("ke", [0.0, 0.0, 0.0])
    material.emission = (max(ke[0], 0.0), max(ke[1], 0.0), max(ke[2], 0.0))
    material.metallic = clamped(source.get("pm", 1.0 if "map_pm" in source else 0.0))
    if "pr" in source:
        material.roughness = clamped(source["pr"])
    elif "ns" in source:
        material.roughness = roughness_of(source["ns"])
    sheen = clamped(source.get("ps", 1.0 if "map_ps" in source else 0.0))
    material.sheen_color, material.sheen_roughness = (sheen, sheen, sheen), _SHEEN_ROUGHNESS if sheen else 0.0
    material.clearcoat = clamped(source.get("pc", 1.0 if "map_pc" in source else 0.0))
    material.clearcoat_roughness = clamped(source.get("pcr", 1.0 if "map_pcr" in source else 0.0))
    material.anisotropy = clamped(source.get("aniso", 0.0))
    material.anisotropy_rotation = 2.0 * math.pi * source.get("anisor", 0.0)
    _set_lobes(material)
    is_slip = material.base_color[3] == 0.0 and not material.transmission and "map_d" not in source
    if is_slip:
        material.base_color = (*material.base_color[:3], 1.0)
        source["d"] = 1.0
        _set_lobes(material)
    return is_slip


def roughness_of(exponent: float) -> float:
    """glTF's roughness of a Blinn-Phong exponent n: the root of GGX's alpha, sqrt(2 / (n + 2))."""
    return clamped((2.0 / (max(exponent, 0.0) + 2.0)) ** 0.25)


def _set_lobes(material: Material) -> None:
    """Choose the material's kind, and derive fields from Ks, Ni, Tf and the opacity."""
    source = material.source
    model = int(source.get("illum", 2))
    ks = [clamped(value) for value in source.get("ks", [0.0, 0.0, 0.0])]
    exponent, ior, opacity = max(source.get("ns", 0.0), 0.0), source.get("ni", 0.0), material.base_color[3]
    material.ior = min(ior, MAX_IOR) if ior > 1.0 else 1.5
    is_physical, has_bumps = not _PHYSICAL.isdisjoint(source), not _BUMPS.isdisjoint(source)
    is_mirror = model in (3, 5, 8)
    if model in (4, 6, 7, 9) and (opacity < 1.0 or ior > 1.0 or any(source.get("tf", [0.0]))):
        tint = [clamped(value) for value in source.get("tf", [1.0, 1.0, 1.0])]
        if not any(tint):  # some programs write 0 for no filter
            tint = [1.0, 1.0, 1.0]
        material.base_color = (tint[0], tint[1], tint[2], opacity)
        material.transmission = material.thickness = 1.0
        if "pr" not in source:  # the exponent is for highlights of lights, not for glass
            material.roughness = 0.0
        material.kind = "principled" if is_physical or has_bumps else "dielectric"
        return
    has_opacity = opacity < 1.0 or "map_d" in source
    material.alpha_mode = "blend" if has_opacity else "opaque"
    needs_principled = has_opacity or has_bumps
    if is_physical:
        needs_principled = True
    elif is_mirror and sum(ks) > sum(material.base_color[:3]):
        material.base_color = (ks[0], ks[1], ks[2], opacity)
        material.metallic, material.roughness = 1.0, 0.0
        material.kind = "mirror"
    elif model not in (0, 1) and any(ks) and (exponent > 0.0 or is_mirror):
        reflectance = ((material.ior - 1.0) / (material.ior + 1.0)) ** 2  # reflectance at normal incidence
        red, green, blue = (value / reflectance for value in ks)
        material.specular_color = (red, green, blue)
        if exponent == 0.0:
            material.roughness = 0.0
        needs_principled = True
    else:
        material.specular_factor = 0.0
    if needs_principled:
        material.kind = "principled"


# -- the pictures of MTL materials, ``map_Kd`` and others, as textures of the scene ------------------------------------

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
        named = {key: _parse_map(text) for key, text in material.source.items() if isinstance(text, str) and text}
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
        values = _red_channel(mask) if (mask[..., 3] == 255).all() else mask[..., 3]
        color = mask
        if "map_kd" in named:
            color = self._bytes(named["map_kd"][0])
            options = named["map_kd"][1]
        else:
            color = np.full_like(mask, 255)
        texels = color.copy()
        texels[..., 3] = _resample_nearest(values, color.shape)
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
                values = _red_channel(self._bytes(rough[0]))
                if "map_pr" not in named:
                    exponents = np.arange(256) / 255.0 * max(material.source.get("ns", 0.0), 0.0)
                    table = [roughness_of(exponent) * 255.0 for exponent in exponents.tolist()]
                    values, material.roughness = np.round(table).astype(np.uint8)[values], 1.0
                texels[..., 1] = values
            if metal is not None:
                texels[..., 2] = _resample_nearest(_red_channel(self._bytes(metal[0])), shape)
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
            image, scale = self._image_of(_normal_map(rgb[..., 0], scale), name), 1.0
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


def _red_channel(texels: Bytes) -> Bytes:
    """(H, W): the red channel, for images that should be grey."""
    return np.ascontiguousarray(texels[..., 0])


def _as_bytes(texels: NDArray) -> Bytes:
    if texels.dtype == np.uint16:
        return (texels >> 8).astype(np.uint8)
    return np.clip(np.round(texels.astype(np.float32) * 255.0), 0, 255).astype(np.uint8)


def _resample_nearest(values: Bytes, shape: tuple[int, ...]) -> Bytes:
    """(H, W) resampled by nearest texels."""
    rows = (np.arange(shape[0]) * values.shape[0]) // shape[0]
    columns = (np.arange(shape[1]) * values.shape[1]) // shape[1]
    return values[rows[:, None], columns]


def _normal_map(heights: Bytes, scale: float) -> Bytes:
    """A normal map (H, W, 4) from repeating heights, by central differences."""
    heights_scaled = heights.astype(np.float32) * np.float32(scale / 255.0)
    right = (np.roll(heights_scaled, -1, axis=1) - np.roll(heights_scaled, 1, axis=1)) / 2
    up = (np.roll(heights_scaled, 1, axis=0) - np.roll(heights_scaled, -1, axis=0)) / 2
    normal = np.stack([-right, -up, np.ones_like(heights_scaled)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    texels = np.full((*heights.shape, 4), 255, np.uint8)
    texels[..., :3] = np.round((normal + 1) / 2 * 255)
    return texels


def _parse_map(text: str) -> tuple[str, Options]:
    """The file name, which may contain blanks and stand in quotes, and the options, which may stand before and behind
    it: pairs of numbers, (1, 1) for ``-clamp on``."""
    words = [(word[0], word.start(), word.end()) for word in _WORD.finditer(text)]
    options: Options = {}
    first, last = _take_options([word for word, _, _ in words], options), len(words)
    for k in range(first + 1, len(words)):
        options_behind: Options = {}
        tail = [word for word, _, _ in words[k:]]
        if tail[0] == "#" or _take_options(tail, options_behind, all_words=True) == len(tail):
            options.update(options_behind)
            last = k
            break
    name = text[words[first][1] : words[last - 1][2]] if first < last else text
    return unquoted(name).replace("\\", "/"), options


def _take_options(words: list[str], options: Options, all_words: bool = False) -> int:
    """Take the options at the beginning, and return how many words they are; the last is none, unless ``all_words``."""
    k, end = 0, len(words) if all_words else len(words) - 1
    while k < end and words[k] in (*_ONE, *_VECTORS, "-mm"):
        option = words[k]
        k += 1
        arguments: list[str] = []
        most = 3 if option in _VECTORS else 2 if option == "-mm" else 1
        while k < end and len(arguments) < most and (option in _ONE or _number(words[k]) is not None):
            arguments.append(words[k])
            k += 1
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
    return k


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None
