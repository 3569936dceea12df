"""Levels of Quake III Arena, BSP version 46: polygons, curved patches and meshes with vertex colours and lightmaps,
textures beside the file, lights, and player starts as cameras.

A level's unit becomes 1/32 m, and its +Z, up, becomes +Y. Light is traced; the level's lightmaps are the variant
``lightmaps``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.formats.bsp import lumps as bsp
from viewer.formats.bsp.patches import STEPS, tessellated
from viewer.formats.files import read_file, resolve_uri, short
from viewer.formats.image.images import LARGEST_IMAGE, MOST_TEXELS, decode
from viewer.scene.camera import Camera
from viewer.scene.classic import ClassicMaterial, ClassicTexture
from viewer.scene.geometry.normals import unit_normals
from viewer.scene.light import Light
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Image, Texture

NAME = "a Quake III level"

UNIT = 1.0 / 32.0  # metres
LIGHTMAPS = "lightmaps"
UNSEEN = 0x80 | 0x4  # surface flags: not drawn; sky
MOST_TRIANGLES = 1 << 24
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
EYE = 26.0  # of a player above the start, level units
# A point light of "light" 300 has 300 * 7500 / d^2 of 255 at distance d (the level compiler's scale).
BRIGHTNESS, DEFAULT_LIGHT = 7500.0 / 255.0, 300.0
STARTS = ("info_player_start", "info_player_deathmatch", "info_player_intermission")
GREY = (0.5, 0.5, 0.5, 1.0)


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with IBSP."""
    return head[:4] == bsp.MAGIC


def read(path: Path) -> Scene:
    """The scene of a level, a mesh for each texture and lightmap. Raises ViewerError with the lump for malformed or
    truncated files."""
    lumps = bsp.split(read_file(path), path)
    entities = bsp.entities(lumps["entities"], path)
    textures = bsp.array(lumps, "textures", bsp.TEXTURE)
    faces = bsp.array(lumps, "faces", bsp.FACE)
    models = bsp.array(lumps, "models", bsp.MODEL)
    vertices, corners = bsp.array(lumps, "vertices", bsp.VERTEX), bsp.array(lumps, "corners", "<i4")
    pages = bsp.array(lumps, "lightmaps", "u1").reshape(-1, bsp.PAGE, bsp.PAGE, 3)
    scene = Scene(name=path.stem, materials=[])
    shown = _materials(scene, textures, path)
    lit = _lightmaps(scene, pages)
    budget = MOST_TRIANGLES
    for model, offset in _placed(models, entities, len(faces), path):
        groups: dict[tuple[int, int], list[_Part]] = defaultdict(list)
        for number in range(int(model["face"]), int(model["face"]) + int(model["faces"])):
            face = faces[number]
            where = f"{path}: face {number:,}"
            _check(face, len(textures), len(pages), len(vertices), len(corners), where)
            texture = int(face["texture"])
            if int(textures[texture]["flags"]) & UNSEEN or face["kind"] not in (bsp.POLYGON, bsp.PATCH, bsp.MESH):
                continue
            part = _patch(face, vertices, where) if face["kind"] == bsp.PATCH else _flat(face, vertices, corners, where)
            budget -= len(part[1])
            if budget < 0:
                raise ViewerError(str(path), f"more than {MOST_TRIANGLES:,} triangles", "it is damaged, or too large")
            if len(part[1]):
                groups[texture, max(int(face["lightmap"]), -1)].append(part)
        for (texture, page), parts in sorted(groups.items()):
            _add(scene, parts, shown[texture], page, f"{_name(textures[texture])} {page}", offset)
            scene.variants.setdefault(LIGHTMAPS, {})[len(scene.meshes) - 1] = _baked(scene, shown[texture], page, lit)
    _lights(scene, entities, path)
    _cameras(scene, entities, path)
    return scene


_Part = tuple[NDArray, NDArray[np.int64]]  # vertices of dtype `VERTEX`, and triangles of them


