"""Materials and textures of pyrender as the renderer takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.pyrender.constants import GLTF
from raystream.pyrender.material import Material, MetallicRoughnessMaterial, SpecularGlossinessMaterial
from raystream.pyrender.primitive import Primitive
from raystream.pyrender.texture import Sampler, Texture
from raystream.scene import material as surface
from raystream.scene import texture as image

WRAPS = {GLTF.REPEAT: "repeat", GLTF.MIRRORED_REPEAT: "mirrored", GLTF.CLAMP_TO_EDGE: "clamp"}
FILTERS = {
    GLTF.NEAREST: "nearest",
    GLTF.LINEAR: "linear",
    GLTF.NEAREST_MIPMAP_NEAREST: "nearest_mipmap_nearest",
    GLTF.LINEAR_MIPMAP_NEAREST: "linear_mipmap_nearest",
    GLTF.NEAREST_MIPMAP_LINEAR: "nearest_mipmap_linear",
    GLTF.LINEAR_MIPMAP_LINEAR: "linear_mipmap_linear",
}
DIELECTRIC = 0.04  # reflectance at normal incidence of glTF's dielectrics


class Textures:
    """The textures of a scene in the making. Images that an earlier one had stay the same objects."""

    def __init__(self) -> None:
        self.found: list[image.Texture] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._kept: dict[tuple[Any, ...], tuple[Any, image.Texture]] = {}

    def begin(self) -> None:
        """Begin another scene; entries that the last one did not use are dropped."""
        self._kept = {key: self._kept[key] for key in self._numbers}
        self.found, self._numbers = [], {}

    def number(self, texture: Texture | None, content: str, change: Any = None) -> int | None:
        """The number of a texture whose texels are ``content``, of `image.CONTENTS`; ``change`` (name, function) makes
        other texels of them. None without an image."""
        if texture is None or texture.source is None:
            return None
        sampler: Sampler = texture.sampler
        sampling = sampler.wrapS, sampler.wrapT, sampler.magFilter, sampler.minFilter
        key = (id(texture.source), content, change and change[0], *sampling)
        if key not in self._numbers:
            if key not in self._kept:
                # The source is kept, so that its number is not another's.
                self._kept[key] = texture.source, _texture(texture, content, change)
            self._numbers[key] = len(self.found)
            self.found.append(self._kept[key][1])
        return self._numbers[key]


def _texture(texture: Texture, content: str, change: Any) -> image.Texture:
    sampler: Sampler = texture.sampler
    for filtered in (sampler.magFilter, sampler.minFilter):
        if filtered is not None and filtered not in FILTERS:
            raise ViewerError(f"texture {texture.name or ''}", f"filter {filtered} is none of GLTF")
    for wrap in (sampler.wrapS, sampler.wrapT):
        if wrap not in WRAPS:
            raise ViewerError(f"texture {texture.name or ''}", f"wrap mode {wrap} is none of GLTF")
    assert texture.source is not None
    texels = _rgba(texture.source, texture.source_channels)
    return image.Texture(
        image.Image(texels if change is None else change[1](texels), texture.name or "image"),
        (WRAPS[sampler.wrapS], WRAPS[sampler.wrapT]),
        sampler.magFilter == GLTF.NEAREST,
        name=texture.name or "texture",
        minification=None if sampler.minFilter is None else FILTERS[sampler.minFilter],
        content=content,
    )


def _rgba(source: NDArray[np.uint8], channels: str) -> NDArray[np.uint8]:
    """(H, W, 4) of an image (H, W, C), each channel at its place, others full."""
    rgba = np.full((*source.shape[:2], 4), 255, np.uint8)
    for index, channel in enumerate(channels):
        rgba[..., "RGBA".index(channel)] = source[..., index]
    if channels == "R":
        rgba[..., 1] = rgba[..., 2] = rgba[..., 0]
    return rgba


def flat(primitive: Primitive, culled: bool, textures: Textures) -> surface.Material:
    """A light of the material's colour, as the numbers are: factors, vertices and texels are values of pixels there."""
    color, texture = _base(primitive.material)
    return surface.Material(
        primitive.material.name or "flat",
        tuple(map(float, np.clip(color, 0, 1))),  # type: ignore[arg-type]
        backface_culling=culled,
        kind="principled",
        texture=textures.number(texture, "data"),
        unlit=True,
        **_opacity(primitive),
    )


def lit(primitive: Primitive, culled: bool, textures: Textures) -> surface.Material:
    """glTF's material; of specular-glossiness the dielectric of that reflectance (KHR_materials_specular)."""
    material: Any = primitive.material
    color, texture = _base(material)
    more: dict[str, Any]
    if isinstance(material, SpecularGlossinessMaterial):
        gloss = material.glossinessFactor
        both, rough = material.specularGlossinessTexture, 1.0 - gloss
        more = {
            "roughness": rough if both is None else 1.0,
            "specular_color": tuple(map(float, material.specularFactor / DIELECTRIC)),
            "specular_color_texture": textures.number(both, "color"),
            "metallic_roughness_texture": textures.number(both, "data", (f"roughness {gloss}", _roughness(gloss))),
        }
    else:
        more = {
            "metallic": material.metallicFactor,
            "roughness": material.roughnessFactor,
            "metallic_roughness_texture": textures.number(material.metallicRoughnessTexture, "data"),
        }
    return surface.Material(
        material.name or "material",
        tuple(map(float, color)),  # type: ignore[arg-type]
        emission=tuple(map(float, material.emissiveFactor)),  # type: ignore[arg-type]
        double_sided=material.doubleSided,
        backface_culling=culled,
        kind="principled",
        texture=textures.number(texture, "color"),
        emission_texture=textures.number(material.emissiveTexture, "color"),
        normal_texture=textures.number(material.normalTexture, "normal"),
        **more,
        **_opacity(primitive),
    )


def _roughness(gloss: float) -> Any:
    """Texels with a roughness in green, of a glossiness in opacity."""

    def change(texels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        packed = np.full_like(texels, 255)
        packed[..., 1] = np.rint(255.0 - gloss * texels[..., 3])
        return packed

    return change


def _base(material: Material) -> tuple[NDArray[np.float32], Texture | None]:
    """The factor (4,) and the texture of the colour."""
    if isinstance(material, SpecularGlossinessMaterial):
        return material.diffuseFactor, material.diffuseTexture
    assert isinstance(material, MetallicRoughnessMaterial)
    return material.baseColorFactor, material.baseColorTexture


def _opacity(primitive: Primitive) -> dict[str, Any]:
    """How the material's opacity counts: where MASK is the default of a material without holes, not at all."""
    material = primitive.material
    texture = _base(material)[1]
    if material.alphaMode == "BLEND" and primitive.is_transparent:
        return {"alpha_mode": "blend"}
    if material.alphaMode == "MASK" and texture is not None and texture.is_transparent(material.alphaCutoff):
        return {"alpha_mode": "mask", "alpha_cutoff": material.alphaCutoff}
    return {}
