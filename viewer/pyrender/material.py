"""Materials of glTF 2.0, metallic-roughness and the archived specular-glossiness, and their textures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender.checked import Checked, color_vector, flag, label, number
from raystream.pyrender.constants import GLTF

CHANNELS = {"R": (0,), "RG": (0, 1), "GB": (1, 2), "RGB": (0, 1, 2), "RGBA": (0, 1, 2, 3)}


@dataclass(eq=False, repr=False)
class Sampler:
    """Filters and wrap modes, numbers of `GLTF`; a filter of None is linear."""

    name: Checked[str | None] = Checked(label, None)
    magFilter: int | None = None
    minFilter: int | None = None
    wrapS: int = GLTF.REPEAT
    wrapT: int = GLTF.REPEAT


class Texture:
    """An image and its sampler.

    source : (H, W, C) uint8 or float of 0 to 1, or a picture of Pillow; ``source`` then is the array (H, W, channels)
    uint8 of ``source_channels``, one of `CHANNELS`.
    """

    name = Checked(label)
    sampler = Checked(lambda value: Sampler() if value is None else value)

    def __init__(
        self,
        name: str | None = None,
        sampler: Sampler | None = None,
        source: Any = None,
        source_channels: str | None = None,
        width: int | None = None,
        height: int | None = None,
        **_: Any,
    ) -> None:
        self.name, self.sampler = name, sampler
        self.source_channels = source_channels or "RGB"
        self.source = source
        self.height, self.width = height, width
        if self.source is not None:
            self.height, self.width = self.source.shape[:2]

    @property
    def source(self) -> NDArray[np.uint8] | None:
        """The image."""
        return self._source

    @source.setter
    def source(self, value: Any) -> None:
        self._source = None if value is None else texels(value, self.source_channels)

    def is_transparent(self, cutoff: float = 1.0) -> bool:
        """Whether some texel's opacity is below ``cutoff``, of 0 to 1."""
        if self.source is None or self.source_channels != "RGBA":
            return False
        return bool((self.source[..., 3] < cutoff * 255).any())


def texels(value: Any, channels: str) -> NDArray[np.uint8]:
    """(H, W, C) uint8 of an image, with the channels asked for: grey stands for each, opacity is full where there is
    none. Raises ValueError and TypeError for other images."""
    if channels not in CHANNELS:
        raise ValueError(f"source_channels is {channels!r}, expected one of {', '.join(CHANNELS)}")
    mode = getattr(value, "mode", None)
    if mode in ("1", "P", "PA", "CMYK", "YCbCr", "HSV", "LAB"):  # Pillow's, whose values are no colours as they are
        value = value.convert("RGBA" if "A" in channels or mode == "PA" else "RGB")
    pixels = np.asarray(value)
    if pixels.dtype.kind == "f":
        pixels = np.clip(pixels * 255.0, 0, 255)
    elif pixels.dtype.kind not in "iub":
        raise TypeError(f"a texture of {pixels.dtype}, expected numbers")
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 2, 3, 4):
        raise ValueError(f"a texture of shape {np.shape(value)}, expected (H, W), or (H, W, 1 to 4)")
    if pixels.shape[2] == 2 and len(channels) > 2:
        if mode != "LA":
            raise ValueError(f"two channels cannot become {channels}")
        pixels = pixels[..., [0, 0, 0, 1]]
    sources, have = CHANNELS[channels], pixels.shape[2]
    result = np.full((*pixels.shape[:2], len(sources)), 255, np.uint8)
    for index, channel in enumerate(sources):
        if have == 2 and channels == "GB":
            result[..., index] = pixels[..., index]  # these two already
        elif channel < 3:
            result[..., index] = pixels[..., min(channel, have - 1)]
        elif have == 4:
            result[..., index] = pixels[..., 3]
    return result


ALPHA_MODES = ("OPAQUE", "MASK", "BLEND")


def _alpha_mode(value: Any) -> str:
    mode = "MASK" if value is None else value
    if mode not in ALPHA_MODES:
        raise ValueError(f"alphaMode is {value!r}, expected one of {', '.join(ALPHA_MODES)}")
    return str(mode)


def _cutoff(value: Any) -> float:
    return number("alphaCutoff", 0.0, 1.0)(0.5 if value is None else value)


def _factor(what: str) -> Checked[float]:
    """A number from 0 to 1; None: 1."""
    return Checked(lambda value: number(what, 0.0, 1.0)(1.0 if value is None else value), 1.0)