def _placed(
    models: NDArray, entities: list[dict[str, str]], faces: int, path: Path
) -> list[tuple[NDArray, NDArray[np.float64]]]:
    """The world, and the models placed by entities, each with its offset in level units."""
    found = []
    for number, model in enumerate(models):
        first, count = int(model["face"]), int(model["faces"])
        if first < 0 or count < 0 or first + count > faces:
            raise ViewerError(
                f"{path}: lump models",
                f"model {number} has faces {first:,} to {first + count:,} of {faces:,}",
                bsp.DAMAGED,
            )
        if number == 0:
            found.append((model, np.zeros(3)))
    for entity in entities:
        name = entity.get("model", "")
        if name.startswith("*") and name[1:].isdecimal() and name.isascii() and 0 < int(name[1:8]) < len(models):
            found.append((models[int(name[1:8])], _vector(entity, "origin")))
    return found


def _check(face: NDArray, textures: int, pages: int, vertices: int, corners: int, where: str) -> None:
    """Raise ViewerError for an index out of range."""
    if not 0 <= face["texture"] < textures:
        raise ViewerError(where, f"names texture {face['texture']} of {textures}", bsp.DAMAGED)
    if face["lightmap"] >= pages:
        raise ViewerError(where, f"names lightmap {face['lightmap']} of {pages}", bsp.DAMAGED)
    for label, first, count, total in (
        ("vertices", int(face["vertex"]), int(face["vertices"]), vertices),
        ("corners", int(face["corner"]), int(face["corners"]), corners),
    ):
        if count < 0 or (count and (first < 0 or first + count > total)):
            raise ViewerError(where, f"has {label} {first:,} to {first + count:,} of {total:,}", bsp.DAMAGED)


def _flat(face: NDArray, vertices: NDArray, corners: NDArray, where: str) -> _Part:
    """A polygon or mesh: triangles as stored in the level."""
    own = vertices[int(face["vertex"]) : int(face["vertex"]) + int(face["vertices"])]
    triangles = corners[int(face["corner"]) : int(face["corner"]) + int(face["corners"])].astype(np.int64)
    if len(triangles) % 3:
        raise ViewerError(where, f"has {len(triangles)} corners, not a multiple of 3", bsp.DAMAGED)
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(own)):
        raise ViewerError(where, f"indexes one of its vertices beyond {len(own)}", bsp.DAMAGED)
    return own, triangles.reshape(-1, 3)


def _patch(face: NDArray, vertices: NDArray, where: str) -> _Part:
    """A curved face, tessellated with its colours and coordinates."""
    wide, tall = (int(each) for each in face["net"])
    if wide < 3 or tall < 3 or wide % 2 == 0 or tall % 2 == 0 or wide * tall != int(face["vertices"]):
        raise ViewerError(where, f"is a net of {wide} x {tall} control points, of {face['vertices']}", bsp.DAMAGED)
    if wide * tall * STEPS * STEPS > MOST_TRIANGLES:
        raise ViewerError(where, f"is a net of {wide} x {tall} control points", "it is damaged, or too large")
    own = vertices[int(face["vertex"]) : int(face["vertex"]) + int(face["vertices"])]
    values = [own[name].astype(np.float64) for name in ("position", "uv", "light_uv", "normal", "color")]
    net = np.nan_to_num(np.concatenate(values, axis=1), nan=0.0, posinf=1e30, neginf=-1e30)
    points, triangles = tessellated(net.reshape(tall, wide, -1))
    made = np.zeros(len(points), bsp.VERTEX)
    with np.errstate(over="ignore", invalid="ignore"):
        start = 0
        for name, width in (("position", 3), ("uv", 2), ("light_uv", 2), ("normal", 3)):
            made[name] = points[:, start : start + width]
            start += width
    made["color"] = np.clip(np.rint(points[:, start:]), 0, 255)
    return made, triangles


