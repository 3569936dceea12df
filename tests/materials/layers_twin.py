"""glTF's layered material in NumPy float64: what the lobes of `lobe_twin` come to under each other, written from the
extensions' texts. Rough lobes alone; directional albedos are those of the tables, interpolated here.

Directions (N, 3) are unit vectors about the geometric normal +z, from either side; the tangent is +x.
"""

from __future__ import annotations

from dataclasses import dataclass

import bsdf_twin
import lobe_twin as lobes
import numpy as np
from bsdf_twin import Array, dot

from raystream.materials.principled import MAX_SHEEN_ALBEDO, arrays
from raystream.scene.material import Material

UPRIGHT = (0.0, 0.0, 1.0)
SMOOTH = 0.02  # roughness below which a lobe is a mirror


@dataclass(frozen=True)
class Scattered:
    """(N, 3) each. value : BSDF times |cosine|. reflectance : of ambient light, of what has a density. mirrored,
    refracted : weights of single directions."""

    value: Array
    reflectance: Array
    mirrored: Array
    refracted: Array


def table(name: str, cosine: Array, alpha: Array, ratio: float | None = None) -> Array:
    """(N,) of a table of albedos: bilinear in the root of the cosine and the roughness, and between slices."""
    values = arrays()[name]
    if ratio is None:
        return _plane(values, cosine, alpha)
    first = 0 if name == "crossing_rise" else len(values) // 2
    relative = (ratio - 1) / (ratio + 1)
    steps = np.sign(relative) * np.sqrt(min(abs(relative) / 0.512, 1.0)) * (len(values) - 1 - first)
    depth = max(first + steps, 0.0)
    low = min(int(depth), len(values) - 2)
    here, there = (_plane(values[k], cosine, alpha) for k in (low, low + 1))
    return here + (there - here) * (depth - low)


def _plane(values: Array, cosine: Array, alpha: Array) -> Array:
    """alpha : (2,); of both the quadratic mean."""
    rows, columns = values.shape[0] - 1, values.shape[1] - 1
    across = np.sqrt(np.clip(cosine, 0, 1)) * columns
    down = np.sqrt(np.sqrt(np.mean(np.square(alpha)))) * rows
    column, row = np.minimum(across.astype(int), columns - 1), min(int(down), rows - 1)
    x, y = across - column, down - row
    upper = values[row, column] * (1 - x) + values[row, column + 1] * x
    return upper * (1 - y) + (values[row + 1, column] * (1 - x) + values[row + 1, column + 1] * x) * y


def single_albedo(f0: Array, f90: Array, albedo: Array, rise: Array) -> Array:
    """(N, 3) of a compensated layer of a dielectric."""
    single = f0 * (albedo - rise)[:, None] + f90 * rise[:, None]
    return np.minimum(single * lobes.compensation(f0, albedo), 1)


def local(way: Array, normal: Array, along: Array) -> Array:
    """In the frame of a normal, x along the projection of a direction."""
    right = bsdf_twin.unit(along - normal * dot(normal, along))
    return np.stack([way @ right, way @ np.cross(normal, right), way @ normal], axis=-1)


def scattered(own: Material, wo: Array, wi: Array, normal=UPRIGHT, coat_normal=UPRIGHT) -> Scattered:
    """Of one material; all wo on one side. normal, coat_normal : those of the maps. Below a roughness of 0.02 a lobe is
    single."""
    side = 1.0 if wo[0, 2] > 0 else -1.0
    turn = own.anisotropy_rotation
    frame = side * np.asarray(normal, float), np.array([np.cos(turn), np.sin(turn), 0.0])
    seen, to = local(wo, *frame), local(wi, *frame)
    ones, count = np.ones(3), len(wo)
    value, reflectance, mirrored, under = *(np.zeros((count, 3)) for _ in range(3)), np.ones(count)
    if own.clearcoat > 0:
        coat_frame = side * np.asarray(coat_normal, float), np.array([1.0, 0.0, 0.0])
        above, there = local(wo, *coat_frame), local(wi, *coat_frame)
        alpha = np.full(2, own.clearcoat_roughness**2)
        albedo = table("reflection", above[:, 2], alpha)
        rise = table("rise", above[:, 2], alpha, 1.5)
        coat = own.clearcoat * single_albedo(0.04 * ones, ones, albedo, rise)[:, 0]
        if own.clearcoat_roughness < SMOOTH:
            coat = own.clearcoat * bsdf_twin.fresnel(above[:, 2], np.full(count, 1.5))[0]
            mirrored += coat[:, None]
        else:
            varnish = lobes.specular(above, there, alpha, np.full(count, 1.5), 0.04 * ones, ones, albedo)
            value += own.clearcoat * varnish
            reflectance += coat[:, None]
        under *= 1 - coat
    cosine = seen[:, 2]
    if max(own.sheen_color) > 0:
        alpha = np.full(count, own.sheen_roughness**2)
        albedo = MAX_SHEEN_ALBEDO * table("sheen", cosine, alpha[:2])
        color = under[:, None] * own.sheen_color
        value += color * lobes.sheen(seen, to, alpha, albedo)[:, None]
        reflectance += color * np.minimum(albedo, 1)[:, None]
        under *= 1 - max(own.sheen_color) * np.minimum(albedo, 1)
    base, under = _base(own, seen, to, side > 0), under[:, None]
    return Scattered(
        value + under * base.value,
        reflectance + under * base.reflectance,
        mirrored + under * base.mirrored,
        under * base.refracted,
    )


