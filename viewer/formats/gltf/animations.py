"""Animations of glTF 2.0 (section 3.11): channels and samplers to tracks over the scene's nodes."""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.deformers import target_count
from raystream.formats.gltf.images import UNEDITED, TexelEdit, transform_of
from raystream.formats.gltf.json import JsonObject, JsonObjects, MissingExtra, fault_text
from raystream.formats.gltf.lights import EXTENSION as LIGHTS
from raystream.formats.gltf.lights import read_light
from raystream.formats.gltf.materials import read_material
from raystream.formats.gltf.nodes import Nodes
from raystream.scene.animation import INTERPOLATIONS, PATHS, Animation, Track
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.projections import Orthographic
from raystream.scene.texture import Texture

# -- KHR_animation_pointer ---------------------------------------------------------------------------------------------
# Animated properties of nodes, materials, lights and cameras, by JSON pointers (RFC 6901).
# Materials and lights are read again with their animated members in place, by the same code as at first, so that
# every factor has its meaning in a file.

NAME = "KHR_animation_pointer"

_TRANSFORM_KEY = "/extensions/KHR_texture_transform/"
_TRANSFORM = {"offset": 2, "rotation": 1, "scale": 2}
# Pointers within a material -> numbers in a value.
MATERIAL = {
    "alphaCutoff": 1,
    "emissiveFactor": 3,
    "normalTexture/scale": 1,
    "pbrMetallicRoughness/baseColorFactor": 4,
    "pbrMetallicRoughness/metallicFactor": 1,
    "pbrMetallicRoughness/roughnessFactor": 1,
} | {
    f"extensions/KHR_materials_{name}": width
    for name, width in {
        "anisotropy/anisotropyRotation": 1,
        "anisotropy/anisotropyStrength": 1,
        "clearcoat/clearcoatFactor": 1,
        "clearcoat/clearcoatNormalTexture/scale": 1,
        "clearcoat/clearcoatRoughnessFactor": 1,
        "diffuse_transmission/diffuseTransmissionColorFactor": 3,
        "diffuse_transmission/diffuseTransmissionFactor": 1,
        "dispersion/dispersion": 1,
        "emissive_strength/emissiveStrength": 1,
        "ior/ior": 1,
        "iridescence/iridescenceFactor": 1,
        "iridescence/iridescenceIor": 1,
        "iridescence/iridescenceThicknessMaximum": 1,
        "iridescence/iridescenceThicknessMinimum": 1,
        "sheen/sheenColorFactor": 3,
        "sheen/sheenRoughnessFactor": 1,
        "specular/specularColorFactor": 3,
        "specular/specularFactor": 1,
        "transmission/transmissionFactor": 1,
        "volume/attenuationColor": 3,
        "volume/attenuationDistance": 1,
        "volume/thicknessFactor": 1,
    }.items()
}
LIGHT = {"color": 3, "intensity": 1, "spot/innerConeAngle": 1, "spot/outerConeAngle": 1}
_VISIBLE = "extensions/KHR_node_visibility/visible"
_YFOV, _YMAG = "perspective/yfov", "orthographic/ymag"
_POINTER_PATTERNS = {
    "nodes": re.compile(r"/nodes/(\d{1,9})/(.+)"),
    "meshes": re.compile(r"/meshes/(\d{1,9})/(.+)"),
    "materials": re.compile(r"/materials/(\d{1,9})/(.+)"),
    "cameras": re.compile(r"/cameras/(\d{1,9})/(.+)"),
    "lights": re.compile(rf"/extensions/{LIGHTS}/lights/(\d{{1,9}})/(.+)"),
}


class Target(NamedTuple):
    """The target of a pointer: a kind of `_POINTER_PATTERNS`, the index among those, the pointer within, and numbers in
    a value, 0 for all weights of a mesh."""

    kind: str
    item_index: int
    within: str
    width: int


def parse_pointer(pointer: str) -> Target | None:
    """The target of a pointer; None for an unknown one."""
    for kind, pattern in _POINTER_PATTERNS.items():
        match = pattern.fullmatch(pointer)
        if match is None:
            continue
        index, within = int(match[1]), match[2]
        width = _value_width(kind, within)
        return None if width is None else Target(kind, index, within, width)
    return None