def _add(scene: Scene, parts: list[_Part], material: int, page: int, name: str, offset: NDArray[np.float64]) -> None:
    """The parts as one mesh with its instance. Normals define a triangle's front, as files disagree on winding."""
    starts = np.cumsum([0, *(len(own) for own, _ in parts[:-1])])
    own = np.concatenate([each for each, _ in parts])
    triangles = np.concatenate([part + start for (_, part), start in zip(parts, starts, strict=True)])
    positions, normals = _turned(own["position"]) * np.float32(UNIT), _turned(own["normal"])
    with np.errstate(over="ignore", invalid="ignore"):
        a, b, c = positions[triangles].astype(np.float64).transpose(1, 0, 2)
        front = np.cross(b - a, c - a)
        against = (front * normals[triangles].astype(np.float64).sum(axis=1)).sum(axis=1) < 0
    triangles[against] = triangles[against][:, [0, 2, 1]]
    used, number = np.unique(triangles, return_inverse=True)
    own, triangles = own[used], number.reshape(-1, 3)
    positions, normals = positions[used], normals[used]
    normals, _ = unit_normals(positions, triangles.astype(np.int32), normals)
    colors = own["color"].astype(np.float32) / 255.0
    colors[:, 3] = 1.0
    mesh = Mesh(positions, triangles.astype(np.int32), np.full(len(triangles), material, np.int32), normals, name=name)
    mesh.uvs, mesh.uvs_1 = (
        np.nan_to_num(own[each], posinf=0, neginf=0).astype(np.float32) for each in ("uv", "light_uv")
    )
    if page < 0:
        mesh.colors = colors
    transform = np.eye(4)
    transform[:3, 3] = _turned(offset) * UNIT
    scene.meshes.append(mesh)
    scene.instances.append(Instance(len(scene.meshes) - 1, transform, name=name))


def _turned(vectors: NDArray) -> NDArray:
    """(..., 3) with +Z up to those with +Y up."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


# -- looks -------------------------------------------------------------------------------------------------------------


def _name(texture: NDArray) -> str:
    return bytes(texture["name"]).split(b"\0", 1)[0].decode("latin-1")


def _materials(scene: Scene, textures: NDArray, path: Path) -> list[int]:
    """A material for each texture, with the picture beside the file; grey without one."""
    absent, texels, shown = [], 0, []
    for entry in textures:
        name = _name(entry)
        material = Material(name or "texture", GREY)
        if not int(entry["flags"]) & UNSEEN:
            image = _picture(path.parent, name, MOST_TEXELS - texels, scene)
            if image is None:
                absent.append(name)
            else:
                texels += image.size[0] * image.size[1]
                material.base_color = (1.0, 1.0, 1.0, 1.0)
                material.texture = len(scene.textures)
                scene.textures.append(Texture(image, name=name))
        shown.append(len(scene.materials))
        scene.materials.append(material)
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        scene.warnings.append(f"no picture {short(absent[0])}{more} beside the level: grey")
    return shown


def _picture(folder: Path, name: str, most: int, scene: Scene) -> Image | None:
    """The picture of a texture, searched in the level's own folder and below."""
    plain = PurePosixPath(name)
    stem = name[: -len(plain.suffix)] if plain.suffix else name
    for ending in ENDINGS:
        try:
            file = resolve_uri(folder, stem + ending, name, encoded=False)
        except ViewerError:
            continue
        try:
            return decode(read_file(file, name), name, file.name, min(LARGEST_IMAGE, most))
        except ViewerError as error:
            scene.warnings.append(f"texture {short(name)}: {error.what}: grey")
            return None
    return None


def _lightmaps(scene: Scene, pages: NDArray[np.uint8]) -> list[int]:
    """A texture for each page."""
    found = []
    for number, page in enumerate(pages):
        texels = np.full((bsp.PAGE, bsp.PAGE, 4), 255, np.uint8)
        texels[..., :3] = page
        found.append(len(scene.textures))
        image = Image(texels, f"lightmap {number}")
        scene.textures.append(Texture(image, ("clamp", "clamp"), name=f"lightmap {number}", uv_set=1))
    return found


