"""The emitters of a scene: the triangles and spheres of all instances with emissive materials; and the brightness of
emissive textures on each of their triangles, for choosing these as lights."""

from __future__ import annotations

import operator
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
_SAMPLE_SIDE = 8  # sample points along each side of the square that is folded onto a triangle
_ROWS_PER_BAND = 64  # of texels that are converted at once
_REPEAT, _MIRRORED = WRAPS["repeat"], WRAPS["mirrored"]
MAX_INTERPRETED = 16  # triangles up to which the loop runs uncompiled


def shares(scene: Scene, mesh: Mesh) -> NDArray[np.float64]:
    """(T,): mean luminance of the emissive texture on each triangle over that of its factor; 1 without such a texture.
    Estimated at points of the triangle, in the mip level whose texels are as large as their distances. Light between
    them is found by BSDF sampling."""
    emissive = [(index, scene.materials[index]) for index in sorted(textured_emitters(scene))]
    textured = {
        index: (scene.textures[material.emission_texture], tuple(material.emission))
        for index, material in emissive
        if material.emission_texture is not None
    }
    inputs: list[Any] = [mesh.triangles, mesh.materials, mesh.uvs, mesh.uvs_1]
    inputs += [value for texture, factor in textured.values() for value in (texture, *factor)]
    cached = _SHARE_CACHE.get(id(mesh))
    if cached is None or len(cached.inputs) != len(inputs) or not all(map(operator.is_, cached.inputs, inputs)):
        key = id(mesh)
        mesh_reference = ref(mesh, lambda _: _SHARE_CACHE.pop(key, None))
        cached = _SHARE_CACHE[key] = _CachedShares(mesh_reference, inputs, _shares(mesh, textured))
    return cached.shares


class _CachedShares(NamedTuple):
    """The shares of a mesh, and the inputs of their computation; dropped with the mesh."""

    mesh: ref[Mesh]
    inputs: list[Any]
    shares: NDArray[np.float64]


_SHARE_CACHE: dict[int, _CachedShares] = {}  # several tables need them, and each move of a light


def _shares(mesh: Mesh, textured: Mapping[int, tuple[Texture, tuple[float, ...]]]) -> NDArray[np.float64]:
    """`shares` of a mesh. textured : index of a material -> its emissive texture and factor."""
    fractions = np.ones(len(mesh.triangles))
    u, v = ((np.indices((_SAMPLE_SIDE, _SAMPLE_SIDE)) + 0.5) / _SAMPLE_SIDE).reshape(2, -1)
    # Points of the unit square, folded onto the triangle: weights of the second and third corner.
    points = np.stack([np.where(v > u, 0.5 * u, u - 0.5 * v), np.where(v > u, v - 0.5 * u, 0.5 * v)], axis=1)
    for index, (texture, factor) in textured.items():
        textured_triangles = np.flatnonzero(mesh.materials == index)
        if not len(textured_triangles):
            continue
        uvs = coordinates(mesh, texture)
        emission = np.asarray(factor, np.float64)
        factor_luminance = float(luminance(emission))
        texels = texture.image.texels
        levels: list[NDArray[np.float32]] = [np.empty(texels.shape[:2], np.float32)]
        for row in range(0, len(texels), _ROWS_PER_BAND):  # faster than all at once, and with less memory
            rows = slice(row, row + _ROWS_PER_BAND)
            linear = linear_texels(texels[rows], texture.content == "color")[..., :3]
            levels[0][rows] = luminance(linear * emission) / factor_luminance
        while levels[-1].shape != (1, 1):
            levels.append(halved(halved(levels[-1], 0), 1))
        wrap_u, wrap_v = (WRAPS[mode] for mode in texture.wrap)
        triangle_levels = _mip_levels(texture, uvs[mesh.triangles[textured_triangles]], len(levels))
        for level in np.unique(triangle_levels):
            rows_of_level = textured_triangles[triangle_levels == level]
            means = np.empty(len(rows_of_level))
            light, corners = np.ascontiguousarray(levels[level]), uvs[mesh.triangles[rows_of_level]]
            arguments = light, corners, points, wrap_u, wrap_v, np.ascontiguousarray(texture.transform)
            run(_mean_texels, *arguments, means, small=len(rows_of_level) < MAX_INTERPRETED)
            fractions[rows_of_level] = means
    return fractions