def _value_width(kind: str, within: str) -> int | None:
    """Numbers in a value of a pointer within an object of this kind; 0 for all weights, None for an unknown pointer."""
    if kind == "materials":
        texture, _, part = within.partition(_TRANSFORM_KEY)
        return _TRANSFORM.get(part) if texture.endswith("Texture") else MATERIAL.get(within)
    if kind == "cameras":
        return 1 if within in (_YFOV, _YMAG) else None
    if kind == "lights":
        return LIGHT.get(within)
    if re.fullmatch(r"weights(/\d{1,9})?", within):
        return 0 if within == "weights" else 1
    if kind == "meshes":
        return None
    return 1 if within == _VISIBLE else PATHS.get(within)


class AnimatedTargets:
    """All targets of a document's animation pointers, collected before its objects are read."""

    def __init__(self, document: JsonObject) -> None:
        self.targets: set[Target] = set()
        for described in animation_targets(document):
            with suppress(ViewerError):
                pointer = pointer_of(described)
                target = None if pointer is None else parse_pointer(pointer)
                if target is not None:
                    self.targets.add(target)

    def indices(self, kind: str, within: str = "") -> set[int]:
        """The indices of the targets of a kind, of one pointer within, or of all that begin with it."""
        return {
            target.item_index for target in self.targets if target.kind == kind and target.within.startswith(within)
        }

    @property
    def with_animated_visibility(self) -> set[int]:
        """The indices of the nodes whose own visibility is animated."""
        return self.indices("nodes", _VISIBLE)

    def textures(self, document: JsonObject) -> set[str]:
        """The places of textures whose transforms are animated, as in `Textures`."""
        return {
            _texture_path(document, target.item_index, target.within)
            for target in self.targets
            if _TRANSFORM_KEY in target.within
        }


def animation_targets(document: JsonObject) -> Iterator[JsonObject]:
    """The targets of all channels. An animation with a fault, which is left out, is read up to that."""
    described = document.objects("animations")
    for index in range(len(described)):
        with suppress(ViewerError):
            for channel in described[index].objects("channels"):
                yield channel.child("target")


def pointer_of(target: JsonObject) -> str | None:
    """The pointer of a channel's target; None without."""
    extension = target.extension(NAME)
    return None if extension is None else extension.text("pointer", None)


class _KnownTextures:
    """In the place of `Textures` when materials are read again: the indices are those of the first reading, and
    ``changed`` are textures under other transforms."""

    def __init__(self, textures: list[Texture], indices: Mapping[tuple[str, str], int]) -> None:
        self.textures, self.indices = textures, indices
        self.changed: dict[int, Texture] = {}

    def number(self, owner: JsonObject, key: str, content: str = "color", change: TexelEdit = UNEDITED) -> int | None:
        """As in `Textures`."""
        index = self.indices.get((owner.path(key), change.name))
        if index is None:
            return None
        transform = transform_of(owner.child(key))
        if not np.array_equal(transform, self.textures[index].transform):
            self.changed[index] = replace(self.textures[index], transform=transform)
        return index


@dataclass(eq=False)
class DocumentProperties:
    """`Properties` of a glTF document.

    textures : the scene's at rest. texture_numbers : their indices by the places that name them. light_indices,
    camera_indices : the document's for each of the scene's lights, which are ``rest_lights``, and cameras.
    """

    document: JsonObject
    textures: list[Texture]
    texture_numbers: Mapping[tuple[str, str], int]
    light_indices: list[int]
    camera_indices: list[int]
    rest_lights: list[Light] = field(default_factory=list)

    def materials(self, values: Mapping[str, NDArray]) -> tuple[dict[int, Material], dict[int, Texture]]:
        """See `Properties`."""
        textures = _KnownTextures(self.textures, self.texture_numbers)
        materials: dict[int, Material] = {}
        for index, changes in _group_by_object(values, "materials").items():
            item = _with_members(self.document.objects("materials")[index], changes)
            with suppress(ViewerError):  # a value that no material has: it stays as it was
                materials[index] = read_material(item, index, textures, animated=True)[0]
        # Textures that are at rest again are listed, too.
        at_rest = {
            index: self.textures[index] for index in self._moving_textures(values) if index not in textures.changed
        }
        return materials, {**at_rest, **textures.changed}

    def lights(self, values: Mapping[str, NDArray], lights: list[Light], shown: NDArray[np.bool_]) -> list[Light]:
        """See `Properties`."""
        changes, new_lights = _group_by_object(values, "lights"), list(lights)
        extension = self.document.extension(LIGHTS)
        for k, (index, at_rest) in enumerate(zip(self.light_indices, self.rest_lights, strict=True)):
            if index in changes and extension is not None:
                item = _with_members(extension.objects("lights")[index], changes[index])
                at_rest = read_light(item, index, [], [], []) or at_rest
            elif shown[k] and any(new_lights[k].intensity):
                continue
            intensity = at_rest.intensity if shown[k] else (0.0, 0.0, 0.0)
            with suppress(ViewerError):
                new_lights[k] = replace(new_lights[k], intensity=intensity, inner=at_rest.inner, outer=at_rest.outer)
        return new_lights

    def cameras(self, values: Mapping[str, NDArray], cameras: list[Camera]) -> list[Camera]:
        """See `Properties`."""
        changes, new_cameras = _group_by_object(values, "cameras"), list(cameras)
        for k, index in enumerate(self.camera_indices):
            if index in changes:
                with suppress(ViewerError):
                    new_cameras[k] = _animated_camera(new_cameras[k], changes[index])
        return new_cameras

    def _moving_textures(self, values: Mapping[str, NDArray]) -> set[int]:
        """The indices of the textures whose transforms are animated."""
        places = {
            _texture_path(self.document, index, within)
            for index, changes in _group_by_object(values, "materials").items()
            for within in changes
            if _TRANSFORM_KEY in within
        }
        return {index for (place, _), index in self.texture_numbers.items() if place in places}


