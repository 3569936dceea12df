"""Lights of glTF: KHR_lights_punctual.

The extension's units are photometric (candela, lux), as are those of KHR_materials_emissive_strength (nits). Their
numbers are read as W/sr, W/m^2 and W/(m^2 sr) **unchanged**: a file's lights and emissive surfaces keep their ratio,
and a file looks as in three.js. A luminous efficacy of 683 lm/W would scale all alike, like exposure; Blender's
exporter applies it to lamps alone in its "standard" mode, not in "unitless".
"""

from __future__ import annotations

import math

import numpy as np

from viewer.base.errors import ViewerError
from viewer.formats.files import short
from viewer.formats.gltf.json import JsonObject
from viewer.formats.gltf.nodes import Nodes
from viewer.formats.gltf.omissions import Omissions
from viewer.scene.light import BRIGHTEST, FARTHEST, KINDS, Kind, Light, Vector, unit_directions

EXTENSION = "KHR_lights_punctual"


def read_lights(
    document: JsonObject,
    nodes: Nodes,
    warnings: list[str],
    omissions: Omissions,
    held: list[int] | None = None,
    numbers: list[int] | None = None,
) -> list[Light]:
    """The lights on the scene's nodes that are shown, if only at times, in the nodes' order, at the node's origin
    towards its -Z.

    A light has its node's name, else its own; duplicates are numbered. Values out of range are clamped, unknown kinds
    omitted, and ``range`` is not applied, since light does not end: with warnings. Raises ViewerError for wrong types
    and unknown light numbers. ``held`` receives each light's place in ``nodes``, ``numbers`` its own in the document.
    """
    extension = document.extension(EXTENSION)
    if extension is None:
        return []
    described = extension.objects("lights")
    objects = document.objects("nodes")
    clamped: list[str] = []
    ranged: list[str] = []
    known: dict[int, _Described | None] = {}
    lit: list[tuple[int, int, _Described]] = []
    for place, (number, shown) in enumerate(zip(nodes.numbers, nodes.shown.tolist(), strict=True)):
        reference = objects[number].extension(EXTENSION)
        if reference is None or not shown:
            continue
        with omissions:
            index = reference.index("light", len(described), "light")
            if index not in known:
                known[index] = _described(described[index], index, clamped, ranged, warnings)
            light = known[index]
            if light is not None:
                lit.append((place, index, light))
    lights: list[Light] = []
    names: set[str] = set()
    nth: dict[str, int] = {}
    # Of world space: the origins, and -Z, of whose scale only mirroring counts.
    world = nodes.world[[place for place, _, _ in lit]]
    positions, directions = world[:, :3, 3], -world[:, :3, 2]
    units = unit_directions(directions)
    sound = np.asarray((np.isfinite(units) & (np.abs(positions) <= FARTHEST)).all(axis=1))
    rows = zip(positions.tolist(), directions.tolist(), units.tolist(), sound.tolist(), strict=True)
    for (place, index, light), (position, direction, unit, fits) in zip(lit, rows, strict=True):
        kind, own, intensity, inner, outer = light
        name = nodes.names[place] or own
        unique, k = name, nth.get(name, 1)  # of a hundred thousand with one name, each would try all before
        while unique in names:
            k += 1
            unique = f"{name} {k}"
        try:
            make, along = (Light.unchecked, unit) if fits else (Light, direction)  # which raises
            lights.append(make(kind, unique, tuple(position), tuple(along), intensity, inner, outer))
            names.add(unique)
            nth[name] = k
            if held is not None:
                held.append(place)
            if numbers is not None:
                numbers.append(index)
        except ViewerError as error:
            warnings.append(f"light '{name}' left out: {error.what}")
    if clamped:
        warnings.append(f"values out of range were clamped in {len(clamped)} lights: {', '.join(clamped[:3])}")
    if ranged:
        warnings.append(f"the range of {len(ranged)} lights is not applied: light does not end")
    return lights


def describe(item: JsonObject, index: int, clamped: list[str], ranged: list[str], warnings: list[str]) -> Light | None:
    """A light at the origin, without its node; None for an unknown kind."""
    found = _described(item, index, clamped, ranged, warnings)
    if found is None:
        return None
    kind, name, intensity, inner, outer = found
    return Light(kind, name, intensity=intensity, inner=inner, outer=outer)


_Described = tuple[Kind, str, Vector, float, float]  # kind, name, intensity, inner and outer angle


def _described(
    item: JsonObject, index: int, clamped: list[str], ranged: list[str], warnings: list[str]
) -> _Described | None:
    name = item.text("name", "") or f"light {index}"
    kind = item.text("type")
    if kind not in KINDS:
        warnings.append(f"light '{name}' is {short(kind)}, an unknown kind; left out")
        return None
    color, intensity = item.numbers("color", 3, (1.0, 1.0, 1.0)), item.number("intensity", 1.0)
    strength = min(max(intensity, 0.0), BRIGHTEST)
    red, green, blue = color
    wrong = strength != intensity
    if not (0.0 <= red <= 1.0 and 0.0 <= green <= 1.0 and 0.0 <= blue <= 1.0):
        red, green, blue = (min(max(value, 0.0), 1.0) for value in color)
        wrong = True
    inner, outer = 0.0, math.pi / 4
    if kind == "spot":
        spot = item.child("spot")
        given = spot.number("innerConeAngle", 0.0), spot.number("outerConeAngle", math.pi / 4)
        outer = min(max(given[1], 1e-3), math.pi / 2)
        inner = min(max(given[0], 0.0), outer - 1e-4)
        # Files write pi/2 with a few digits; a hard edge is stored as two equal angles.
        wrong = wrong or abs(outer - given[1]) > 1e-3 or abs(inner - given[0]) > 1e-3
    if wrong:
        clamped.append(name)
    if "range" in item and item.number("range") >= 0:
        ranged.append(name)
    return kind, name, (red * strength, green * strength, blue * strength), inner, outer
