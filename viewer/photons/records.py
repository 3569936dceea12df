"""The records of photons and of their map."""

from __future__ import annotations

from viewer.stream.declare.record import Field, Record

PHOTON = Record(
    "Photon",
    Field("position", "vec3", "scene units", "world"),
    Field("stored", "int", about="1: at a diffuse surface; 0: the photon left the scene, was absorbed, or passed on"),
    Field("power", "vec3", "W, linear sRGB"),
    Field("bounce", "int", about="surfaces that it has left"),
    Field("direction", "vec3", "unit length", "world", "in which it arrived"),
)

ENTRY = Record(
    "Entry",
    Field("cell", "int", about="of the grid; beyond the last for photons that are not stored, which sorts them last"),
    Field("photon", "int", about="its place in the stream of photons"),
)

FIRST = Record("First", Field("first", "int", about="place of a cell's first photon in the sorted list"))

TOTAL = Record(
    "Total",
    Field("power", "vec3", "W, linear sRGB", about="of all photons of a cell, those that found no place included"),
    Field("photons", "float", about="of the cell, those that found no place included"),
)