def _baked(scene: Scene, material: int, page: int, lit: list[int]) -> int:
    """The material with baked light: a lightmap's, or else vertex colours."""
    plain = scene.materials[material]
    layers = (ClassicTexture(lit[page]),) if page >= 0 else ()
    baked = ClassicMaterial(vertex_colors=page < 0, textures=layers)
    name = f"{plain.name}, baked {page}"
    for number, each in enumerate(scene.materials):
        if each.name == name:
            return number
    scene.materials.append(Material(name, plain.base_color, kind="classic", classic=baked, texture=plain.texture))
    return len(scene.materials) - 1


# -- entities ----------------------------------------------------------------------------------------------------------


def _vector(
    entity: dict[str, str], key: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> NDArray[np.float64]:
    """Three numbers; the default for anything else."""
    parts = entity.get(key, "").split()
    try:
        found = np.array([float(part) for part in parts], np.float64)
    except ValueError:
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all() or np.abs(found).max() > 1e9:
        return np.array(default)
    return found


def _number(entity: dict[str, str], key: str, default: float) -> float:
    try:
        value = float(entity.get(key, ""))
    except ValueError:
        return default
    return value if math.isfinite(value) and abs(value) < 1e9 else default


def _lights(scene: Scene, entities: list[dict[str, str]], path: Path) -> None:
    """Lights as points, or as spots towards their targets."""
    named = {entity["targetname"]: entity for entity in entities if entity.get("targetname")}
    for number, entity in enumerate(each for each in entities if each.get("classname") == "light"):
        strength = max(_number(entity, "light", _number(entity, "_light", DEFAULT_LIGHT)), 0.0)
        color = np.clip(_vector(entity, "_color", (1.0, 1.0, 1.0)), 0.0, 1e3)
        color = color / max(float(color.max()), 1e-9)
        scale = math.pi * strength * BRIGHTNESS * UNIT * UNIT
        at = _turned(_vector(entity, "origin")) * UNIT
        red, green, blue = (float(each) * scale for each in color)
        x, y, z = (float(each) for each in at)
        target = named.get(entity.get("target", ""))
        towards = None if target is None else _turned(_vector(target, "origin")) * UNIT - at
        if towards is None or not np.linalg.norm(towards) > 0:
            scene.lights.append(Light("point", f"light {number}", (x, y, z), intensity=(red, green, blue)))
            continue
        radius = max(_number(entity, "radius", 64.0), 1.0) * UNIT
        angle = min(max(math.atan2(radius, float(np.linalg.norm(towards))), 0.01), 1.5)
        dx, dy, dz = (float(each) for each in towards)
        scene.lights.append(
            Light("spot", f"light {number}", (x, y, z), (dx, dy, dz), (red, green, blue), 0.9 * angle, angle)
        )


def _cameras(scene: Scene, entities: list[dict[str, str]], path: Path) -> None:
    """Player starts, named after their kind and number."""
    found = sorted(
        (STARTS.index(each["classname"]), k, each) for k, each in enumerate(entities) if each.get("classname") in STARTS
    )
    for number, (_, _, entity) in enumerate(found):
        origin = _vector(entity, "origin") + [0.0, 0.0, EYE]
        angle = math.radians(_number(entity, "angle", 0.0))
        tilt = math.radians(float(_vector(entity, "angles")[0]))
        ahead = np.array([math.cos(angle) * math.cos(tilt), math.sin(angle) * math.cos(tilt), -math.sin(tilt)])
        eye, aim = _turned(origin) * UNIT, _turned(origin + 64.0 * ahead) * UNIT
        name = entity.get("name") or ("start" if number == 0 else f"start {number}")
        if any(camera.name == name for camera in scene.cameras) or not name.isprintable():
            name = f"start {number}"
        scene.cameras.append(Camera(tuple(map(float, eye)), tuple(map(float, aim)), fov=70.0, name=name))  # type: ignore[arg-type]