def _color(length: int, otherwise: float = 1.0) -> Checked[NDArray[np.float32]]:
    """A linear colour of a number of channels; None: ``otherwise`` in each."""
    return Checked(lambda value: color_vector(np.full(length, otherwise) if value is None else value, length), None)


def _texture(channels: str) -> Checked[Texture | None]:
    """An image, as a `Texture` of these channels."""

    def read(value: Any) -> Texture | None:
        as_given = value is None or isinstance(value, Texture)
        return value if as_given else Texture(source=value, source_channels=channels)

    return Checked(read, None)


@dataclass(eq=False, repr=False)
class Material:
    """The fields of all materials.

    normalTexture : in tangent space. emissiveFactor : (3,), emitted radiance. occlusionTexture is kept and without
    effect: occlusion follows from light transport. alphaMode : BLEND by opacity; MASK, the default: absent where a
    texture's opacity is below ``alphaCutoff``; OPAQUE. doubleSided : back faces are visible. smooth : normals are
    interpolated.
    wireframe : edges alone, one pixel wide.
    """

    name: Checked[str | None] = Checked(label, None)
    normalTexture: Checked[Texture | None] = _texture("RGB")
    occlusionTexture: Checked[Texture | None] = _texture("R")
    emissiveTexture: Checked[Texture | None] = _texture("RGB")
    emissiveFactor: Checked[NDArray[np.float32]] = _color(3, 0.0)
    alphaMode: Checked[str] = Checked(_alpha_mode, None)
    alphaCutoff: Checked[float] = Checked(_cutoff, None)
    doubleSided: Checked[bool] = Checked(lambda value: flag("doubleSided")(False if value is None else value), False)
    smooth: Checked[bool] = Checked(flag("smooth"), True)
    wireframe: Checked[bool] = Checked(flag("wireframe"), False)

    def __post_init__(self) -> None:
        if type(self) is Material:
            raise TypeError("a Material is a MetallicRoughnessMaterial or a SpecularGlossinessMaterial")

    @property
    def is_transparent(self) -> bool:
        """Whether its opacity is below 1 somewhere, or below the cutoff under MASK."""
        cutoff = self.alphaCutoff if self.alphaMode == "MASK" else 1.0
        color, texture = self.base_color
        return self.alphaMode != "OPAQUE" and bool(
            color[3] < cutoff or (texture is not None and texture.is_transparent(cutoff))
        )

    @property
    def textures(self) -> set[Texture]:
        """The textures of all its fields."""
        return {value for value in vars(self).values() if isinstance(value, Texture)}

    @property
    def base_color(self) -> tuple[NDArray[np.float32], Texture | None]:
        """The factor (4,) and the texture of colour and opacity."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class MetallicRoughnessMaterial(Material):
    """glTF's material. baseColorFactor : (4,) linear RGBA. metallicRoughnessTexture : roughness in green, metallic in
    blue."""

    baseColorFactor: Checked[NDArray[np.float32]] = _color(4)
    baseColorTexture: Checked[Texture | None] = _texture("RGBA")
    metallicFactor: Checked[float] = _factor("metallicFactor")
    roughnessFactor: Checked[float] = _factor("roughnessFactor")
    metallicRoughnessTexture: Checked[Texture | None] = _texture("GB")

    @property
    def base_color(self) -> tuple[NDArray[np.float32], Texture | None]:
        """The factor (4,) and the texture of colour and opacity."""
        return self.baseColorFactor, self.baseColorTexture


@dataclass(eq=False, repr=False)
class SpecularGlossinessMaterial(Material):
    """The material of KHR_materials_pbrSpecularGlossiness. specularGlossinessTexture : specular colour, and glossiness
    in its opacity."""

    diffuseFactor: Checked[NDArray[np.float32]] = _color(4)
    diffuseTexture: Checked[Texture | None] = _texture("RGBA")
    specularFactor: Checked[NDArray[np.float32]] = _color(3)
    glossinessFactor: Checked[float] = _factor("glossinessFactor")
    specularGlossinessTexture: Checked[Texture | None] = _texture("RGBA")

    @property
    def base_color(self) -> tuple[NDArray[np.float32], Texture | None]:
        """The factor (4,) and the texture of colour and opacity."""
        return self.diffuseFactor, self.diffuseTexture
