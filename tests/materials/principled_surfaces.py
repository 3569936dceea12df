"""Principled surfaces on the device, one for each material, without a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import glsl_call
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.lighting.path import SMOOTH, path_settings
from raystream.materials.bsdf import bsdfs
from raystream.materials.media import media
from raystream.materials.principled import albedos, principled_materials
from raystream.materials.surface_features import material_features
from raystream.materials.textures import textures
from raystream.scene.material import KINDS, Material
from raystream.scene.texture import Texture

AT = "Interaction at, vec3 wo"
SIGNATURES = {
    "value": f"vec3 bsdf_value({AT}, vec3 wi)",
    "pdf": f"float bsdf_pdf({AT}, vec3 wi)",
    "sample": f"bool bsdf_sample({AT}, vec3 u, out vec3 wi, out vec3 weight, out float pdf)",
    "branches": f"void bsdf_branches({AT}, out vec3 reflected, out vec3 reflection, out vec3 refracted, "
    "out vec3 refraction)",
    "reflectance": "vec3 bsdf_reflectance(Interaction at)",
    "delta": "bool bsdf_delta(Interaction at)",
    "index": "float bsdf_index(Interaction at)",
    "told": f"void told({AT}, vec3 wi, out vec3 value, out vec3 albedo, out vec3 reflection, out vec3 refracted, "
    "out vec3 refraction, out float index, out int delta)",
}
TOLD = """
    vec3 reflected;
    float pdf;
    bsdf_branches(at, wo, reflected, reflection, refracted, refraction);
    value = bsdf_evaluate(at, wo, wi, pdf);
    albedo = bsdf_reflectance(at);
    index = bsdf_index(at);
    delta = int(bsdf_delta(at));
"""


class Surfaces:
    """The functions of ``interface/bsdf.glsl`` over these materials, by their names without ``bsdf_``; their textures
    are looked up at the origin."""

    def __init__(
        self,
        device: Any,
        found: Sequence[Material],
        smooth: float = SMOOTH,
        pictures: Sequence[Texture] = (),
        nested: bool = False,
    ) -> None:
        self.device, self.materials = device, found
        self.surfaces = material_features(found, pictures, nested=nested)
        dimensions, interaction, *scattering = bsdfs(self.surfaces)
        self.modules = [
            dimensions,
            interaction,
            textures(pictures),
            *([media(found)] if nested else []),
            principled_materials(found, self.surfaces, len(pictures))[0],  # behind it, absorption, which is of paths
            path_settings(),
            *albedos(self.surfaces),
            *scattering,
        ]
        self.smooth = smooth
        self._made: dict[str, glsl_call.Function] = {}

    def at(self, numbers: ArrayLike, wo: ArrayLike = (0, 0, 1), **held: ArrayLike) -> NDArray:
        """Interactions with these materials; normals +z. held : of `SurfaceFeatures.packed`."""
        numbers = np.asarray(numbers)
        found = np.zeros(len(numbers), self.surfaces.interaction.dtype)
        found["kind"] = KINDS["principled"]
        for name, value in {**held, "material": numbers}.items():
            found["kind"] += np.asarray(value) << self.surfaces.packed[name][0]
        found["normal"] = found["shading"] = (0, 0, 1)
        found["wo"] = wo
        found["albedo"] = np.array([each.base_color[:3] for each in self.materials])[numbers]
        return found

    def __call__(self, name: str, *arguments: Any) -> list[NDArray]:
        if name not in self._made:
            text = f"{SIGNATURES[name]} {{{TOLD}}}" if name == "told" else ""
            self._made[name] = glsl_call.Function(self.device, SIGNATURES[name], modules=self.modules, text=text)
            self._made[name].set({"path_smooth": self.smooth})
        with self.device.current():
            return self._made[name](*arguments)


def white(**more: Any) -> Material:
    return Material(kind="principled", base_color=(1.0, 1.0, 1.0, 1.0), **more)


def towards(cosine: ArrayLike, azimuth: float = 0.0) -> NDArray:
    """(N, 3): directions of these cosines to +z."""
    cosine = np.atleast_1d(np.asarray(cosine, float))
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), cosine], axis=1)
