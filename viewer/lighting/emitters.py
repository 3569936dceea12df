"""The emitters of a scene: the triangles and spheres of all instances with emissive materials; and the brightness of
emissive textures on each of their triangles, for choosing these as lights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import helper, run
from raystream.kernels.records import HIT
from raystream.materials.surface_features import textured_emitters
from raystream.scene.edits.mipmaps import halved
from raystream.scene.exposure import at_keys, key_count
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.light import luminance
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene
from raystream.scene.texture import WRAPS, Texture, linear_texels
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

EMISSION_SHARES = "emission shares"  # name of the module
EMISSION_SHARE = Record(
    "EmissionShare", Field("share", "float", about="of the brightest that the material could be, in the mean")
)
_SIDE = 8  # places looked at along each side of a triangle's square
_ROWS = 64  # of texels that are made linear at once
_REPEAT, _MIRRORED = WRAPS["repeat"], WRAPS["mirrored"]
SMALL = 16  # triangles up to which the loop is not worth compiling


def shares(scene: Scene, mesh: Mesh) -> NDArray[np.float64]:
    """(T,): mean luminance of a texture's light on each triangle over that of its factor; 1 where none shines.

    By places on the triangle, in an image as small as these are far apart: light that they miss is found by BSDF
    sampling, and none is lost.
    """
    lit = [(index, scene.materials[index]) for index in sorted(textured_emitters(scene))]
    textured = {
        index: (scene.textures[material.emission_texture], tuple(material.emission))
        for index, material in lit
        if material.emission_texture is not None
    }
    parts: list[Any] = [mesh.triangles, mesh.materials, mesh.uvs, mesh.uvs_1]
    parts += [part for texture, factor in textured.values() for part in (texture, *factor)]
    cached = _HELD.get(id(mesh))
    if cached is None or len(cached.of) != len(parts) or any(a is not b for a, b in zip(cached.of, parts, strict=True)):
        key = id(mesh)
        cached = _HELD[key] = _Held(ref(mesh, lambda _: _HELD.pop(key, None)), parts, _shares(mesh, textured))
    return cached.shares


class _Held(NamedTuple):
    """The shares of a mesh and their inputs, for as long as the mesh is there."""

    mesh: ref[Mesh]
    of: list[Any]
    shares: NDArray[np.float64]


_HELD: dict[int, _Held] = {}  # several tables need them, and each move of a light


def _shares(mesh: Mesh, textured: Mapping[int, tuple[Texture, tuple[float, ...]]]) -> NDArray[np.float64]:
    """`shares` by textures and factors of materials, by their indices."""
    fractions = np.ones(len(mesh.triangles))
    u, v = ((np.indices((_SIDE, _SIDE)) + 0.5) / _SIDE).reshape(2, -1)
    # The square, folded onto the triangle.
    places = np.stack([np.where(v > u, 0.5 * u, u - 0.5 * v), np.where(v > u, v - 0.5 * u, 0.5 * v)], axis=1)
    for index, (texture, factor) in textured.items():
        textured_triangles = np.flatnonzero(mesh.materials == index)
        if not len(textured_triangles):
            continue
        uvs = coordinates(mesh, texture)
        emission = np.asarray(factor, np.float64)
        factor_luminance = float(luminance(emission))
        texels = texture.image.texels
        levels: list[NDArray[np.float32]] = [np.empty(texels.shape[:2], np.float32)]
        for row in range(0, len(texels), _ROWS):  # few at once: texels are read faster, and less memory is taken
            rows = slice(row, row + _ROWS)
            linear = linear_texels(texels[rows], texture.content == "color")[..., :3]
            levels[0][rows] = luminance(linear * emission) / factor_luminance
        while levels[-1].shape != (1, 1):
            levels.append(halved(halved(levels[-1], 0), 1))
        wrap_u, wrap_v = (WRAPS[mode] for mode in texture.wrap)
        chosen = _levels(texture, uvs[mesh.triangles[textured_triangles]], len(levels))
        for level in np.unique(chosen):
            alike = textured_triangles[chosen == level]
            means = np.empty(len(alike))
            light, corners = np.ascontiguousarray(levels[level]), uvs[mesh.triangles[alike]]
            arguments = light, corners, places, wrap_u, wrap_v, np.ascontiguousarray(texture.transform)
            run(_mean, *arguments, means, small=len(alike) < SMALL)
            fractions[alike] = means
    return fractions


def _levels(texture: Texture, corners: NDArray, count: int) -> NDArray[np.int64]:
    """(T,): of ``count`` images, each half as large as the one before, the one whose texels are as large as the places
    of triangles (T, 3, 2) are apart."""
    size = np.array(texture.image.texels.shape[1::-1])
    sides = np.ptp(corners.astype(np.float64) @ texture.transform[:, :2].T * size, axis=1).max(axis=1)
    return np.ceil(np.log2(np.clip(sides / _SIDE, 1.0, 2.0**count))).astype(np.int64).clip(0, count - 1)


def coordinates(mesh: Mesh, texture: Texture) -> NDArray[np.float32]:
    """(V, 2): by which a mesh looks the texture up."""
    chosen = mesh.uvs_1 if texture.uv_set == 1 else mesh.uvs
    return np.zeros((len(mesh.positions), 2), np.float32) if chosen is None else chosen


def _mean(bright, corners, places, wrap_u, wrap_v, matrix, out):
    """The means out (T,) of an image (H, W) float32 at places (N, 2), weights of the second and third corner, of
    triangles of texture coordinates (T, 3, 2) float32, which matrix (2, 3) turns into those of the image; wrap_u,
    wrap_v : how it goes on, values of `WRAPS`."""
    height, width = bright.shape
    for t in range(len(corners)):
        u, v = np.float64(corners[t, 0, 0]), np.float64(corners[t, 0, 1])
        au, av = np.float64(corners[t, 1, 0]) - u, np.float64(corners[t, 1, 1]) - v
        bu, bv = np.float64(corners[t, 2, 0]) - u, np.float64(corners[t, 2, 1]) - v
        total = 0.0
        for n in range(len(places)):
            second, third = places[n, 0], places[n, 1]
            pu, pv = u + second * au + third * bu, v + second * av + third * bv
            x = matrix[0, 0] * pu + matrix[0, 1] * pv + matrix[0, 2]
            y = matrix[1, 0] * pu + matrix[1, 1] * pv + matrix[1, 2]
            total += np.float64(bright[_texel(y, height, wrap_v), _texel(x, width, wrap_u)])
        out[t] = total / len(places)


@helper
def _texel(at, size, wrap):
    """The number of the texel at a coordinate along an axis."""
    if not abs(at) < 1e9:
        at = 0.0
    if wrap == _REPEAT:
        at -= np.floor(at)
    elif wrap == _MIRRORED:
        at = abs(at - 2.0 * np.floor(0.5 * at + 0.5))
    return np.int64(min(max(at * size, 0.0), size - 1.0))


def emission_shares(scene: Scene, meshes: Sequence[Mesh]) -> Module:
    """``emission_share`` over the faces of meshes, one behind the other."""
    cache: dict[int, NDArray] = {}
    for mesh in meshes:
        if id(mesh) not in cache:
            cache[id(mesh)] = shares(scene, mesh)
    rows = np.zeros(max(1, sum(len(mesh.triangles) for mesh in meshes)), EMISSION_SHARE.dtype)
    if meshes:
        rows["share"] = np.concatenate([cache[id(mesh)] for mesh in meshes])
    return Module(
        EMISSION_SHARES,
        provides=("emission_share",),
        source="shading/emission_share.glsl",
        memories=(Table("emission_shares", EMISSION_SHARE, rows),),
        needs=("tangents_at",),
        uses=(HIT,),
    )


EVEN = 1e-4  # relative difference of a sphere's axes up to which it is a sphere


class Emitters(NamedTuple):
    """Triangles and spheres that shine, L of them: triangles where their corners run counter-clockwise.

    corners (L, 3, 3) float32, world space. emission (L, 3) float32, W/(m^2 sr), the same wherever material (L,) int32
    is the same. sphere (L,): where a row of corners is a sphere's centre, then its radius and side as in `LIGHT`; None:
    nowhere. texture (L,), uvs (L, 3, 2), share (L,): the texture that shines there, -1: none, its coordinates at the
    corners, and its mean luminance over that of ``emission``; None where no texture shines. both (L,): whether both
    sides shine; None: nowhere. instance (L,), triangle (L,): whose triangle each is, and its index in the scene,
    ascending; starts (I,): of each instance's first triangle; None: they are of no scene. keys (K, L, 3, 3): the
    corners at the keys of an exposure, the first of them ``corners``; None: nothing moves.
    """

    corners: NDArray[np.float32]
    emission: NDArray[np.float32]
    material: NDArray[np.int32]
    sphere: NDArray[np.bool_] | None = None
    texture: NDArray[np.int32] | None = None
    uvs: NDArray[np.float32] | None = None
    share: NDArray[np.float64] | None = None
    both: NDArray[np.bool_] | None = None
    instance: NDArray[np.int32] | None = None
    triangle: NDArray[np.int64] | None = None
    starts: NDArray[np.int64] | None = None
    keys: NDArray[np.float32] | None = None


def emitters(scene: Scene) -> Emitters:
    """The triangles of all instances whose material shines, in scene order: those of `Scene.flatten`, for flat and
    two-level scenes alike; with their keys where some move.

    Raises ViewerError for a quadric that shines and is no sphere in the world.
    """
    triangles = _standing(scene)
    if not len(triangles.corners) or key_count(scene) == 1:
        return triangles
    keys = np.stack([triangles.corners, *(_standing(scene_at_key).corners for scene_at_key in at_keys(scene)[1:])])
    return triangles._replace(keys=keys) if (keys != keys[:1]).any() else triangles


def _standing(scene: Scene) -> Emitters:
    emission = np.array([material.emission for material in scene.materials], np.float32).reshape(-1, 3)
    textured = textured_emitters(scene)
    spotted = np.array([material.emission_texture is not None for material in scene.materials], bool)
    spotted[sorted(textured)] = False
    textures, uvs, bright = [np.zeros(0, np.int32)], [np.zeros((0, 3, 2), np.float32)], [np.zeros(0)]
    share_cache: dict[int, NDArray[np.float64]] = {}
    dark = np.asarray(np.all(emission <= 0, axis=1)) | spotted  # what is not a number is found below
    corners: list[NDArray] = [np.zeros((0, 3, 3), np.float32)]
    materials: list[NDArray] = [np.zeros(0, np.int32)]
    round_ones: list[NDArray] = [np.zeros(0, bool)]
    places: list[NDArray] = [np.zeros((0, 2), np.int64)]
    starts = np.cumsum([0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)])[:-1]
    for instance_index, instance in () if dark.all() else enumerate(scene.instances):
        mesh = scene.meshes[instance.mesh]
        override = instance.material
        face_materials = mesh.materials if override is None else np.full(len(mesh.triangles), override, np.int32)
        lit = np.flatnonzero(~dark[face_materials])
        if not len(lit):
            continue
        materials.append(face_materials[lit].astype(np.int32))
        places.append(np.column_stack([np.full(len(lit), instance_index), starts[instance_index] + lit]))
        round_ones.append(np.full(len(lit), isinstance(mesh, (Quadric, Quadrics))))
        textures.append(np.full(len(lit), -1, np.int32))
        uvs.append(np.zeros((len(lit), 3, 2), np.float32))
        bright.append(np.ones(len(lit)))
        for index in sorted(textured & set(face_materials[lit].tolist())):
            texture = scene.materials[index].emission_texture
            assert texture is not None
            if id(mesh) not in share_cache:
                share_cache[id(mesh)] = shares(scene, mesh)
            alike = np.flatnonzero(face_materials[lit] == index)
            textures[-1][alike], bright[-1][alike] = texture, share_cache[id(mesh)][lit[alike]]
            uvs[-1][alike] = coordinates(mesh, scene.textures[texture])[mesh.triangles[lit[alike]]]
        if isinstance(mesh, (Quadric, Quadrics)):
            corners.append(_spheres(f"{scene.name}: {instance.name or mesh.name}", mesh, instance.transform)[lit])
            continue
        points = mesh.positions[mesh.triangles[lit]]
        linear = instance.transform[:3, :3]
        if not np.array_equal(instance.transform, np.eye(4)):
            with np.errstate(all="ignore"):  # what is not finite is left out below
                points = (points.astype(np.float64) @ linear.T + instance.transform[:3, 3]).astype(np.float32)
        mirrored = np.linalg.det(linear) < 0
        corners.append(points[:, [0, 2, 1]] if mirrored else points)
        if mirrored:
            uvs[-1] = uvs[-1][:, [0, 2, 1]]
    material_indices = np.concatenate(materials)
    triangles = Emitters(
        np.concatenate(corners), emission[material_indices], material_indices, np.concatenate(round_ones)
    )
    listed = np.concatenate(places)
    triangles = triangles._replace(instance=listed[:, 0].astype(np.int32), triangle=listed[:, 1], starts=starts)
    doubled = np.array([material.double_sided for material in scene.materials], bool)
    if len(material_indices) and doubled[material_indices].any():
        triangles = triangles._replace(both=doubled[material_indices])
    if not textured:
        return triangles
    return triangles._replace(texture=np.concatenate(textures), uvs=np.concatenate(uvs), share=np.concatenate(bright))


def _spheres(where: str, mesh: Quadric | Quadrics, transform: NDArray[np.float64]) -> NDArray[np.float32]:
    """(T, 3, 3), see `Emitters`."""
    placed = transform @ mesh.maps
    linear = placed[:, :3, :3]
    square = linear.transpose(0, 2, 1) @ linear
    size = np.trace(square, axis1=1, axis2=2) / 3.0
    off = np.abs(square - size[:, None, None] * np.eye(3)).max(axis=(1, 2))
    if not mesh.shape.whole_sphere or not (off <= EVEN * size).all():
        hint = "of quadrics only whole spheres, scaled evenly, are lights; use triangles"
        raise ViewerError(where, "emits light, and is not a sphere", hint)
    rows = np.zeros((len(placed), 3, 3), np.float32)
    rows[:, 0], rows[:, 1, 0] = placed[:, :3, 3], np.sqrt(size)
    rows[:, 1, 1] = -1.0 if mesh.shape.flipped else 1.0
    return rows
