"""Levels of Quake III Arena, BSP version 46: polygons, curved patches and meshes with vertex colours and lightmaps,
textures beside the file, lights, and player starts as cameras.

A level's unit becomes 1/32 m, and its +Z, up, becomes +Y. Light is traced; the level's lightmaps are the variant
``lightmaps``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import Budget, read_file, resolve_uri, short
from raystream.formats.image.images import ImageMemory, read_image
from raystream.scene.camera import Camera
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.light import Light
from raystream.scene.material import ClassicMaterial, ClassicTexture, Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

# -- the lumps of a Quake III Arena level, IBSP version 46: bytes -> arrays, checked -----------------------------------
# Source: id Software's ``qfiles.h`` (2005), and K. Proudfoot, *Unofficial Quake 3 Map Specs* (2000).

MAGIC, VERSION = b"IBSP", 46
PAGE = 128  # texels along a side of a lightmap
DAMAGED = "the level is damaged"
_TOKEN = re.compile(r'\s*(?:([{}])|"([^"]*)")')

TEXTURE = np.dtype([("name", "S64"), ("flags", "<i4"), ("contents", "<i4")])
MODEL = np.dtype([("box", "<f4", (2, 3)), ("face", "<i4"), ("faces", "<i4"), ("brush", "<i4"), ("brushes", "<i4")])
VERTEX = np.dtype(
    [("position", "<f4", 3), ("uv", "<f4", 2), ("light_uv", "<f4", 2), ("normal", "<f4", 3), ("color", "u1", 4)]
)
FACE = np.dtype(
    [
        *(
            (name, "<i4")
            for name in ("texture", "effect", "kind", "vertex", "vertices", "corner", "corners", "lightmap")
        ),
        ("light_start", "<i4", 2),
        ("light_size", "<i4", 2),
        ("light_origin", "<f4", 3),
        ("light_axes", "<f4", (2, 3)),
        ("normal", "<f4", 3),
        ("net", "<i4", 2),
    ]
)
POLYGON, PATCH, MESH, BILLBOARD = 1, 2, 3, 4  # kinds of faces

# In the file's order: a lump's name, and the bytes of an element; 1 for text and special layouts.
LUMPS = (
    *(("entities", 1), ("textures", 72), ("planes", 16), ("nodes", 36), ("leafs", 48), ("leaf faces", 4)),
    *(("leaf brushes", 4), ("models", 40), ("brushes", 12), ("brush sides", 8), ("vertices", 44), ("corners", 4)),
    *(("effects", 72), ("faces", 104), ("lightmaps", 3 * PAGE * PAGE), ("light volumes", 8), ("visibility", 1)),
)
HEADER = 8 + 8 * len(LUMPS)


def split_lumps(data: bytes, path: Path) -> dict[str, bytes]:
    """The bytes of each lump by name. Raises ViewerError for another version, and for a lump outside of the file or
    with a fractional number of elements."""
    if len(data) < HEADER:
        raise ViewerError(f"{path}: header", f"ends after {len(data)} of {HEADER} bytes", DAMAGED)
    version = int.from_bytes(data[4:8], "little")
    if version != VERSION:
        raise ViewerError(
            f"{path}: header", f"is a level of version {version}", f"version {VERSION} is read: Quake III"
        )
    table = np.frombuffer(data, "<i4", 2 * len(LUMPS), 8).reshape(-1, 2).tolist()
    lumps = {}
    for (name, size), (start, length) in zip(LUMPS, table, strict=True):
        where = f"{path}: lump {name}"
        if start < 0 or length < 0 or start + length > len(data):
            raise ViewerError(where, f"{length:,} bytes at {start:,} of a file of {len(data):,}", DAMAGED)
        if length % size:
            raise ViewerError(where, f"{length:,} bytes, not a multiple of the element's {size}", DAMAGED)
        lumps[name] = data[start : start + length]
    return lumps


def lump_array(lumps: dict[str, bytes], name: str, dtype: np.dtype | str) -> NDArray:
    """The elements of a lump."""
    return np.frombuffer(lumps[name], dtype)


def join_lumps(lumps: dict[str, bytes]) -> bytes:
    """A level of these lumps, by name; missing ones are empty."""
    header, body, start = bytearray(MAGIC + VERSION.to_bytes(4, "little")), bytearray(), HEADER
    for name, _ in LUMPS:
        data = lumps.get(name, b"")
        header += start.to_bytes(4, "little") + len(data).to_bytes(4, "little")
        padded = data + b"\0" * (-len(data) % 4)
        body += padded
        start += len(padded)
    return bytes(header + body)


def entities_size(text: bytes) -> int:
    """Approximate memory of `entities` in bytes."""
    return 256 * text.count(b"{") + 64 * text.count(b'"') + 2 * len(text)


def read_entities(text: bytes, path: Path) -> list[dict[str, str]]:
    """Keys and values of every entity, ``{ "key" "value" ... }``. Raises ViewerError for any other form."""
    where, records = f"{path}: lump entities", []
    decoded = text.split(b"\0", 1)[0].decode("latin-1").rstrip()
    position = 0
    current: dict[str, str] | None = None
    key: str | None = None
    while position < len(decoded):
        token = _TOKEN.match(decoded, position)
        brace = "" if token is None else token[1]
        if token is None or (brace == "{") != (current is None) or (brace == "}" and key is not None):
            raise ViewerError(where, f'is not of the form {{ "key" "value" }} at byte {position:,}', DAMAGED)
        position = token.end()
        if brace == "{":
            current = {}
        elif current is not None and brace == "}":
            records.append(current)
            current = None
        elif current is not None and key is None:
            key = token[2]
        elif current is not None and key is not None:
            current[key], key = token[2], None
    if current is not None:
        raise ViewerError(where, "ends within an entity", DAMAGED)
    return records


# -- faces of a Quake III level as triangles over one table of vertices, all at once: no loop runs over faces ----------

Index = NDArray[np.int64]
_ATTRIBUTES = (("position", 3), ("uv", 2), ("light_uv", 2), ("normal", 3), ("color", 4))
_WIDTH = sum(width for _, width in _ATTRIBUTES)
# Memory of a face's row with its temporaries, of a triangle until its vertices are numbered, and of a patch's point.
_FACE_BYTES, _TRIANGLE_BYTES, _POINT_BYTES = 512, 192, 64
_MAX_POINTS = 1 << 16  # tessellated at once


@dataclass(frozen=True)
class FaceTriangles:
    """The triangles of faces, in their order.

    vertices  : (V,) of dtype `VERTEX`: the level's, and those of tessellated patches.
    triangles : (T, 3) int64, numbers of vertices.
    counts    : (N,) int64, triangles of each face.
    """

    vertices: NDArray
    triangles: Index
    counts: Index


def expand_ranges(starts: Index, lengths: Index) -> Index:
    """The integers of all ranges start .. start + length - 1, one range behind the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