def _texture_path(document: JsonObject, index: int, within: str) -> str:
    """The place in the document of the texture whose transform a pointer within a material names."""
    return f"{document.objects('materials').where}[{index}].{within.partition(_TRANSFORM_KEY)[0].replace('/', '.')}"


def _group_by_object(values: Mapping[str, NDArray], kind: str) -> dict[int, dict[str, NDArray]]:
    """Values by the index of their object, and the pointer within."""
    groups: dict[int, dict[str, NDArray]] = {}
    for pointer, value in values.items():
        target = parse_pointer(pointer)
        if target is not None and target.kind == kind:
            groups.setdefault(target.item_index, {})[target.within] = value
    return groups


def _with_members(item: JsonObject, changes: Mapping[str, NDArray]) -> JsonObject:
    """A copy of a JSON object with other members."""
    data = copy.deepcopy(item.data)
    for within, value in changes.items():
        *parents, last = within.split("/")
        parent: dict[str, Any] = data
        for key in parents:
            if parent.get(key) is None:
                parent[key] = {}
            parent = parent[key]
        components = [float(component) for component in value]
        parent[last] = components if len(components) > 1 else components[0]
    return JsonObject(data, item.where)


def _animated_camera(camera: Camera, values: Mapping[str, NDArray]) -> Camera:
    """A camera with its animated field of view, or of an orthographic one its height."""
    if isinstance(camera.projection, Orthographic):
        if _YMAG not in values:
            return camera
        return camera.with_projection(Orthographic(2 * abs(float(values[_YMAG][0]))))
    return camera.with_fov(math.degrees(float(values[_YFOV][0]))) if _YFOV in values else camera


# -- channels and samplers to tracks over nodes ------------------------------------------------------------------------

_FLOAT = 5126
# Memory of a track with its JSON objects.
_TRACK_BYTES = 512


def read_animations(document: JsonObject, nodes: Nodes, accessors: Accessors, warnings: list[str]) -> list[Animation]:
    """The document's animations, unnamed ones named by index; tracks refer to nodes by index in ``nodes``.

    Warns of omitted channels: of unknown properties, of weights without morph targets, and without a node. Channels of
    nodes outside the scene are checked and silently omitted. An animation with a fault is left out, with a note:
    references out of range, invalid key times or values, an unknown interpolation, a node with a matrix, and two
    channels for the same property. Key times must be finite and increase from 0.

    Raises MissingExtra for data whose decoder is not installed.
    """
    place_of_node = {index: k for k, index in enumerate(nodes.indices)}
    keys = _KeyReader(accessors)
    omissions: Counter[str] = Counter()
    unknown: dict[str, None] = {}
    animations, faults = [], []
    animations_json = document.objects("animations")
    for index in range(len(animations_json)):
        reader = _AnimationReader(document, keys)
        try:
            name, tracks = reader.read(animations_json[index], f"animation {index}")
        except MissingExtra:
            raise
        except ViewerError as error:
            faults.append(fault_text(error))
            continue
        omissions.update(reader.omissions)
        unknown.update(reader.unknown)
        scene_tracks = tuple(
            track if track.node < 0 else replace(track, node=place_of_node[track.node])
            for track in tracks
            if track.node < 0 or track.node in place_of_node
        )
        animations.append(Animation(name, scene_tracks))
    if faults:
        count = "an animation is" if len(faults) == 1 else f"{len(faults):,} animations are"
        warnings.append(f"{count} left out: {faults[0]}")
    warnings.extend(f"{count:,} animation channels {what}" for what, count in omissions.items())
    if unknown:
        warnings.append(f"animated properties that are not known, and ignored: {', '.join(map(short, unknown))}")
    return animations