def _mip_levels(texture: Texture, corners: NDArray, count: int) -> NDArray[np.int64]:
    """(T,): the mip level, of ``count``, whose texels are about as large as the distances of a triangle's sample
    points. corners : (T, 3, 2) texture coordinates."""
    size = np.array(texture.image.texels.shape[1::-1])
    sides = np.ptp(corners.astype(np.float64) @ texture.transform[:, :2].T * size, axis=1).max(axis=1)
    return np.ceil(np.log2(np.clip(sides / _SAMPLE_SIDE, 1.0, 2.0**count))).astype(np.int64).clip(0, count - 1)


def coordinates(mesh: Mesh, texture: Texture) -> NDArray[np.float32]:
    """(V, 2): the texture coordinates of a mesh that the texture uses; zeros where it has none."""
    uvs = mesh.uvs_1 if texture.uv_set == 1 else mesh.uvs
    return np.zeros((len(mesh.positions), 2), np.float32) if uvs is None else uvs


def _mean_texels(brightness, corners, points, wrap_u, wrap_v, matrix, out):
    """The means out (T,) of an image (H, W) float32 at places (N, 2), weights of the second and third corner, of
    triangles of texture coordinates (T, 3, 2) float32, which matrix (2, 3) turns into those of the image; wrap_u,
    wrap_v : values of `WRAPS`."""
    height, width = brightness.shape
    for t in range(len(corners)):
        u, v = np.float64(corners[t, 0, 0]), np.float64(corners[t, 0, 1])
        au, av = np.float64(corners[t, 1, 0]) - u, np.float64(corners[t, 1, 1]) - v
        bu, bv = np.float64(corners[t, 2, 0]) - u, np.float64(corners[t, 2, 1]) - v
        total = 0.0
        for n in range(len(points)):
            second, third = points[n, 0], points[n, 1]
            pu, pv = u + second * au + third * bu, v + second * av + third * bv
            x = matrix[0, 0] * pu + matrix[0, 1] * pv + matrix[0, 2]
            y = matrix[1, 0] * pu + matrix[1, 1] * pv + matrix[1, 2]
            total += np.float64(brightness[_texel(y, height, wrap_v), _texel(x, width, wrap_u)])
        out[t] = total / len(points)


@helper
def _texel(coordinate, size, wrap):
    """The index, along one axis of ``size`` texels, of the texel at a texture coordinate."""
    if not abs(coordinate) < 1e9:
        coordinate = 0.0
    if wrap == _REPEAT:
        coordinate -= np.floor(coordinate)
    elif wrap == _MIRRORED:
        coordinate = abs(coordinate - 2.0 * np.floor(0.5 * coordinate + 0.5))
    return np.int64(min(max(coordinate * size, 0.0), size - 1.0))


def emission_shares(scene: Scene, meshes: Sequence[Mesh]) -> Module:
    """The module of ``emission_share`` over the faces of ``meshes``, in that order."""
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


SPHERE_TOLERANCE = 1e-4  # relative difference of the axes of what counts as a sphere


