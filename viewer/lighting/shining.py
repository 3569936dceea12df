"""Surfaces on which a texture shines: how bright it is on each of their triangles, for choosing these as lights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper, run
from raystream.kernels.records import HIT
from raystream.materials.look import shining
from raystream.scene.edits.mipmaps import halved
from raystream.scene.light import luminance
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import WRAPS, Texture, linear_texels
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

NAME = "shining faces"
SHINING = Record("Shining", Field("share", "float", about="of the brightest that the material could be, in the mean"))
_SIDE = 8  # places looked at along each side of a triangle's square
_ROWS = 64  # of texels that are made linear at once
_REPEAT, _MIRRORED = WRAPS["repeat"], WRAPS["mirrored"]
SMALL = 16  # triangles up to which the loop is not worth compiling


def shares(scene: Scene, mesh: Mesh) -> NDArray[np.float64]:
    """(T,): mean luminance of a texture's light on each triangle over that of its factor; 1 where none shines.

    By places on the triangle, in an image as small as these are far apart: light that they miss is found by BSDF
    sampling, and none is lost.
    """
    lit = [(index, scene.materials[index]) for index in sorted(shining(scene))]
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
    """Of an image (H, W) float32, means out (T,) at places (N, 2), weights of the second and third corner, of triangles
    of texture coordinates (T, 3, 2) float32, which matrix (2, 3) turns into those of the image; wrap_u, wrap_v : how
    it goes on, values of `WRAPS`."""
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


def shining_faces(scene: Scene, meshes: Sequence[Mesh]) -> Module:
    """``shining_share`` over the faces of meshes, one behind the other."""
    cache: dict[int, NDArray] = {}
    for mesh in meshes:
        if id(mesh) not in cache:
            cache[id(mesh)] = shares(scene, mesh)
    rows = np.zeros(max(1, sum(len(mesh.triangles) for mesh in meshes)), SHINING.dtype)
    if meshes:
        rows["share"] = np.concatenate([cache[id(mesh)] for mesh in meshes])
    return Module(
        NAME,
        provides=("shining_share",),
        source="shading/shining.glsl",
        memories=(Table("shining", SHINING, rows),),
        needs=("detail_at",),
        uses=(HIT,),
    )