def animated_weights(document: JsonObject, animated: AnimatedTargets) -> set[int]:
    """The indices of the nodes whose weights of morph targets some animation moves."""
    indices = animated.indices("nodes", "weights")
    meshes = animated.indices("meshes", "weights")
    if meshes:
        indices |= {index for index, node in enumerate(document.objects("nodes")) if node.data.get("mesh") in meshes}
    for target in animation_targets(document):
        with suppress(ViewerError):
            if target.text("path", "") == "weights" and "node" in target:
                indices.add(target.integer("node"))
    return indices


class _AnimationReader:
    """Reads one animation. ``omitted``: its omitted channels, by their notes; ``unknown``: pointers."""

    def __init__(self, document: JsonObject, keys: _KeyReader) -> None:
        self.samplers, self.nodes = JsonObjects([], ""), document.objects("nodes")
        self.meshes = document.objects("meshes")
        self.counts = {
            "materials": len(document.objects("materials")),
            "cameras": len(document.objects("cameras")),
            "lights": len((document.extension(LIGHTS) or JsonObject({}, "")).objects("lights")),
        }
        self.keys = keys
        self.omissions: Counter[str] = Counter()
        self.unknown: dict[str, None] = {}
        self.first_channels: dict[tuple[int, str], str] = {}

    def read(self, item: JsonObject, name: str) -> tuple[str, list[Track]]:
        """Name, ``name`` without one, and tracks."""
        self.samplers = item.objects("samplers")
        tracks = [track for channel in item.objects("channels") for track in self.tracks(channel)]
        return item.text("name", "") or name, tracks

    def tracks(self, channel: JsonObject) -> list[Track]:
        """A channel's tracks with the file's node indices: several of weights that nodes share; none if omitted."""
        self.keys.accessors.budget.charge(_TRACK_BYTES)
        sampler = self.samplers[channel.index("sampler", len(self.samplers), "sampler")]
        target = channel.child("target")
        properties = self._properties(target)
        for node, path, _ in properties:
            first_channel = self.first_channels.setdefault((node, path), channel.where)
            if first_channel != channel.where:
                what = f"{path} of node {node}" if node >= 0 else path
                first_name = first_channel.split(": ")[-1]
                raise target.fail("path", f"{what} is moved by {first_name}, too", "one channel can move it")
        if not properties:
            return []
        interpolation = sampler.text("interpolation", "LINEAR")
        if interpolation not in INTERPOLATIONS:
            expected = ", ".join(INTERPOLATIONS)
            raise sampler.fail("interpolation", f"unknown: {short(interpolation)}", f"expected one of {expected}")
        return [
            Track(node, path, *self.keys.keys_of(sampler, path, width, interpolation), interpolation)
            for node, path, width in properties
        ]

    def _properties(self, target: JsonObject) -> list[tuple[int, str, int]]:
        """(the file's node index, or -1, path, numbers in a value) of each property that a target animates."""
        path, pointer = target.text("path"), pointer_of(target)
        if path == "pointer" and pointer is not None:
            properties = self._nodes_of_pointer(pointer)
            if not properties:
                self.unknown[pointer] = None
            return [prop for node, name in properties for prop in self._property_of_node(target, node, name)]
        if path not in (*PATHS, "weights"):
            self.omissions[f"move {short(path)}, which is ignored"] += 1
            return []
        node = target.index("node", len(self.nodes), "node", None)
        if node is None:
            self.omissions["name no node and are ignored"] += 1
            return []
        return self._property_of_node(target, node, path)

    def _nodes_of_pointer(self, pointer: str) -> list[tuple[int, str]]:
        """(node, path) of each node property that a pointer means, or (-1, pointer); none if it is unknown."""
        target = parse_pointer(pointer)
        if target is None:
            return []
        if target.kind == "nodes":
            path = "visible" if target.within.endswith("/visible") else target.within
            return [(target.item_index, path)] if target.item_index < len(self.nodes) else []
        if target.kind == "meshes":
            owners = [k for k, node in enumerate(self.nodes) if node.data.get("mesh") == target.item_index]
            return [(k, target.within) for k in owners if "weights" not in self.nodes[k]]
        return [(-1, pointer)] if target.item_index < self.counts[target.kind] else []

    def _property_of_node(self, target: JsonObject, node: int, path: str) -> list[tuple[int, str, int]]:
        """As `_properties`, of one path of a node, or of a pointer beside the nodes."""
        if node < 0:
            pointer_target = parse_pointer(path)
            assert pointer_target is not None
            return [(node, path, pointer_target.width)]
        kind, _, target_index = path.partition("/")
        if kind == "weights":
            width = self._target_count(self.nodes[node])
            if not width:
                self.omissions["move weights of nodes without morph targets, and are ignored"] += 1
                return []
            if target_index and int(target_index) >= width:
                raise target.fail("path", f"names morph target {int(target_index)} of {width}")
            return [(node, path, 1 if target_index else width)]
        if path in PATHS and "matrix" in self.nodes[node]:
            raise target.fail("node", f"node {node} has a matrix", "animated nodes have translation, rotation, scale")
        return [(node, path, PATHS.get(path, 1))]

    def _target_count(self, node: JsonObject) -> int:
        """Morph targets of a node's mesh; 0 without a mesh."""
        mesh = node.index("mesh", len(self.meshes), "mesh", None)
        return 0 if mesh is None else target_count(self.meshes[mesh])