class Emitters(NamedTuple):
    """L emissive triangles and spheres; the front of a triangle is where its corners run counter-clockwise.

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
    """The emissive triangles and spheres of all instances, in the order of `Scene.flatten`; with keys where some move.
    Raises ViewerError for an emissive quadric that is no sphere in world space."""
    triangles = _emitters_at_rest(scene)
    if not len(triangles.corners) or key_count(scene) == 1:
        return triangles
    keys = np.stack(
        [triangles.corners, *(_emitters_at_rest(scene_at_key).corners for scene_at_key in at_keys(scene)[1:])]
    )
    return triangles._replace(keys=keys) if (keys != keys[:1]).any() else triangles


def _emitters_at_rest(scene: Scene) -> Emitters:
    """`emitters` without keys."""
    emission = np.array([material.emission for material in scene.materials], np.float32).reshape(-1, 3)
    textured = textured_emitters(scene)
    is_spotted = np.array([material.emission_texture is not None for material in scene.materials], bool)
    is_spotted[sorted(textured)] = False
    textures, uvs, brightness = [np.zeros(0, np.int32)], [np.zeros((0, 3, 2), np.float32)], [np.zeros(0)]
    share_cache: dict[int, NDArray[np.float64]] = {}
    dark = np.asarray(np.all(emission <= 0, axis=1)) | is_spotted  # what is not a number is found below
    corners: list[NDArray] = [np.zeros((0, 3, 3), np.float32)]
    materials: list[NDArray] = [np.zeros(0, np.int32)]
    is_quadric: list[NDArray] = [np.zeros(0, bool)]
    numbers: list[NDArray] = [np.zeros((0, 2), np.int64)]
    starts = np.cumsum([0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)])[:-1]
    for instance_index, instance in () if dark.all() else enumerate(scene.instances):
        mesh = scene.meshes[instance.mesh]
        override = instance.material
        face_materials = mesh.materials if override is None else np.full(len(mesh.triangles), override, np.int32)
        emissive = np.flatnonzero(~dark[face_materials])
        if not len(emissive):
            continue
        materials.append(face_materials[emissive].astype(np.int32))
        numbers.append(np.column_stack([np.full(len(emissive), instance_index), starts[instance_index] + emissive]))
        is_quadric.append(np.full(len(emissive), isinstance(mesh, (Quadric, Quadrics))))
        textures.append(np.full(len(emissive), -1, np.int32))
        uvs.append(np.zeros((len(emissive), 3, 2), np.float32))
        brightness.append(np.ones(len(emissive)))
        for index in sorted(textured & set(face_materials[emissive].tolist())):
            texture = scene.materials[index].emission_texture
            assert texture is not None
            if id(mesh) not in share_cache:
                share_cache[id(mesh)] = shares(scene, mesh)
            of_material = np.flatnonzero(face_materials[emissive] == index)
            textures[-1][of_material], brightness[-1][of_material] = (
                texture,
                share_cache[id(mesh)][emissive[of_material]],
            )
            uvs[-1][of_material] = coordinates(mesh, scene.textures[texture])[mesh.triangles[emissive[of_material]]]
        if isinstance(mesh, (Quadric, Quadrics)):
            corners.append(_spheres(f"{scene.name}: {instance.name or mesh.name}", mesh, instance.transform)[emissive])
            continue
        points = mesh.positions[mesh.triangles[emissive]]
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
        np.concatenate(corners), emission[material_indices], material_indices, np.concatenate(is_quadric)
    )
    indices = np.concatenate(numbers)
    triangles = triangles._replace(instance=indices[:, 0].astype(np.int32), triangle=indices[:, 1], starts=starts)
    doubled = np.array([material.double_sided for material in scene.materials], bool)
    if len(material_indices) and doubled[material_indices].any():
        triangles = triangles._replace(both=doubled[material_indices])
    if not textured:
        return triangles
    return triangles._replace(
        texture=np.concatenate(textures), uvs=np.concatenate(uvs), share=np.concatenate(brightness)
    )


def _spheres(where: str, mesh: Quadric | Quadrics, transform: NDArray[np.float64]) -> NDArray[np.float32]:
    """(T, 3, 3): the rows of ``corners`` of a mesh's spheres, see `Emitters`. where : in the error of other
    quadrics."""
    to_world = transform @ mesh.maps
    linear = to_world[:, :3, :3]
    square = linear.transpose(0, 2, 1) @ linear
    size = np.trace(square, axis1=1, axis2=2) / 3.0
    deviation = np.abs(square - size[:, None, None] * np.eye(3)).max(axis=(1, 2))
    if not mesh.shape.whole_sphere or not (deviation <= SPHERE_TOLERANCE * size).all():
        hint = "of quadrics only whole spheres, scaled evenly, are lights; use triangles"
        raise ViewerError(where, "emits light, and is not a sphere", hint)
    rows = np.zeros((len(to_world), 3, 3), np.float32)
    rows[:, 0], rows[:, 1, 0] = to_world[:, :3, 3], np.sqrt(size)
    rows[:, 1, 1] = -1.0 if mesh.shape.flipped else 1.0
    return rows
