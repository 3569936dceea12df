"""KHR_animation_pointer: animated properties of nodes, materials, lights and cameras, by JSON pointers (RFC 6901).

Materials and lights are read again with their animated members in place, by the same code as at first, so that every
factor has its meaning in a file.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.gltf.images import UNCHANGED, Change, transform_of
from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.lights import EXTENSION as LIGHTS
from raystream.formats.gltf.lights import describe
from raystream.formats.gltf.materials import read_material
from raystream.scene.animation import PATHS
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.projections.models import Orthographic
from raystream.scene.texture import Texture

NAME = "KHR_animation_pointer"

_TURNS = "/extensions/KHR_texture_transform/"
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
_PLACES = {
    "nodes": re.compile(r"/nodes/(\d{1,9})/(.+)"),
    "meshes": re.compile(r"/meshes/(\d{1,9})/(.+)"),
    "materials": re.compile(r"/materials/(\d{1,9})/(.+)"),
    "cameras": re.compile(r"/cameras/(\d{1,9})/(.+)"),
    "lights": re.compile(rf"/extensions/{LIGHTS}/lights/(\d{{1,9}})/(.+)"),
}


class Target(NamedTuple):
    """The target of a pointer: a kind of `_PLACES`, the number among those, the pointer within, and numbers in a value,
    0 for all weights of a mesh."""

    kind: str
    number: int
    within: str
    width: int


def target_of(pointer: str) -> Target | None:
    """The target of a pointer; None for an unknown one."""
    for kind, pattern in _PLACES.items():
        match = pattern.fullmatch(pointer)
        if match is None:
            continue
        number, within = int(match[1]), match[2]
        width = _width(kind, within)
        return None if width is None else Target(kind, number, within, width)
    return None


def _width(kind: str, within: str) -> int | None:
    if kind == "materials":
        texture, _, part = within.partition(_TURNS)
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


class Animated:
    """The targets of a document's pointers, found before anything is read."""

    def __init__(self, document: JsonObject) -> None:
        self.targets: set[Target] = set()
        for described in animation_targets(document):
            with suppress(ViewerError):
                pointer = pointer_of(described)
                target = None if pointer is None else target_of(pointer)
                if target is not None:
                    self.targets.add(target)

    def numbers(self, kind: str, within: str = "") -> set[int]:
        """The numbers of the targets of a kind, of one pointer within, or of all that begin with it."""
        return {target.number for target in self.targets if target.kind == kind and target.within.startswith(within)}

    @property
    def hidden(self) -> set[int]:
        """The numbers of the nodes whose own visibility is animated."""
        return self.numbers("nodes", _VISIBLE)

    def textures(self, document: JsonObject) -> set[str]:
        """The places of textures whose transforms are animated, as in `Textures`."""
        return {_place(document, target.number, target.within) for target in self.targets if _TURNS in target.within}


def animation_targets(document: JsonObject) -> Iterator[JsonObject]:
    """The targets of all channels. An animation with a fault, which is left out, is read up to that."""
    described = document.objects("animations")
    for number in range(len(described)):
        with suppress(ViewerError):
            for channel in described[number].objects("channels"):
                yield channel.child("target")


def pointer_of(target: JsonObject) -> str | None:
    """The pointer of a channel's target; None without."""
    extension = target.extension(NAME)
    return None if extension is None else extension.text("pointer", None)


class _PlacedTextures:
    """In the place of `Textures` when materials are read again: the numbers are those of the first reading, and
    ``changed`` are textures under other transforms."""

    def __init__(self, textures: list[Texture], numbers: Mapping[tuple[str, str], int]) -> None:
        self.textures, self.numbers = textures, numbers
        self.changed: dict[int, Texture] = {}

    def number(self, owner: JsonObject, key: str, content: str = "color", change: Change = UNCHANGED) -> int | None:
        """As in `Textures`."""
        number = self.numbers.get((owner.path(key), change.name))
        if number is None:
            return None
        transform = transform_of(owner.child(key))
        if not np.array_equal(transform, self.textures[number].transform):
            self.changed[number] = replace(self.textures[number], transform=transform)
        return number


