"""Levels of Quake III Arena, BSP version 46: polygons, curved patches and meshes with vertex colours and lightmaps,
textures beside the file, lights, and player starts as cameras.

A level's unit becomes 1/32 m, and its +Z, up, becomes +Y. Light is traced; the level's lightmaps are the variant
``lightmaps``.
"""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.bsp import lumps as bsp
from raystream.formats.bsp.faces import Unfolded, drawn_faces, unfolded
from raystream.formats.files import Budget, read_file, resolve_uri, short
from raystream.formats.image.images import read_image
from raystream.formats.image.memory import ImageMemory
from raystream.scene.camera import Camera
from raystream.scene.classic import ClassicMaterial, ClassicTexture
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

NAME = "a Quake III level"

UNIT = 1.0 / 32.0  # metres
LIGHTMAPS = "lightmaps"
UNSEEN = 0x80 | 0x4  # surface flags: not drawn; sky
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
EYE = 26.0  # of a player above the start, level units
# A point light of "light" 300 has 300 * 7500 / d^2 of 255 at distance d (the level compiler's scale).
BRIGHTNESS, DEFAULT_LIGHT = 7500.0 / 255.0, 300.0
STARTS = ("info_player_start", "info_player_deathmatch", "info_player_intermission")
GREY = (0.5, 0.5, 0.5, 1.0)
_CHUNK = 1 << 16  # triangles turned to their normals at once
# Memory, with temporaries, of a material, a mesh, a vertex of a mesh, and an instance.
_MATERIAL_BYTES, _MESH_BYTES, _VERTEX_BYTES, _INSTANCE_BYTES = 2048, 8192, 192, 512


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with IBSP."""
    return head[:4] == bsp.MAGIC


def read(path: Path, max_texture: int | None = None) -> Scene:
    """The scene of a level, a mesh for each model, texture and lightmap. Raises ViewerError with the lump for malformed
    or truncated files, and for those that expand to far more data than they hold.

    max_texture : size at which pictures are read that would not fit.
    """
    data = read_file(path)
    budget = Budget(str(path))
    budget.grant(len(data))
    lumps = bsp.split(data, path)
    budget.charge(bsp.entities_size(lumps["entities"]))
    entities = bsp.entities(lumps["entities"], path)
    textures = bsp.array(lumps, "textures", bsp.TEXTURE)
    pages = bsp.array(lumps, "lightmaps", "u1").reshape(-1, bsp.PAGE, bsp.PAGE, 3)
    budget.charge(_MATERIAL_BYTES * len(textures))
    scene = Scene(name=path.stem, materials=[])
    shown = _materials(scene, textures, path, max_texture)
    lit = _lightmaps(scene, pages)
    models, offsets = _placed(
        bsp.array(lumps, "models", bsp.MODEL), entities, len(lumps["faces"]) // bsp.FACE.itemsize, path
    )
    drawn = np.unique(models)
    owners, numbers = drawn_faces(bsp.array(lumps, "models", bsp.MODEL)[drawn], lumps, budget, UNSEEN, path)
    faces = bsp.array(lumps, "faces", bsp.FACE)[numbers]
    kinds = np.stack([owners, faces["texture"], np.maximum(faces["lightmap"], -1)], axis=1)
    groups, group = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    geometry = unfolded(numbers[order], lumps, budget, path)
    counts = np.bincount(group.ravel()[order], geometry.counts, len(groups)).astype(np.int64)
    groups, counts = groups[counts > 0], counts[counts > 0]
    budget.charge(_MESH_BYTES * len(groups))
    names = [f"{_name(textures[texture])} {page}" for _, texture, page in groups.tolist()]
    scene.meshes = _meshes(geometry, counts, groups, [shown[texture] for texture in groups[:, 1]], names, budget)
    baked: dict[tuple[int, int], int] = {}
    for number, (_, texture, page) in enumerate(groups.tolist()):
        if (texture, page) not in baked:
            baked[texture, page] = _baked(scene, shown[texture], page, lit)
        scene.variants.setdefault(LIGHTMAPS, {})[number] = baked[texture, page]
    _instances(scene, groups[:, 0], drawn, models, offsets, budget)
    _lights(scene, entities, path)
    _cameras(scene, entities, path)
    return scene


def _placed(
    models: NDArray, entities: list[dict[str, str]], faces: int, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The world, and the models placed by entities: their numbers (N,), and offsets (N, 3) in level units."""
    first, count = models["face"].astype(np.int64), models["faces"].astype(np.int64)
    wrong = np.flatnonzero((first < 0) | (count < 0) | (first + count > faces))
    if len(wrong):
        number = wrong[0]
        what = f"model {number} has faces {first[number]:,} to {first[number] + count[number]:,} of {faces:,}"
        raise ViewerError(f"{path}: lump models", what, bsp.DAMAGED)
    numbers, offsets = [0] * min(len(models), 1), [np.zeros(3)] * min(len(models), 1)
    for entity in entities:
        name = entity.get("model", "")
        if name.startswith("*") and name[1:].isdecimal() and name.isascii() and 0 < int(name[1:8]) < len(models):
            numbers.append(int(name[1:8]))
            offsets.append(_vector(entity, "origin"))
    return np.array(numbers, np.int64), np.array(offsets).reshape(-1, 3)