def drawn_faces(
    models: NDArray, lumps: dict[str, bytes], budget: Budget, hidden: int, path: Path
) -> tuple[Index, Index]:
    """The visible faces of some models: (index into ``models`` (N,), index of the face (N,)).

    hidden : flags of textures of which one hides a face. Raises ViewerError for a face that names anything out of
    range.
    """
    faces, textures = lump_array(lumps, "faces", FACE), lump_array(lumps, "textures", TEXTURE)
    lengths = models["faces"].astype(np.int64)
    budget.charge(_FACE_BYTES * int(lengths.sum()))
    indices = expand_ranges(models["face"].astype(np.int64), lengths)
    models_of_faces = np.repeat(np.arange(len(models)), lengths)
    chosen = faces[indices]
    refuse = _refusal(indices, path)
    for name, label, count in (
        ("texture", "texture", len(textures)),
        ("lightmap", "lightmap", len(lumps["lightmaps"]) // (3 * PAGE * PAGE)),
    ):
        value, lowest = chosen[name], 0 if name == "texture" else np.iinfo(np.int32).min
        refuse((value < lowest) | (value >= count), lambda row: f"names {label} {value[row]} of {count}")  # noqa: B023
    for name, lump, size in (("vertex", "vertices", VERTEX.itemsize), ("corner", "corners", 4)):
        first, run, total = chosen[name].astype(np.int64), chosen[lump].astype(np.int64), len(lumps[lump]) // size
        out_of_range = (run < 0) | ((run > 0) & ((first < 0) | (first + run > total)))
        refuse(
            out_of_range,
            lambda row: f"has {lump} {first[row]:,} to {first[row] + run[row]:,} of {total:,}",  # noqa: B023
        )
    flags = textures["flags"][chosen["texture"]] if len(chosen) else np.zeros(0, np.int32)
    visible = (flags & hidden == 0) & np.isin(chosen["kind"], (POLYGON, PATCH, MESH))
    return models_of_faces[visible], indices[visible]


def face_triangles(face_indices: Index, lumps: dict[str, bytes], budget: Budget, path: Path) -> FaceTriangles:
    """The triangles of faces by index, checked by `drawn_faces`.

    Raises ViewerError for corners that are not triangles of the face's own vertices, for nets that are not of odd
    sides, and beyond the budget.
    """
    faces, vertices = lump_array(lumps, "faces", FACE)[face_indices], lump_array(lumps, "vertices", VERTEX)
    curved = faces["kind"] == PATCH
    refuse = _refusal(face_indices, path)
    columns, rows = faces["net"].astype(np.int64).T
    vertex_counts = faces["vertices"].astype(np.int64)
    refuse(
        curved
        & ((np.minimum(columns, rows) < 3) | (columns % 2 == 0) | (rows % 2 == 0) | (columns * rows != vertex_counts)),
        lambda row: f"is a net of {columns[row]} x {rows[row]} control points, of {vertex_counts[row]}",
    )
    corners = np.where(curved, 0, faces["corners"].astype(np.int64))
    refuse(corners % 3 != 0, lambda row: f"has {corners[row]} corners, not a multiple of 3")
    points, triangle_counts = np.zeros(len(faces), np.int64), corners // 3
    points[curved], triangle_counts[curved] = tessellation_sizes(faces["net"][curved].astype(np.int64))
    budget.charge(_TRIANGLE_BYTES * int(triangle_counts.sum()) + _POINT_BYTES * int(points.sum()))

    starts = np.cumsum(triangle_counts) - triangle_counts
    triangles = np.empty((int(triangle_counts.sum()), 3), np.int64)
    flat = np.flatnonzero(~curved)
    indices = lump_array(lumps, "corners", "<i4")[expand_ranges(faces["corner"][flat].astype(np.int64), corners[flat])]
    face = np.repeat(flat, corners[flat])
    invalid = np.flatnonzero((indices < 0) | (indices >= vertex_counts[face]))
    if len(invalid):
        row = face[invalid[0]]
        raise ViewerError(
            f"{path}: face {face_indices[row]:,}", f"indexes one of its vertices beyond {vertex_counts[row]}", DAMAGED
        )
    triangles[expand_ranges(starts[flat], triangle_counts[flat])] = (indices + faces["vertex"][face]).reshape(-1, 3)
    tessellation = _tessellation(faces, vertices, np.flatnonzero(curved), points, starts, triangles)
    return FaceTriangles(np.concatenate([vertices, tessellation]), triangles, triangle_counts)


def _refusal(indices: Index, path: Path) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    def refuse(wrong: NDArray[np.bool_], what: Callable[[int], str]) -> None:
        """Raise ViewerError for the first wrong face."""
        if wrong.any():
            row = int(wrong.argmax())
            raise ViewerError(f"{path}: face {indices[row]:,}", what(row), DAMAGED)

    return refuse


def _tessellation(
    faces: NDArray, vertices: NDArray, curved: Index, points: Index, starts: Index, triangles: Index
) -> NDArray:
    """The points of patches, dtype `VERTEX`; their triangles are written from ``starts`` on. Patches whose nets have
    equal sides are tessellated together."""
    tessellation = np.zeros(int(points.sum()), VERTEX)
    first_points = np.cumsum(points) - points
    sides, shape = np.unique(faces["net"][curved], axis=0, return_inverse=True)
    order = np.argsort(shape.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(shape.ravel(), minlength=len(sides)))
    for (width, height), end, first in zip(sides.tolist(), ends.tolist(), [0, *ends.tolist()], strict=False):
        rows = curved[order[first:end]]
        step = max(1, _MAX_POINTS // int(points[rows[0]]))
        for patches in (rows[start : start + step] for start in range(0, len(rows), step)):
            controls = vertices[faces["vertex"][patches].astype(np.int64)[:, None] + np.arange(width * height)]
            values = np.concatenate([controls[name].astype(np.float64) for name, _ in _ATTRIBUTES], axis=-1)
            nets = np.nan_to_num(values, nan=0.0, posinf=1e30, neginf=-1e30).reshape(
                len(patches), height, width, _WIDTH
            )
            surface, pattern = tessellate(nets)
            target = expand_ranges(first_points[patches], points[patches])
            tessellation[target] = _vertex_rows(surface.reshape(-1, _WIDTH))
            corners = pattern + (len(vertices) + first_points[patches])[:, None, None]
            triangles[expand_ranges(starts[patches], np.full(len(patches), len(pattern)))] = corners.reshape(-1, 3)
    return tessellation


def _vertex_rows(values: NDArray[np.float64]) -> NDArray:
    """Attributes (N, 14) as rows of dtype `VERTEX`."""
    rows, start = np.zeros(len(values), VERTEX), 0
    with np.errstate(over="ignore", invalid="ignore"):
        for name, width in _ATTRIBUTES:
            part = values[:, start : start + width]
            rows[name] = np.clip(np.rint(part), 0, 255) if name == "color" else part
            start += width
    return rows


STEPS = 8  # segments of a patch along each side


def tessellate(nets: NDArray[np.float64], steps: int = STEPS) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (..., (rows) (columns), C) of nets (..., H, W, C) of control points with any attributes, H and W odd and
    at least 3, and the triangles (T, 3) of each; neighbouring patches share points."""
    points = interpolate_axis(interpolate_axis(nets, -3, steps), -2, steps)
    rows, columns = points.shape[-3:-1]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    return points.reshape(*points.shape[:-3], rows * columns, points.shape[-1]), triangles


def tessellation_sizes(sides: NDArray[np.int64], steps: int = STEPS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of points and of triangles (N,) of nets of those sides (N, 2)."""
    cells = (sides - 1) // 2 * steps
    return (cells + 1).prod(axis=1), 2 * cells.prod(axis=1)


def interpolate_axis(nets: NDArray[np.float64], axis: int, steps: int) -> NDArray[np.float64]:
    """Points of quadratic Bézier patches along one axis: 2 k + 1 control points become ``steps`` k + 1 values."""
    nets = np.moveaxis(nets, axis, 0)
    patches = (len(nets) - 1) // 2
    sample = np.arange(patches * steps + 1)
    patch = np.minimum(sample // steps, patches - 1)
    t = (sample / steps - patch).reshape(-1, *[1] * (nets.ndim - 1))
    first = 2 * patch
    values = (1 - t) ** 2 * nets[first] + 2 * t * (1 - t) * nets[first + 1] + t**2 * nets[first + 2]
    return np.moveaxis(values, 0, axis)


# -- the level as a scene ----------------------------------------------------------------------------------------------

NAME = "a Quake III level"

UNIT = 1.0 / 32.0  # metres
LIGHTMAPS = "lightmaps"
HIDDEN_FLAGS = 0x80 | 0x4  # surface flags: not drawn; sky
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
EYE_HEIGHT = 26.0  # of a player above the start, level units
# A point light of "light" 300 has 300 * 7500 / d^2 of 255 at distance d (the level compiler's scale).
BRIGHTNESS, DEFAULT_LIGHT = 7500.0 / 255.0, 300.0
STARTS = ("info_player_start", "info_player_deathmatch", "info_player_intermission")
GREY = (0.5, 0.5, 0.5, 1.0)
_CHUNK = 1 << 16  # triangles turned to their normals at once
# Memory, with temporaries, of a material, a mesh, a vertex of a mesh, and an instance.
_MATERIAL_BYTES, _MESH_BYTES, _VERTEX_BYTES, _INSTANCE_BYTES = 2048, 8192, 192, 512


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with IBSP."""
    return head[:4] == MAGIC


def read(path: Path, max_texture: int | None = None) -> Scene:
    """The scene of a level, a mesh for each model, texture and lightmap. Raises ViewerError with the lump for malformed
    or truncated files, and for those that expand to far more data than they hold.

    max_texture : size at which pictures are read that would not fit.
    """
    data = read_file(path)
    budget = Budget(str(path))
    budget.grant(len(data))
    lumps = split_lumps(data, path)
    budget.charge(entities_size(lumps["entities"]))
    entities = read_entities(lumps["entities"], path)
    textures = lump_array(lumps, "textures", TEXTURE)
    pages = lump_array(lumps, "lightmaps", "u1").reshape(-1, PAGE, PAGE, 3)
    budget.charge(_MATERIAL_BYTES * len(textures))
    scene = Scene(name=path.stem, materials=[])
    materials = _materials(scene, textures, path, max_texture)
    lightmaps = _lightmaps(scene, pages)
    models, offsets = _placed_models(
        lump_array(lumps, "models", MODEL), entities, len(lumps["faces"]) // FACE.itemsize, path
    )
    used_models = np.unique(models)
    owners, indices = drawn_faces(lump_array(lumps, "models", MODEL)[used_models], lumps, budget, HIDDEN_FLAGS, path)
    faces = lump_array(lumps, "faces", FACE)[indices]
    kinds = np.stack([owners, faces["texture"], np.maximum(faces["lightmap"], -1)], axis=1)
    groups, group = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    geometry = face_triangles(indices[order], lumps, budget, path)
    counts = np.bincount(group.ravel()[order], geometry.counts, len(groups)).astype(np.int64)
    groups, counts = groups[counts > 0], counts[counts > 0]
    budget.charge(_MESH_BYTES * len(groups))
    names = [f"{_name(textures[texture])} {page}" for _, texture, page in groups.tolist()]
    scene.meshes = _meshes(geometry, counts, groups, [materials[texture] for texture in groups[:, 1]], names, budget)
    baked: dict[tuple[int, int], int] = {}
    for index, (_, texture, page) in enumerate(groups.tolist()):
        if (texture, page) not in baked:
            baked[texture, page] = _add_baked_material(scene, materials[texture], page, lightmaps)
        scene.variants.setdefault(LIGHTMAPS, {})[index] = baked[texture, page]
    _instances(scene, groups[:, 0], used_models, models, offsets, budget)
    _lights(scene, entities, path)
    _cameras(scene, entities, path)
    return scene


def _placed_models(
    models: NDArray, entities: list[dict[str, str]], faces: int, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The world, model 0, and the models that entities place: (indices (N,), offsets (N, 3) in level units)."""
    first, count = models["face"].astype(np.int64), models["faces"].astype(np.int64)
    wrong = np.flatnonzero((first < 0) | (count < 0) | (first + count > faces))
    if len(wrong):
        index = wrong[0]
        what = f"model {index} has faces {first[index]:,} to {first[index] + count[index]:,} of {faces:,}"
        raise ViewerError(f"{path}: lump models", what, DAMAGED)
    indices, offsets = [0] * min(len(models), 1), [np.zeros(3)] * min(len(models), 1)
    for entity in entities:
        name = entity.get("model", "")
        if name.startswith("*") and name[1:].isdecimal() and name.isascii() and 0 < int(name[1:8]) < len(models):
            indices.append(int(name[1:8]))
            offsets.append(_vector(entity, "origin"))
    return np.array(indices, np.int64), np.array(offsets).reshape(-1, 3)


def _meshes(
    geometry: FaceTriangles,
    counts: NDArray[np.int64],
    groups: NDArray[np.int64],
    materials: list[int],
    names: list[str],
    budget: Budget,
) -> list[Mesh]:
    """A mesh of each group of triangles, ``counts`` of them one behind the other. Normals define a triangle's front,
    as files disagree on winding."""
    triangles, level = geometry.triangles, geometry.vertices
    positions, normals = _z_up_to_y_up(level["position"]) * np.float32(UNIT), _z_up_to_y_up(level["normal"])
    for start in range(0, len(triangles), _CHUNK):
        part = triangles[start : start + _CHUNK]
        with np.errstate(over="ignore", invalid="ignore"):
            a, b, c = positions[part].astype(np.float64).transpose(1, 0, 2)
            front = np.cross(b - a, c - a)
            is_flipped = (front * normals[part].astype(np.float64).sum(axis=1)).sum(axis=1) < 0
        part[is_flipped] = part[is_flipped][:, [0, 2, 1]]
    # A vertex once for each group that uses it, ordered by groups.
    triangle_groups = np.repeat(np.arange(len(groups)), counts)
    triangles += triangle_groups[:, None] * len(level)
    keys, indices = np.unique(triangles, return_inverse=True)
    triangles = indices.reshape(-1, 3)
    budget.charge(_VERTEX_BYTES * len(keys))
    vertex_groups, level_vertices = np.divmod(keys, max(len(level), 1))
    corner_data, positions = level[level_vertices], positions[level_vertices]
    normals, _ = unit_normals(positions, triangles.astype(np.int32), normals[level_vertices])
    colors = corner_data["color"].astype(np.float32) / 255.0
    colors[:, 3] = 1.0
    uvs, uvs_1 = (
        np.nan_to_num(corner_data[name], posinf=0, neginf=0).astype(np.float32) for name in ("uv", "light_uv")
    )
    meshes = []
    ends, starts = (np.cumsum(counts), np.searchsorted(vertex_groups, np.arange(len(groups) + 1)).tolist())
    for k, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
        rows = slice(starts[k], starts[k + 1])
        mesh = Mesh(
            positions[rows],
            (triangles[end - count : end] - starts[k]).astype(np.int32),
            np.full(count, materials[k], np.int32),
            normals[rows],
            uvs[rows],
            colors[rows] if groups[k, 2] < 0 else None,
            names[k],
            uvs_1[rows],
        )
        meshes.append(mesh)
    return meshes


def _instances(
    scene: Scene,
    owners: NDArray[np.int64],
    used_models: NDArray[np.int64],
    models: NDArray[np.int64],
    offsets: NDArray[np.float64],
    budget: Budget,
) -> None:
    """Append instances of the meshes of each placed model. owners : of each mesh, the index of its model among
    ``used_models``. models, offsets : of the placed ones, level units."""
    starts = np.searchsorted(owners, np.arange(len(used_models) + 1))
    slot = np.searchsorted(used_models, models)
    budget.charge(_INSTANCE_BYTES * int((starts[slot + 1] - starts[slot]).sum()))
    for index, offset in zip(slot.tolist(), _z_up_to_y_up(offsets) * UNIT, strict=True):
        transform = np.eye(4)
        transform[:3, 3] = offset
        for mesh in range(starts[index], starts[index + 1]):
            scene.instances.append(Instance(mesh, transform, name=scene.meshes[mesh].name))


def _z_up_to_y_up(vectors: NDArray) -> NDArray:
    """Vectors (..., 3) with +Z up as vectors with +Y up."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


# -- looks -------------------------------------------------------------------------------------------------------------


def _name(texture: NDArray) -> str:
    return bytes(texture["name"]).split(b"\0", 1)[0].decode("latin-1")


def _materials(scene: Scene, textures: NDArray, path: Path, max_texture: int | None) -> list[int]:
    """Add a material for each texture to the scene, with the picture beside the file, grey without one; each texture's
    material index."""
    absent, material_indices = [], []
    pictures = _Pictures(path.parent, scene, max_texture)
    for entry in textures:
        name = _name(entry)
        material = Material(name or "texture", GREY)
        if not int(entry["flags"]) & HIDDEN_FLAGS:
            image = pictures.image(name)
            if image is None:
                absent.append(name)
            else:
                material.base_color = (1.0, 1.0, 1.0, 1.0)
                material.texture = len(scene.textures)
                scene.textures.append(Texture(image, name=name))
        material_indices.append(len(scene.materials))
        scene.materials.append(material)
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        scene.warnings.append(f"no picture {short(absent[0])}{more} beside the level: grey")
    return material_indices


class _Pictures:
    """The pictures of textures, each file read once; those that are unreadable are noted in the scene's warnings."""

    def __init__(self, folder: Path, scene: Scene, max_texture: int | None) -> None:
        self.folder, self.scene, self.memory = folder, scene, ImageMemory(max_texture)
        self._files: dict[Path, Image | None] = {}

    def image(self, name: str) -> Image | None:
        """The picture of a texture, searched in the level's own folder and below."""
        plain = PurePosixPath(name)
        stem = name[: -len(plain.suffix)] if plain.suffix else name
        for ending in ENDINGS:
            if not os.path.exists(os.path.join(self.folder, stem + ending)):
                continue
            try:
                file = resolve_uri(self.folder, stem + ending, name, encoded=False)
            except ViewerError:
                continue
            if file not in self._files:
                self._files[file] = self._read(file, name)
            return self._files[file]
        return None

    def _read(self, file: Path, name: str) -> Image | None:
        try:
            return read_image(self.memory, read_file(file, name), name, file.name)
        except ViewerError as error:
            self.scene.warnings.append(f"texture {short(name)}: {error.what}: grey")
            return None


def _lightmaps(scene: Scene, pages: NDArray[np.uint8]) -> list[int]:
    """A texture for each page."""
    indices = []
    for index, page in enumerate(pages):
        texels = np.full((PAGE, PAGE, 4), 255, np.uint8)
        texels[..., :3] = page
        indices.append(len(scene.textures))
        image = Image(texels, f"lightmap {index}")
        scene.textures.append(Texture(image, ("clamp", "clamp"), name=f"lightmap {index}", uv_set=1))
    return indices


def _add_baked_material(scene: Scene, material: int, page: int, lit: list[int]) -> int:
    """The material with baked light: a lightmap's, or else vertex colours."""
    plain = scene.materials[material]
    layers = (ClassicTexture(lit[page]),) if page >= 0 else ()
    baked = ClassicMaterial(vertex_colors=page < 0, textures=layers)
    name = f"{plain.name}, baked {page}"
    scene.materials.append(Material(name, plain.base_color, kind="classic", classic=baked, texture=plain.texture))
    return len(scene.materials) - 1


# -- entities ----------------------------------------------------------------------------------------------------------


def _vector(
    entity: dict[str, str], key: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> NDArray[np.float64]:
    """Three numbers; the default for anything else."""
    parts = entity.get(key, "").split()
    try:
        vector = np.array([float(part) for part in parts], np.float64)
    except ValueError:
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all() or np.abs(vector).max() > 1e9:
        return np.array(default)
    return vector


def _number(entity: dict[str, str], key: str, default: float) -> float:
    try:
        value = float(entity.get(key, ""))
    except ValueError:
        return default
    return value if math.isfinite(value) and abs(value) < 1e9 else default


def _lights(scene: Scene, entities: list[dict[str, str]], path: Path) -> None:
    """Lights as points, or as spots towards their targets."""
    named = {entity["targetname"]: entity for entity in entities if entity.get("targetname")}
    for index, entity in enumerate(entity for entity in entities if entity.get("classname") == "light"):
        strength = max(_number(entity, "light", _number(entity, "_light", DEFAULT_LIGHT)), 0.0)
        color = np.clip(_vector(entity, "_color", (1.0, 1.0, 1.0)), 0.0, 1e3)
        color = color / max(float(color.max()), 1e-9)
        scale = math.pi * strength * BRIGHTNESS * UNIT * UNIT
        position = _z_up_to_y_up(_vector(entity, "origin")) * UNIT
        red, green, blue = (float(component) * scale for component in color)
        x, y, z = (float(component) for component in position)
        target = named.get(entity.get("target", ""))
        direction = None if target is None else _z_up_to_y_up(_vector(target, "origin")) * UNIT - position
        if direction is None or not np.linalg.norm(direction) > 0:
            scene.lights.append(Light("point", f"light {index}", (x, y, z), intensity=(red, green, blue)))
            continue
        radius = max(_number(entity, "radius", 64.0), 1.0) * UNIT
        angle = min(max(math.atan2(radius, float(np.linalg.norm(direction))), 0.01), 1.5)
        dx, dy, dz = (float(component) for component in direction)
        scene.lights.append(
            Light("spot", f"light {index}", (x, y, z), (dx, dy, dz), (red, green, blue), 0.9 * angle, angle)
        )


def _cameras(scene: Scene, entities: list[dict[str, str]], path: Path) -> None:
    """Player starts, named after their kind and number."""
    starts = sorted(
        (STARTS.index(entity["classname"]), k, entity)
        for k, entity in enumerate(entities)
        if entity.get("classname") in STARTS
    )
    names: set[str] = set()
    for index, (_, _, entity) in enumerate(starts):
        origin = _vector(entity, "origin") + [0.0, 0.0, EYE_HEIGHT]
        pitch, yaw, _ = _vector(entity, "angles").tolist()
        angle, tilt = math.radians(_number(entity, "angle", yaw)), math.radians(pitch)
        forward = np.array([math.cos(angle) * math.cos(tilt), math.sin(angle) * math.cos(tilt), -math.sin(tilt)])
        eye, aim = _z_up_to_y_up(origin) * UNIT, _z_up_to_y_up(origin + 64.0 * forward) * UNIT
        name = entity.get("name") or ("start" if index == 0 else f"start {index}")
        if name in names or not name.isprintable():
            name = f"start {index}"
        names.add(name)
        scene.cameras.append(Camera(tuple(map(float, eye)), tuple(map(float, aim)), fov=70.0, name=name))  # type: ignore[arg-type]
