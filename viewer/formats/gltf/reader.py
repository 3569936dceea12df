"""glTF 2.0, .gltf and .glb: geometry, hierarchy, instances, cameras and materials (Khronos, glTF 2.0, 2021).

The scene's ``source`` keeps the whole document, and ``Material.source`` each material's part, extensions included. Only
images used by materials are opened.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import Budget, read_file, short, uri_fault
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.animations import AnimatedTargets, DocumentProperties, animated_weights, read_animations
from raystream.formats.gltf.decoders import DECODERS, decoder
from raystream.formats.gltf.deformers import Deformers, Skins
from raystream.formats.gltf.images import GltfTextures, material_sets
from raystream.formats.gltf.json import JsonObject, JsonObjects, Omissions, parse
from raystream.formats.gltf.lights import read_lights
from raystream.formats.gltf.materials import EXTENSIONS, default_material, read_materials
from raystream.formats.gltf.meshes import NAME as VARIANTS
from raystream.formats.gltf.meshes import Meshes, read_variants
from raystream.formats.gltf.nodes import Nodes, scene_nodes, semantic_classes
from raystream.scene.animation import collapsed, place_camera
from raystream.scene.camera import MAX_LENS, MIN_FOCUS, Camera
from raystream.scene.hierarchy import Hierarchy, compose, visible_nodes
from raystream.scene.light import Light
from raystream.scene.projections import Orthographic
from raystream.scene.scene import Instance, Scene

# -- the extensions of a document: those that are supported, and notes about all others --------------------------------

# Supported extensions.
APPLIED = frozenset(
    {
        *EXTENSIONS,
        *DECODERS,
        "EXT_mesh_gpu_instancing",
        "EXT_texture_webp",
        "KHR_animation_pointer",
        "KHR_lights_punctual",
        "KHR_materials_variants",
        "KHR_mesh_quantization",
        "KHR_node_visibility",
        "KHR_texture_transform",
    }
)
# Extensions that may be required though not supported: geometry and materials are right without them.
HARMLESS = frozenset({"KHR_xmp", "KHR_xmp_json_ld", "EXT_lights_image_based"})


def read_extensions(document: JsonObject, warnings: list[str], omissions: Omissions) -> tuple[list[str], list[str]]:
    """(names of all extensions that the document declares, names of those without effect here, declared or not); warns
    of the latter. Raises ViewerError for unknown required ones, unless ``omissions`` takes them."""
    required = document.texts("extensionsRequired")
    for name in required:
        if name in DECODERS:
            decoder(DECODERS[name], f"{document.path('extensionsRequired')}: {name}")
        with omissions:
            if name not in APPLIED and name not in HARMLESS:
                raise document.fail(
                    "extensionsRequired",
                    f"needs the unknown extension {short(name)}",
                    "the scene would be wrong without it",
                )
    used = sorted({*required, *document.texts("extensionsUsed")})
    ignored = sorted({*used, *_extension_names(document.data)} - APPLIED)
    if ignored:
        more = f" and {len(ignored) - _MAX_NAMED} more" if len(ignored) > _MAX_NAMED else ""
        names = ", ".join(short(name)[1:-1] for name in ignored[:_MAX_NAMED])
        warnings.append(f"extensions that are not supported have no effect: {names}{more}")
    return used, ignored


_MAX_NAMED = 8


def _extension_names(data: dict[str, Any]) -> set[str]:
    """The names of the extensions that objects of a document use, except within extras."""
    names: set[str] = set()
    pending = [data]
    while pending:
        for key, value in pending.pop().items():
            kind = type(value)  # of JSON: no class is derived
            if kind is dict:
                if key == "extensions":
                    names.update(value)
                if key != "extras":
                    pending.append(value)
            elif kind is list and value and not isinstance(value[0], (int, float, str)):
                pending.extend([child for child in value if type(child) is dict])
    return names


# -- instances of meshes: of nodes, and of EXT_mesh_gpu_instancing, whose meshes stay shared ---------------------------

# Memory of an instance: its matrix and Python objects.
_INSTANCE_BYTES = 512


class PlacedInstances(NamedTuple):
    """Instances; the place in `Nodes` of the node that each moves with, -1 of skinned ones, which their joints place,
    and of the node that each is of; transforms (I, 4, 4) relative to the first, None if all are identities."""

    instances: list[Instance]
    nodes: list[int]
    owners: list[int]
    offsets: NDArray[np.float64] | None


def read_instances(
    document: JsonObject,
    nodes: Nodes,
    meshes: Meshes,
    accessors: Accessors,
    warnings: list[str],
    omissions: Omissions,
    weighted: Collection[int] = (),
) -> PlacedInstances:
    """The instances of the nodes that are shown, if only at times.

    weighted : indices of the nodes whose weights of morph targets are animated.
    """
    objects = document.objects("nodes")
    count = len(document.objects("meshes"))
    visible = visible_nodes(nodes.visible, nodes.parents)
    instances: list[Instance] = []
    moving_nodes: list[int] = []
    owners: list[int] = []
    offsets: dict[int, NDArray[np.float64]] = {}  # first instance of a node -> (N, 4, 4)
    flat = 0
    for position in objects.positions_with("mesh", nodes.indices):
        if not nodes.shown[position]:
            continue
        index, world = nodes.indices[position], nodes.world[position]
        node = objects[index]
        drawn: list[int] = []
        with omissions:
            drawn = meshes.scene_meshes(node.index("mesh", count, "mesh"), node, position, index in weighted)
        if not drawn:
            continue
        name = nodes.names[position] or f"node {index}"
        extension = node.extension("EXT_mesh_gpu_instancing")
        skinned = [mesh in meshes.deformers.skinned for mesh in drawn]
        worlds, relative = world[None], np.eye(4)[None]
        if extension is not None:
            with omissions:
                worlds, relative = _gpu_instances(extension, accessors, world)
            offsets[len(instances)] = np.repeat(relative, len(drawn), axis=0)
        accessors.budget.charge(_INSTANCE_BYTES * len(worlds) * len(drawn))
        owners.extend([position] * (len(worlds) * len(drawn)))
        moving_nodes.extend([-1 if has_skin else position for has_skin in skinned] * len(worlds))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            flat += int(np.count_nonzero(np.linalg.det(worlds[:, :3, :3]) == 0))
        if not visible[position]:
            worlds = relative = collapsed(np.broadcast_to(world, worlds.shape))
        for matrix, offset in zip(worlds, relative, strict=True):
            instances.extend(
                Instance(mesh, offset if has_skin else matrix, name=name)
                for mesh, has_skin in zip(drawn, skinned, strict=True)
            )
    if flat:
        warnings.append(f"{flat:,} nodes or instances have a zero scale along an axis")
    if not offsets:
        return PlacedInstances(instances, moving_nodes, owners, None)
    all_offsets = np.broadcast_to(np.eye(4), (len(instances), 4, 4)).copy()
    for instance, matrices in offsets.items():
        all_offsets[instance : instance + len(matrices)] = matrices
    return PlacedInstances(instances, moving_nodes, owners, all_offsets)


def _gpu_instances(
    extension: JsonObject, accessors: Accessors, world: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Transforms (N, 4, 4) of EXT_mesh_gpu_instancing, in the world and below the node."""
    attributes = extension.child("attributes")
    components = {
        key: accessors.floats(key, attributes, (width,), normalize)
        for key, width, normalize in (("TRANSLATION", 3, False), ("ROTATION", 4, True), ("SCALE", 3, False))
        if key in attributes
    }
    counts = {len(values) for values in components.values()}
    if len(counts) != 1:
        raise extension.fail("attributes", f"expected accessors of one count, got {sorted(counts) or 'none'}")
    count = counts.pop()
    accessors.budget.charge(_INSTANCE_BYTES * count)
    rotation = np.zeros((count, 4))
    rotation[:, 3] = 1.0
    parts = (
        components.get("TRANSLATION", np.zeros((count, 3))),
        components.get("ROTATION", rotation),
        components.get("SCALE", np.ones((count, 3))),
    )
    for key, part in zip(("TRANSLATION", "ROTATION", "SCALE"), parts, strict=True):
        if not np.isfinite(part).all():
            raise attributes.fail(key, "has non-finite values")
    relative = compose(*parts)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        worlds = world @ relative
    if not np.isfinite(worlds).all():
        raise extension.fail("attributes", "a transform overflows float64", "scale it down")
    return worlds, relative