def _meshes(
    geometry: Unfolded,
    counts: NDArray[np.int64],
    groups: NDArray[np.int64],
    materials: list[int],
    names: list[str],
    budget: Budget,
) -> list[Mesh]:
    """A mesh of each group of triangles, ``counts`` of them one behind the other. Normals define a triangle's front,
    as files disagree on winding."""
    triangles, level = geometry.triangles, geometry.vertices
    positions, normals = _turned(level["position"]) * np.float32(UNIT), _turned(level["normal"])
    for start in range(0, len(triangles), _CHUNK):
        part = triangles[start : start + _CHUNK]
        with np.errstate(over="ignore", invalid="ignore"):
            a, b, c = positions[part].astype(np.float64).transpose(1, 0, 2)
            front = np.cross(b - a, c - a)
            against = (front * normals[part].astype(np.float64).sum(axis=1)).sum(axis=1) < 0
        part[against] = part[against][:, [0, 2, 1]]
    # A vertex once for each group that uses it, ordered by groups.
    owner = np.repeat(np.arange(len(groups)), counts)
    triangles += owner[:, None] * len(level)
    keys, number = np.unique(triangles, return_inverse=True)
    triangles = number.reshape(-1, 3)
    budget.charge(_VERTEX_BYTES * len(keys))
    holder, used = np.divmod(keys, max(len(level), 1))
    corner_data, positions = level[used], positions[used]
    normals, _ = unit_normals(positions, triangles.astype(np.int32), normals[used])
    colors = corner_data["color"].astype(np.float32) / 255.0
    colors[:, 3] = 1.0
    uvs, uvs_1 = (
        np.nan_to_num(corner_data[name], posinf=0, neginf=0).astype(np.float32) for name in ("uv", "light_uv")
    )
    meshes = []
    ends, limits = np.cumsum(counts), np.searchsorted(holder, np.arange(len(groups) + 1)).tolist()
    for k, (last, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
        rows = slice(limits[k], limits[k + 1])
        mesh = Mesh(
            positions[rows],
            (triangles[last - count : last] - limits[k]).astype(np.int32),
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
    drawn: NDArray[np.int64],
    models: NDArray[np.int64],
    offsets: NDArray[np.float64],
    budget: Budget,
) -> None:
    """The meshes of each placed model at its place. owners : the place among ``drawn`` of each mesh's model."""
    starts = np.searchsorted(owners, np.arange(len(drawn) + 1))
    place = np.searchsorted(drawn, models)
    budget.charge(_INSTANCE_BYTES * int((starts[place + 1] - starts[place]).sum()))
    for number, offset in zip(place.tolist(), _turned(offsets) * UNIT, strict=True):
        transform = np.eye(4)
        transform[:3, 3] = offset
        for mesh in range(starts[number], starts[number + 1]):
            scene.instances.append(Instance(mesh, transform, name=scene.meshes[mesh].name))


def _turned(vectors: NDArray) -> NDArray:
    """(..., 3) with +Z up to those with +Y up."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


# -- looks -------------------------------------------------------------------------------------------------------------


def _name(texture: NDArray) -> str:
    return bytes(texture["name"]).split(b"\0", 1)[0].decode("latin-1")


def _materials(scene: Scene, textures: NDArray, path: Path, max_texture: int | None) -> list[int]:
    """A material for each texture, with the picture beside the file; grey without one."""
    absent, shown = [], []
    pictures = _Pictures(path.parent, scene, max_texture)
    for entry in textures:
        name = _name(entry)
        material = Material(name or "texture", GREY)
        if not int(entry["flags"]) & UNSEEN:
            image = pictures.image(name)
            if image is None:
                absent.append(name)
            else:
                material.base_color = (1.0, 1.0, 1.0, 1.0)
                material.texture = len(scene.textures)
                scene.textures.append(Texture(image, name=name))
        shown.append(len(scene.materials))
        scene.materials.append(material)
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        scene.warnings.append(f"no picture {short(absent[0])}{more} beside the level: grey")
    return shown


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
    numbers = []
    for number, page in enumerate(pages):
        texels = np.full((bsp.PAGE, bsp.PAGE, 4), 255, np.uint8)
        texels[..., :3] = page
        numbers.append(len(scene.textures))
        image = Image(texels, f"lightmap {number}")
        scene.textures.append(Texture(image, ("clamp", "clamp"), name=f"lightmap {number}", uv_set=1))
    return numbers


def _baked(scene: Scene, material: int, page: int, lit: list[int]) -> int:
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
    for number, entity in enumerate(entity for entity in entities if entity.get("classname") == "light"):
        strength = max(_number(entity, "light", _number(entity, "_light", DEFAULT_LIGHT)), 0.0)
        color = np.clip(_vector(entity, "_color", (1.0, 1.0, 1.0)), 0.0, 1e3)
        color = color / max(float(color.max()), 1e-9)
        scale = math.pi * strength * BRIGHTNESS * UNIT * UNIT
        at = _turned(_vector(entity, "origin")) * UNIT
        red, green, blue = (float(component) * scale for component in color)
        x, y, z = (float(component) for component in at)
        target = named.get(entity.get("target", ""))
        towards = None if target is None else _turned(_vector(target, "origin")) * UNIT - at
        if towards is None or not np.linalg.norm(towards) > 0:
            scene.lights.append(Light("point", f"light {number}", (x, y, z), intensity=(red, green, blue)))
            continue
        radius = max(_number(entity, "radius", 64.0), 1.0) * UNIT
        angle = min(max(math.atan2(radius, float(np.linalg.norm(towards))), 0.01), 1.5)
        dx, dy, dz = (float(component) for component in towards)
        scene.lights.append(
            Light("spot", f"light {number}", (x, y, z), (dx, dy, dz), (red, green, blue), 0.9 * angle, angle)
        )


def _cameras(scene: Scene, entities: list[dict[str, str]], path: Path) -> None:
    """Player starts, named after their kind and number."""
    starts = sorted(
        (STARTS.index(entity["classname"]), k, entity)
        for k, entity in enumerate(entities)
        if entity.get("classname") in STARTS
    )
    names: set[str] = set()
    for number, (_, _, entity) in enumerate(starts):
        origin = _vector(entity, "origin") + [0.0, 0.0, EYE]
        pitch, yaw, _ = _vector(entity, "angles").tolist()
        angle, tilt = math.radians(_number(entity, "angle", yaw)), math.radians(pitch)
        ahead = np.array([math.cos(angle) * math.cos(tilt), math.sin(angle) * math.cos(tilt), -math.sin(tilt)])
        eye, aim = _turned(origin) * UNIT, _turned(origin + 64.0 * ahead) * UNIT
        name = entity.get("name") or ("start" if number == 0 else f"start {number}")
        if name in names or not name.isprintable():
            name = f"start {number}"
        names.add(name)
        scene.cameras.append(Camera(tuple(map(float, eye)), tuple(map(float, aim)), fov=70.0, name=name))  # type: ignore[arg-type]