@dataclass(eq=False)
class DocumentProperties:
    """`Properties` of a glTF document.

    textures : the scene's at rest. texture_numbers : their numbers by the places that name them. light_numbers,
    camera_numbers : the document's for each of the scene's lights, which are ``rest_lights``, and cameras.
    """

    document: JsonObject
    textures: list[Texture]
    texture_numbers: Mapping[tuple[str, str], int]
    light_numbers: list[int]
    camera_numbers: list[int]
    rest_lights: list[Light] = field(default_factory=list)

    def materials(self, values: Mapping[str, NDArray]) -> tuple[dict[int, Material], dict[int, Texture]]:
        """See `Properties`."""
        textures = _PlacedTextures(self.textures, self.texture_numbers)
        materials: dict[int, Material] = {}
        for number, changes in _grouped(values, "materials").items():
            item = _patched(self.document.objects("materials")[number], changes)
            with suppress(ViewerError):  # a value that no material has: it stays as it was
                materials[number] = read_material(item, number, textures, animated=True)[0]
        # Textures that are at rest again are listed, too.
        at_rest = {number: self.textures[number] for number in self._moving(values) if number not in textures.changed}
        return materials, {**at_rest, **textures.changed}

    def lights(self, values: Mapping[str, NDArray], lights: list[Light], shown: NDArray[np.bool_]) -> list[Light]:
        """See `Properties`."""
        changes, moved = _grouped(values, "lights"), list(lights)
        extension = self.document.extension(LIGHTS)
        for k, (number, at_rest) in enumerate(zip(self.light_numbers, self.rest_lights, strict=True)):
            if number in changes and extension is not None:
                item = _patched(extension.objects("lights")[number], changes[number])
                at_rest = describe(item, number, [], [], []) or at_rest
            elif shown[k] and any(moved[k].intensity):
                continue
            intensity = at_rest.intensity if shown[k] else (0.0, 0.0, 0.0)
            with suppress(ViewerError):
                moved[k] = replace(moved[k], intensity=intensity, inner=at_rest.inner, outer=at_rest.outer)
        return moved

    def cameras(self, values: Mapping[str, NDArray], cameras: list[Camera]) -> list[Camera]:
        """See `Properties`."""
        changes, moved = _grouped(values, "cameras"), list(cameras)
        for k, number in enumerate(self.camera_numbers):
            if number in changes:
                with suppress(ViewerError):
                    moved[k] = _changed(moved[k], changes[number])
        return moved

    def _moving(self, values: Mapping[str, NDArray]) -> set[int]:
        """The numbers of the textures whose transforms are animated."""
        places = {
            _place(self.document, number, within)
            for number, changes in _grouped(values, "materials").items()
            for within in changes
            if _TURNS in within
        }
        return {number for (place, _), number in self.texture_numbers.items() if place in places}


def _place(document: JsonObject, number: int, within: str) -> str:
    """The place in the document of the texture whose transform a pointer within a material names."""
    return f"{document.objects('materials').where}[{number}].{within.partition(_TURNS)[0].replace('/', '.')}"


def _grouped(values: Mapping[str, NDArray], kind: str) -> dict[int, dict[str, NDArray]]:
    """Values by the number of their object, and the pointer within."""
    groups: dict[int, dict[str, NDArray]] = {}
    for pointer, value in values.items():
        target = target_of(pointer)
        if target is not None and target.kind == kind:
            groups.setdefault(target.number, {})[target.within] = value
    return groups


def _patched(item: JsonObject, changes: Mapping[str, NDArray]) -> JsonObject:
    """A copy of a JSON object with other members."""
    data = copy.deepcopy(item.data)
    for within, value in changes.items():
        *parents, last = within.split("/")
        place: dict[str, Any] = data
        for key in parents:
            if place.get(key) is None:
                place[key] = {}
            place = place[key]
        numbers = [float(component) for component in value]
        place[last] = numbers if len(numbers) > 1 else numbers[0]
    return JsonObject(data, item.where)


def _changed(camera: Camera, values: Mapping[str, NDArray]) -> Camera:
    """A camera with its animated field of view, or of an orthographic one its height."""
    if isinstance(camera.projection, Orthographic):
        if _YMAG not in values:
            return camera
        return camera.with_projection(Orthographic(2 * abs(float(values[_YMAG][0]))))
    return camera.with_fov(math.degrees(float(values[_YFOV][0]))) if _YFOV in values else camera