# -- the document ------------------------------------------------------------------------------------------------------

NAME = "glTF"

_MAGIC = b"glTF"


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with the magic of binary glTF, or like a JSON object."""
    return head[:4] == _MAGIC or head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def read(path: Path, lenient: bool = False, max_texture: int | None = None) -> Scene:
    """The default scene of a file, one mesh per primitive and one instance of it per node or gpu instance.

    lenient : damaged parts are left out, unless nothing stays, and checkerboards replace unreadable images. max_texture
    : size at which those are read that would not fit.

    Raises ViewerError for malformed files, unknown required extensions, and references out of the folder.
    """
    where = str(path)
    data = read_file(path)
    if data[:4] == _MAGIC:
        text, binary = _split_glb(data, where)
    elif path.suffix.lower() == ".glb" and data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
        raise ViewerError(where, f"does not begin with 'glTF' but with {short(data[:4])}", "it is not a .glb file")
    else:
        text, binary = data, None
    document = parse(text, where)
    warnings: list[str] = []
    _check_version(document, warnings)
    omissions = Omissions(lenient)
    used, ignored = read_extensions(document, warnings, omissions)

    budget = Budget(where)
    budget.grant(len(data))
    accessors = Accessors(document, path, binary, budget)
    animated = AnimatedTargets(document)
    textures = GltfTextures(document, accessors, path, lenient, max_texture, animated.textures(document))
    sets = material_sets(document, VARIANTS)
    materials = read_materials(
        document,
        warnings,
        lambda index: textures.of_material(sets[index], omissions),
        animated.indices("materials"),
        omissions,
    )
    warnings.extend(textures.warnings())
    variants: list[str] = []
    with omissions:
        variants = read_variants(document)
    nodes = scene_nodes(document, warnings, omissions, animated.with_animated_visibility)
    deformers = Deformers(Skins(document, nodes, accessors), nodes.world)
    meshes = Meshes(document, accessors, materials, textures, sets, len(variants), deformers, omissions)
    weighted = animated_weights(document, animated)
    placed = read_instances(document, nodes, meshes, accessors, warnings, omissions, weighted)
    if not meshes.meshes and omissions.first is not None:
        raise omissions.first
    if meshes.uses_default_material or not materials:
        materials.append(default_material())
    cameras, camera_places, camera_indices = _cameras(document, nodes, warnings, omissions)
    light_places: list[int] = []
    light_indices: list[int] = []
    lights = read_lights(document, nodes, warnings, omissions, light_places, light_indices)
    animations = read_animations(document, nodes, accessors, warnings)

    warnings.extend(f"{count:,} {text}" for text, count in meshes.omitted.items())
    with omissions:
        _warn_of_unread_images(document, warnings)
    warnings.extend(omissions.notes())
    scene = Scene(
        meshes.meshes,
        placed.instances,
        materials,
        cameras,
        _with_hidden_lights_off(lights, light_places, nodes),
        name=path.stem,
        warnings=warnings,
        textures=textures.textures,
        extensions_used=used,
        extensions_ignored=ignored,
        source=document.data,
        hierarchy=_hierarchy(document, nodes, placed, camera_places, light_places, deformers),
        animations=animations,
        properties=DocumentProperties(
            document, textures.textures, textures.places, light_indices, camera_indices, lights
        )
        if animated.targets
        else None,
        variants={name: meshes.materials_of(index) for index, name in enumerate(variants)},
    )
    scene.cameras = _with_focus(scene)
    return scene


def _split_glb(data: bytes, where: str) -> tuple[bytes, bytes | None]:
    """The JSON and the binary chunk of a .glb (4.4)."""
    if len(data) < 12:
        raise ViewerError(where, f"{len(data)} bytes, shorter than the header of a .glb", "the file is truncated")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        hint = "it is glTF 1.0; convert it to glTF 2.0" if version == 1 else "only version 2 is known"
        raise ViewerError(where, f"version {version} of the .glb container", hint)
    if length > len(data):
        raise ViewerError(where, f"says {length:,} bytes, but has {len(data):,}", "the file is truncated")
    text = binary = None
    offset = 12
    while offset < length:
        if offset + 8 > length:
            raise ViewerError(where, f"a chunk's header at byte {offset} is cut off", "the file is truncated")
        size, kind = struct.unpack_from("<I4s", data, offset)
        offset += 8
        if size > length - offset:
            raise ViewerError(
                where,
                f"a chunk of {size:,} bytes, of which {length - offset:,} are there",
                "the file is damaged or truncated",
            )
        if text is None:
            if kind != b"JSON":
                raise ViewerError(where, "the first chunk is not JSON", "the file is damaged")
            text = data[offset : offset + size]
        elif kind == b"BIN\0" and binary is None:
            binary = data[offset : offset + size]
        offset += size
    if text is None:
        raise ViewerError(where, "has no JSON chunk", "the file is damaged or truncated")
    return text, binary


def _check_version(document: JsonObject, warnings: list[str]) -> None:
    if any(isinstance(document.data.get(key), dict) for key in ("accessors", "meshes", "nodes", "scenes")):
        raise ViewerError(document.where, "is glTF 1.0, whose objects have names", "convert it to glTF 2.0")
    if "asset" not in document:
        warnings.append("the file has no glTF version; read as 2.0")
        return
    asset = document.child("asset")
    for key in ("minVersion", "version"):
        version = asset.data.get(key)
        if isinstance(version, int | float) and not isinstance(version, bool):
            version = str(float(version))
        elif version is not None:
            version = asset.text(key)
        if version is None:
            continue
        if version.split(".")[0] != "2" or (key == "minVersion" and version != "2.0"):
            raise asset.fail(key, f"glTF {short(version)}", "only glTF 2.0 is known; convert the file")
        return


def _hierarchy(
    document: JsonObject,
    nodes: Nodes,
    placed: PlacedInstances,
    cameras: list[int],
    lights: list[int],
    deformers: Deformers,
) -> Hierarchy:
    return Hierarchy(
        nodes.names,
        nodes.parents,
        nodes.translation,
        nodes.rotation,
        nodes.scale,
        nodes.local,
        np.array(placed.nodes, np.int64),
        np.array(cameras, np.int64),
        np.array(lights, np.int64),
        placed.offsets,
        tuple(deformers.records),
        None if nodes.visible.all() else nodes.visible,
        np.array(placed.owners, np.int64) if placed.owners != placed.nodes else None,
        semantic_classes(document, nodes.indices),
    )


def _cameras(
    document: JsonObject, nodes: Nodes, warnings: list[str], omissions: Omissions
) -> tuple[list[Camera], list[int], list[int]]:
    """Cameras of the scene's nodes, named as their nodes, their places in ``nodes``, and their indices in the document.

    Warns of other kinds than perspective and orthographic.
    """
    objects, camera_objects = document.objects("nodes"), document.objects("cameras")
    cameras: list[Camera] = []
    positions: list[int] = []
    indices: list[int] = []
    names: set[str] = set()
    for position in objects.positions_with("camera", nodes.indices[: nodes.drawn]):
        node, world = objects[nodes.indices[position]], nodes.world[position]
        index = None
        with omissions:
            index = _camera_index(node, camera_objects, warnings)
            if index is not None:
                camera = camera_objects[index]
                name = node.text("name", "") or camera.text("name", "") or f"camera {index}"
                kind = camera.text("type", "")
        if index is None:
            continue
        if kind not in ("perspective", "orthographic"):
            warnings.append(f"camera '{name}' is {short(kind)}; only perspective and orthographic cameras are used")
            continue
        unique, k = name, 2
        while unique in names:
            unique, k = f"{name} {k}", k + 1
        try:
            cameras.append(place_camera(_camera(camera, kind, unique), world))
            positions.append(position)
            indices.append(index)
            names.add(unique)
        except ViewerError as error:
            warnings.append(f"camera '{name}' left out: {error.what}")
    return cameras, positions, indices


def _camera(described: JsonObject, kind: str, name: str) -> Camera:
    """A camera at the origin, which looks along -Z. Raises ViewerError for numbers that are none."""
    if kind == "perspective":
        fov = math.degrees(described.child("perspective").number("yfov", 0.0))
        return Camera((0, 0, 0), (0, 0, -1), fov=fov, name=name)
    height = 2 * abs(
        described.child("orthographic").number("ymag", 0.0)
    )  # below 0 it should not be, and is told by some
    return Camera((0, 0, 0), (0, 0, -1), name=name, projection=Orthographic(height))


def _with_focus(scene: Scene) -> list[Camera]:
    """The cameras, with lenses focused on the scene's centre where it lies in front: glTF has no focus."""
    if not scene.cameras:
        return []
    center = scene.bounds().mean(axis=0)
    depths = [float((center - camera.origin) @ camera.basis()[2]) for camera in scene.cameras]
    return [
        camera.with_lens(focus=depth) if MIN_FOCUS <= depth <= MAX_LENS else camera
        for camera, depth in zip(scene.cameras, depths, strict=True)
    ]


def _with_hidden_lights_off(lights: list[Light], places: list[int], nodes: Nodes) -> list[Light]:
    """The lights, without intensity where their nodes are hidden at first."""
    visible = visible_nodes(nodes.visible, nodes.parents)[places].tolist()
    return [
        light if is_visible else replace(light, intensity=(0.0, 0.0, 0.0))
        for light, is_visible in zip(lights, visible, strict=True)
    ]


def _camera_index(node: JsonObject, described: JsonObjects, warnings: list[str]) -> int | None:
    index = node.integer("camera", low=-(1 << 53))
    if 0 <= index < len(described):
        return index
    warnings.append(f"{node.where.split(': ')[-1]} names camera {index} of {len(described)}")
    return None


def _warn_of_unread_images(document: JsonObject, warnings: list[str]) -> None:
    """Warn of contents that the scene does not show."""
    for k, image in enumerate(document.objects("images")):
        uri = image.text("uri", "")
        if uri and uri[:5].lower() != "data:":
            fault = uri_fault(uri)
            if fault:
                warnings.append(f"images[{k}] will not be opened: {short(uri)} {fault}")
