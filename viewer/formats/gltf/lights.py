"""Lights of glTF: KHR_lights_punctual.

The extension's units are photometric (candela, lux), as are those of KHR_materials_emissive_strength (nits). Their
numbers are read as W/sr, W/m^2 and W/(m^2 sr) **unchanged**: a file's lights and emissive surfaces keep their ratio,
and a file looks as in three.js. A luminous efficacy of 683 lm/W would scale all alike, like exposure; Blender's
exporter applies it to lamps alone in its "standard" mode, not in "unitless".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.json import JsonObject, Omissions
from raystream.formats.gltf.nodes import Nodes
from raystream.scene.light import BRIGHTEST, FARTHEST, KINDS, Kind, Light, Vector, unit_directions

EXTENSION = "KHR_lights_punctual"


def read_lights(
    document: JsonObject,
    nodes: Nodes,
    warnings: list[str],
    omissions: Omissions,
    places: list[int] | None = None,
    light_indices: list[int] | None = None,
) -> list[Light]:
    """The lights on the scene's nodes that are shown, if only at times, in the nodes' order, at the node's origin
    towards its -Z.

    A light has its node's name, else its own; duplicates are numbered. Values out of range are clamped, unknown kinds
    omitted, and ``range`` is not applied, since light does not end: with warnings. Raises ViewerError for wrong types
    and unknown light indices. ``places`` receives the lights' indices in ``nodes``,
    ``light_indices`` those in the document.
    """
    extension = document.extension(EXTENSION)
    if extension is None:
        return []
    descriptions = extension.objects("lights")
    objects = document.objects("nodes")
    clamped: list[str] = []
    ranged: list[str] = []
    values: list[_LightValues | None] = [None] * len(descriptions)
    is_unread = [True] * len(descriptions)
    lit_nodes: list[int] = []
    indices: list[int] = []
    shown = nodes.shown.tolist()
    for node_position in objects.positions_with_extension(EXTENSION, nodes.indices):
        reference = objects[nodes.indices[node_position]].extension(EXTENSION)
        if reference is None or not shown[node_position]:
            continue
        with omissions:
            index = reference.index("light", len(descriptions), "light")
            if is_unread[index]:
                values[index] = _read_values(descriptions[index], index, clamped, ranged, warnings)
                is_unread[index] = False
            if values[index] is not None:
                lit_nodes.append(node_position)
                indices.append(index)
    lights: list[Light] = []
    names: set[str] = set()
    next_number: dict[str, int] = {}
    unchecked = Light.unchecked
    # Of world space: the origins, and -Z, of whose scale only mirroring counts.
    positions, directions = nodes.world[lit_nodes, :3, 3], -nodes.world[lit_nodes, :3, 2]
    units = unit_directions(directions)
    in_range = np.asarray((np.isfinite(units) & (np.abs(positions) <= FARTHEST)).all(axis=1))
    vectors = zip(*positions.T.tolist(), strict=True), _tuples(units)
    for row, (node_position, index, position, unit, is_in_range) in enumerate(
        zip(lit_nodes, indices, *vectors, in_range.tolist(), strict=True)
    ):
        kind, light_name, intensity, inner, outer = values[index]  # type: ignore[misc]
        name = nodes.names[node_position] or light_name
        unique = name
        if name in names:
            k = next_number.get(name, 1)  # of a hundred thousand with one name, each would try all before
            while unique in names:
                k += 1
                unique = f"{name} {k}"
        try:
            if is_in_range:
                lights.append(unchecked(kind, unique, position, unit, intensity, inner, outer))
            else:  # which raises
                lights.append(Light(kind, unique, position, tuple(directions[row].tolist()), intensity, inner, outer))
            names.add(unique)
            if unique is not name:
                next_number[name] = k
            if places is not None:
                places.append(node_position)
            if light_indices is not None:
                light_indices.append(index)
        except ViewerError as error:
            warnings.append(f"light '{name}' left out: {error.what}")
    if clamped:
        warnings.append(f"values out of range were clamped in {len(clamped)} lights: {', '.join(clamped[:3])}")
    if ranged:
        warnings.append(f"the range of {len(ranged)} lights is not applied: light does not end")
    return lights


def _tuples(vectors: NDArray[np.float64]) -> Iterator[Vector]:
    """The rows of vectors (N, 3) as tuples; successive equal rows share one."""
    bits = vectors.view(np.int64)
    starts = np.flatnonzero(np.append(True, (bits[1:] != bits[:-1]).any(axis=1))[: len(vectors)])
    lengths = np.diff(np.append(starts, len(vectors)))
    return chain.from_iterable(map(repeat, zip(*vectors[starts].T.tolist(), strict=True), lengths.tolist()))


def read_light(
    item: JsonObject, index: int, clamped: list[str], ranged: list[str], warnings: list[str]
) -> Light | None:
    """A light at the origin, without its node; None for an unknown kind."""
    values = _read_values(item, index, clamped, ranged, warnings)
    if values is None:
        return None
    kind, name, intensity, inner, outer = values
    return Light(kind, name, intensity=intensity, inner=inner, outer=outer)


_LightValues = tuple[Kind, str, Vector, float, float]  # kind, name, intensity, inner and outer angle


def _read_values(
    item: JsonObject, index: int, clamped: list[str], ranged: list[str], warnings: list[str]
) -> _LightValues | None:
    name = item.text("name", "") or f"light {index}"
    kind = item.text("type")
    if kind not in KINDS:
        warnings.append(f"light '{name}' is {short(kind)}, an unknown kind; left out")
        return None
    color, intensity = item.numbers("color", 3, (1.0, 1.0, 1.0)), item.number("intensity", 1.0)
    clamped_intensity, (red, green, blue), is_clamped = intensity, color, False
    if not 0.0 <= intensity <= BRIGHTEST:
        clamped_intensity, is_clamped = min(max(intensity, 0.0), BRIGHTEST), True
    if not (0.0 <= red <= 1.0 and 0.0 <= green <= 1.0 and 0.0 <= blue <= 1.0):
        red, green, blue = (min(max(value, 0.0), 1.0) for value in color)
        is_clamped = True
    inner, outer = 0.0, math.pi / 4
    if kind == "spot":
        spot = item.child("spot")
        file_angles = spot.number("innerConeAngle", 0.0), spot.number("outerConeAngle", math.pi / 4)
        outer = min(max(file_angles[1], 1e-3), math.pi / 2)
        inner = min(max(file_angles[0], 0.0), outer - 1e-4)
        # Files write pi/2 with a few digits; a hard edge is stored as two equal angles.
        is_clamped = is_clamped or abs(outer - file_angles[1]) > 1e-3 or abs(inner - file_angles[0]) > 1e-3
    if is_clamped:
        clamped.append(name)
    if "range" in item and item.number("range") >= 0:
        ranged.append(name)
    return kind, name, (red * clamped_intensity, green * clamped_intensity, blue * clamped_intensity), inner, outer
