"""Feature layers of a picture, each declared once for programs, files and help texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.mattes import RANKS
from raystream.kernels.light_layers import LIGHT_LAYERS


@dataclass(frozen=True)
class Layer:
    """A layer: a quantity of each pixel. background : its value where nothing is hit.

    components : suffixes of its channels in a file; one empty suffix for a scalar. stem : their prefix in an EXR, where
    it is not the name and a point. paths : only programs that trace paths have it.
    """

    name: str
    meaning: str
    unit: str
    dtype: type[np.generic] = np.float32
    components: tuple[str, ...] = ("",)
    background: float = 0.0
    stem: str = ""
    paths: bool = False

    def empty(self, height: int, width: int) -> NDArray:
        """(height, width) or (height, width, components), all of the background's value."""
        shape = (height, width) if len(self.components) == 1 else (height, width, len(self.components))
        return np.full(shape, self.background, self.dtype) if self.background else np.zeros(shape, self.dtype)


XYZ, RGB, UV = ("X", "Y", "Z"), ("R", "G", "B"), ("U", "V")
PAIRS = tuple(f"{number:02}.{channel}" for number in range(RANKS // 2) for channel in "RGBA")


def _index_layer(name: str, meaning: str) -> Layer:
    description = f"{meaning} at the pixel's centre, named in the attribute '{name} names'; -1 where there is none"
    return Layer(name, description, "number", np.int32, background=-1)


# Part of a name of `LIGHT_LAYERS` -> what the light paths of the layer have in common.
_PATH_PARTS = {
    "direct": "of lights and surroundings, over one surface",
    "indirect": "over several surfaces",
    "diffuse": "the first scatters it as Lambert's",
    "glossy": "the first reflects it otherwise",
    "transmission": "the first lets it through",
}


def _light_path_layer(name: str) -> Layer:
    """The layer of a name of `LIGHT_LAYERS`; the sum of all is the picture."""
    parts = [_PATH_PARTS[part] for part in name.split("_") if part in _PATH_PARTS]
    description = f"light {'; '.join(parts) or 'of lights and surroundings, seen themselves'}"
    return Layer(name, description, "linear sRGB", components=RGB, paths=True)


def _cryptomatte_layer(kind: str, meaning: str) -> Layer:
    description = f"Cryptomatte of {meaning}: ids and coverages in turn, largest first, over the picture's own samples"
    return Layer(f"crypto_{kind}", description, "id, 1", components=PAIRS, stem=f"Crypto{kind.capitalize()}")


LAYERS = {
    layer.name: layer
    for layer in (
        Layer(
            "depth",
            "distance along the unit ray, inf where nothing is hit; of progressive programs the mean of their samples",
            "scene units",
            background=np.inf,
        ),
        Layer(
            "normal",
            "shading normal in world space, towards the viewer's side of the surface; of progressive programs the mean "
            "of their samples, 0 where nothing is hit",
            "unit vector",
            components=XYZ,
        ),
        Layer("albedo", "base colour of the surface, linear sRGB; averaged as the normal is", "1", components=RGB),
        Layer("triangle", "triangle number in scene order, -1 where nothing is hit", "number", np.int32, background=-1),
        Layer("instance", "instance number in scene order, -1 where nothing is hit", "number", np.int32, background=-1),
        _index_layer("object", "number of the object"),
        _index_layer("material", "number of the material"),
        _index_layer("class", "number of the semantic class, by glTF's extras"),
        _index_layer("part", "number of the part, a path of nodes"),
        Layer("uv", "texture coordinates, the first set, at the pixel's centre; v down as in glTF", "1", components=UV),
        Layer("position", "point in the world at the pixel's centre, 0 without a hit", "scene units", components=XYZ),
        Layer(
            "motion",
            "way of the point at the pixel's centre since the last frame, right and down; 0 where it is not known",
            "pixels",
            components=XYZ[:2],
        ),
        _cryptomatte_layer("object", "objects"),
        _cryptomatte_layer("material", "materials"),
        _cryptomatte_layer("asset", "the roots' names"),
        *map(_light_path_layer, LIGHT_LAYERS),
        Layer(
            "shadow",
            "share of the light of lights and surroundings that something hides from the surface, 0 to 1, by luminance",
            "1",
            paths=True,
        ),
        Layer(
            "occlusion",
            "ambient occlusion: share of the hemisphere over the surface, by the cosine, in which something is within "
            "a tenth of the scene's diagonal, 0 to 1",
            "1",
            paths=True,
        ),
        Layer("samples", "samples of the pixel", "count", np.int32, background=1),
        Layer("steps", "traversal steps of the ray", "count", np.int32),
        Layer("tests", "ray-triangle tests of the ray", "count", np.int32),
    )
}

# Series of layers: the program sets their number; names are those of `series`.
SERIES = {
    layer.name: layer
    for layer in (
        Layer(
            "bounce",
            "radiance that left its light this many surface interactions before the camera, from 0: light seen itself; "
            "together they are the picture",
            "linear sRGB",
            components=RGB,
        ),
    )
}

# Words for several layers.
SETS = {
    "ids": ("object", "material", "class", "part"),
    "cryptomatte": ("crypto_object", "crypto_material", "crypto_asset"),
    "light": LIGHT_LAYERS,
    "all": tuple(name for name in LAYERS if name not in ("steps", "tests")),  # counters slow a render down
}
WORDS = (*LAYERS, *SERIES, *SETS)

# The undenoised mean of a denoised picture, which is included without a request.
NOISY = Layer("noisy", "mean of the samples, of a denoised picture", "linear sRGB", components=RGB)


def series(name: str, count: int) -> tuple[str, ...]:
    """The names of a series' layers: ``bounce.0``, ``bounce.1`` ..."""
    return tuple(f"{name}.{index}" for index in range(count))


def expanded(names: Iterable[str], paths: bool = True) -> tuple[str, ...]:
    """The layers that ``names``, of `WORDS`, stand for, each once. paths : "all" includes those of path tracers."""
    layers: dict[str, None] = {}
    for name in names:
        members = SETS.get(name, (name,))
        layers |= dict.fromkeys(layer for layer in members if paths or name != "all" or not LAYERS[layer].paths)
    return tuple(layers)


def channels(name: str) -> tuple[str, ...]:
    """The names of a layer's channels in an EXR; those of an unknown layer are its name."""
    layer = find(name)
    if layer is None or layer.components == ("",):
        return (name,)
    return tuple(f"{layer.stem or f'{name}.'}{component}" for component in layer.components)


def find(name: str) -> Layer | None:
    """The layer of that name, or its series; None for an unknown name."""
    if name == NOISY.name:
        return NOISY
    head, dot, suffix = name.rpartition(".")
    return SERIES.get(head) if dot and suffix.isdecimal() else LAYERS.get(name)


def parse(text: str) -> tuple[str, ...]:
    """The layer names of ``"depth,normal"``, each once, in order; an empty text names none. Raises ViewerError for an
    unknown name, and lists the known ones."""
    names = dict.fromkeys(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in LAYERS:
            raise ViewerError("layers", f"no layer '{name}'", f"layers: {', '.join(LAYERS)}")
    return tuple(names)