class _KeyReader:
    """Times and values of samplers; each pair of accessors is checked once, shared by samplers."""

    def __init__(self, accessors: Accessors) -> None:
        self.accessors = accessors
        self._times: dict[int, NDArray] = {}
        self._values: dict[tuple[int, str, int, bool], NDArray] = {}

    def keys_of(self, sampler: JsonObject, path: str, width: int, interpolation: str) -> tuple[NDArray, NDArray]:
        """times (K,) and values (K, width), for splines (K, 3, width), float32, as in `Track`."""
        times = self._input(sampler)
        spline = interpolation == "CUBICSPLINE"
        if spline and len(times) < 2:
            raise sampler.fail("input", "one key", "a cubic spline has two or more")
        values = self._output(sampler, path, width, spline)
        if len(values) != len(times) or values.ndim != 2 + spline or values.shape[-1] != width:
            count = self._count("output", sampler)
            expected = len(times) * (3 if spline else 1)
            explanation = " (a tangent before and behind every value)" if spline else ""
            if path == "weights":
                expected, explanation = expected * width, f" (of {width:,} morph targets)" + explanation
            raise sampler.fail(
                "output", f"{count:,} values for {len(times):,} keys, expected {expected:,}{explanation}"
            )
        return times, values

    def _input(self, sampler: JsonObject) -> NDArray:
        index = sampler.index("input", len(self.accessors.accessors), "accessor")
        if index not in self._times:
            if self.accessors.accessors[index].integer("componentType") != _FLOAT:
                raise sampler.fail("input", f"accessor {index} holds integers", "times are float32 seconds")
            times = self.accessors.floats("input", sampler, (1,))[:, 0]
            fault = _times_fault(times)
            if fault:
                raise sampler.fail("input", f"accessor {index}: {fault}")
            self._times[index] = times
        return self._times[index]

    def _output(self, sampler: JsonObject, path: str, width: int, spline: bool) -> NDArray:
        """Values (N, width), in threes for a spline; (N, stored width) where their number is no multiple of these."""
        index = sampler.index("output", len(self.accessors.accessors), "accessor")
        key = (index, path, width, spline)
        if key not in self._values:
            # Integer quaternions and weights are normalised, with or without the accessor's flag.
            kind = path.partition("/")[0]
            stored = 1 if kind == "weights" else width
            values = self.accessors.floats("output", sampler, (stored,), normalize=kind in ("rotation", "weights"))
            if len(values) % (width // stored) == 0:
                values = values.reshape(-1, width)
            finite = np.isfinite(values).all(axis=1)
            if not finite.all():
                raise sampler.fail("output", f"accessor {index}: value {int(np.argmin(finite))} is not finite")
            if spline and len(values) % 3 == 0:
                values = values.reshape(-1, 3, values.shape[1])
            self._values[key] = values
        return self._values[key]

    def _count(self, key: str, sampler: JsonObject) -> int:
        accessors: JsonObjects = self.accessors.accessors
        return accessors[sampler.index(key, len(accessors), "accessor")].integer("count")


def _times_fault(times: NDArray) -> str:
    """The fault of key times, or an empty text."""
    if not len(times):
        return "no keys"
    finite = np.isfinite(times)
    if not finite.all():
        return f"key {int(np.argmin(finite))} is not finite"
    if times[0] < 0:
        return f"the first key is at {times[0]:g} seconds, before 0"
    rising = times[1:] > times[:-1]
    if not rising.all():
        key = int(np.argmin(rising)) + 1
        return f"key {key} at {times[key]:g} seconds is not after the one before it, at {times[key - 1]:g}"
    return ""