def _base(own: Material, wo: Array, wi: Array, front: bool) -> Scattered:
    """Metal, dielectric and what is below, in the frame of the normal on the side of wo."""
    count, cosine, color = len(wo), wo[:, 2], np.array(own.base_color[:3])
    long = own.roughness**2 + (1 - own.roughness**2) * own.anisotropy**2
    alpha = np.array([long, own.roughness**2])
    smooth = own.roughness < SMOOTH and long < 0.1
    straight = ((own.ior - 1) / (own.ior + 1)) ** 2
    f0 = np.minimum(straight * np.array(own.specular_color), 1) * own.specular_factor
    f90 = np.full(3, own.specular_factor)
    albedo = table("reflection", cosine, alpha)
    rise = table("rise", cosine, alpha, own.ior)
    facet = dot(wo, lobes.half(wo, wi))
    metal, metal_all = (lobes.schlick(c, color, np.ones(3)) for c in (facet, cosine))
    ratio = np.full(count, own.ior)
    dielectric = lobes.dielectric(facet, ratio, f0, f90)
    dielectric_all = lobes.dielectric(cosine, ratio, f0, f90) if smooth else single_albedo(f0, f90, albedo, rise)
    if own.iridescence > 0:
        film = own.iridescence_ior, own.iridescence_thickness[1]
        share = own.iridescence
        metal += share * (lobes.film(facet, *film, color) - metal)
        metal_all += share * (lobes.film(cosine, *film, color) - metal_all)
        dielectric += share * (lobes.film(facet, *film, f0) - dielectric)
        risen = ((bsdf_twin.fresnel(cosine, ratio)[0] - straight) / (1 - straight))[:, None]
        filmed = lobes.film(cosine, *film, f0)
        if not smooth:
            under_film = np.clip((filmed - risen) / np.maximum(1 - risen, 1e-3), 0, 1)
            filmed = single_albedo(under_film, np.ones(3), albedo, rise)
        dielectric_all += share * (filmed - dielectric_all)
    compensation = lobes.metal_compensation(color, albedo, mean_albedo(alpha, count))
    opaque = (1 - own.metallic) * (1 - own.transmission)
    clear = (1 - own.metallic) * own.transmission
    matte = opaque * (1 - dielectric_all.max(axis=1))[:, None]
    reflected = color * matte * (1 - own.diffuse_transmission)
    through = np.array(own.diffuse_transmission_color) * matte * own.diffuse_transmission
    value = np.where(wi[:, 2:] > 0, reflected, through) * np.abs(wi[:, 2:]) / np.pi
    if smooth:
        mirrored, crossing = own.metallic * metal_all + opaque * dielectric_all, np.zeros((count, 3))
        if clear:
            far = ratio if front or own.thickness <= 0 else 1 / ratio
            back = lobes.dielectric(cosine, far, f0, f90)
            crossing = clear * color * (1 - back) * (bsdf_twin.fresnel(cosine, far)[1] > 0)[:, None]
            crossing /= far[:, None] ** 2 if own.thickness > 0 else 1
            mirrored += clear * back
        return Scattered(value, reflected, mirrored, crossing)
    lobe = lobes.reflection(wo, wi, alpha)[:, None]
    value += own.metallic * metal * compensation * lobe
    value += opaque * dielectric * lobes.compensation(f0, albedo) * lobe
    reflectance = reflected + own.metallic * metal_all * compensation * albedo[:, None] + opaque * dielectric_all
    if clear:
        value += clear * _passing(own, wo, wi, alpha, front, f0, f90)
        reflectance += clear * 0.5 * (1 + color)  # of light that is alike on both sides a half is behind
    return Scattered(value, reflectance, np.zeros((count, 3)), np.zeros((count, 3)))


def _passing(own: Material, wo: Array, wi: Array, alpha: Array, front: bool, f0: Array, f90: Array) -> Array:
    """A thin wall, or the boundary of a volume."""
    cosine, count, color = wo[:, 2], len(wo), np.array(own.base_color[:3])
    albedo = table("reflection", cosine, alpha)
    if own.thickness <= 0:
        return lobes.thin_dielectric(wo, wi, alpha, np.full(count, own.ior), f0, f90, color, albedo)[0]
    ratio = own.ior if front else 1 / own.ior
    grazing = f90 if ratio >= 1 else np.ones(3)
    rise, across = (table(name, cosine, alpha, ratio)[:, None] for name in ("rise", "crossing"))
    total = f0 * (albedo[:, None] - rise) + grazing * rise + (1 - f0) * across
    if ratio >= 1:
        total += (1 - grazing) * table("crossing_rise", cosine, alpha, ratio)[:, None]
    return lobes.rough_dielectric(wo, wi, alpha, np.full(count, ratio), f0, f90, color, total)[0]


def mean_albedo(alpha: Array, count: int) -> Array:
    """(count,) The table of E, its mean by the cosine."""
    cosine = (np.arange(2000) + 0.5) / 2000
    return np.full(count, (2 * cosine * table("reflection", cosine, alpha)).mean())
