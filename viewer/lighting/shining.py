"""Surfaces on which a texture shines: how bright it is on each of their triangles, for choosing these as lights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.kernels.records import HIT
from viewer.materials.look import shining
from viewer.scene.color import linear_texels
from viewer.scene.light import luminance
from viewer.scene.mesh import Mesh
from viewer.scene.mipmaps import halved
from viewer.scene.scene import Scene
from viewer.scene.texture import Texture
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.declare.record import Field, Record

NAME = "shining faces"
SHINING = Record("Shining", Field("share", "float", about="of the brightest that the material could be, in the mean"))
_SIDE = 8  # places looked at along each side of a triangle's square
_CHUNK = 1 << 14  # triangles at once


def shares(scene: Scene, mesh: Mesh) -> NDArray[np.float64]:
    """(T,): mean luminance of a texture's light on each triangle over that of its factor; 1 where none shines.

    By places on the triangle, in an image as small as these are far apart: what they miss is found by chance, and no
    light is lost.
    """
    found = np.ones(len(mesh.triangles))
    for number in sorted(shining(scene)):
        own = np.flatnonzero(mesh.materials == number)
        material = scene.materials[number]
        if not len(own) or material.emission_texture is None:
            continue
        texture = scene.textures[material.emission_texture]
        uvs = coordinates(mesh, texture)
        whole = float(luminance(np.asarray(material.emission, np.float64)))
        texels = linear_texels(texture.image.texels, texture.content == "color")[..., :3]
        levels = [np.asarray(luminance(texels * np.asarray(material.emission, np.float64)) / whole, np.float32)]
        while levels[-1].shape != (1, 1):
            levels.append(halved(halved(levels[-1], 0), 1))
        chosen = _levels(texture, uvs[mesh.triangles[own]], len(levels))
        for level in np.unique(chosen):
            alike = own[chosen == level]
            for first in range(0, len(alike), _CHUNK):
                part = alike[first : first + _CHUNK]
                found[part] = _looked_up(levels[level], texture, uvs[mesh.triangles[part]]).mean(axis=1)
    return found


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


def _looked_up(bright: NDArray, texture: Texture, corners: NDArray) -> NDArray[np.float64]:
    """(T, N) at places spread evenly over triangles of texture coordinates (T, 3, 2)."""
    u, v = ((np.indices((_SIDE, _SIDE)) + 0.5) / _SIDE).reshape(2, -1)
    second, third = np.where(v > u, 0.5 * u, u - 0.5 * v), np.where(v > u, v - 0.5 * u, 0.5 * v)
    weights = np.stack([1.0 - second - third, second, third])
    places = np.einsum("kn,tkc->tnc", weights, corners.astype(np.float64))
    places = places @ texture.transform[:, :2].T + texture.transform[:, 2]
    places = np.where(np.abs(places) < 1e9, places, 0.0)
    index = []
    for axis, size in ((0, bright.shape[1]), (1, bright.shape[0])):
        at, way = places[..., axis], texture.wrap[axis]
        turned = np.abs(at - 2.0 * np.round(0.5 * at)) if way == "mirrored" else at - np.floor(at)
        inside = np.clip(at, 0.0, 1.0) if way == "clamp" else turned
        index.append(np.clip((inside * size).astype(np.intp), 0, size - 1))
    return np.asarray(bright[index[1], index[0]])


def shining_faces(scene: Scene, meshes: Sequence[Mesh]) -> Module:
    """``shining_share`` over the faces of meshes, one behind the other."""
    known: dict[int, NDArray] = {}
    for mesh in meshes:
        if id(mesh) not in known:
            known[id(mesh)] = shares(scene, mesh)
    rows = np.zeros(max(1, sum(len(mesh.triangles) for mesh in meshes)), SHINING.dtype)
    if meshes:
        rows["share"] = np.concatenate([known[id(mesh)] for mesh in meshes])
    return Module(
        NAME,
        provides=("shining_share",),
        source="shading/shining.glsl",
        memories=(Table("shining", SHINING, rows),),
        needs=("detail_at",),
        uses=(HIT,),
    )
