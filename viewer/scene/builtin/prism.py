"""A prism that splits a narrow beam into its colours (I. Newton, *Opticks*, 1704, book I, part I, proposition II).

It stands on a white floor, and the beam enters low through a slit, so that its path shows on the floor: white up to the
glass, fanned out behind it, on to a screen. The glass has different indices for red, green and blue. Its Abbe number,
10, is about rutile's, half of the heaviest flint's, so that the colours separate within the picture. The floor's length
is the unit; +Y is up.
"""

from __future__ import annotations

import numpy as np

from raystream.scene.builtin.parts.shapes import Array, Part, polygons, quads, unit
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene

GLASS = Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric", ior=1.6, dispersion=2.0)
SIDE, HEIGHT = 0.2, 0.16  # of the prism, an equilateral triangle
LAMP_HEIGHT, LAMP_DISTANCE = 0.1, 0.5  # the distance is from the middle of the entry side
SLIT, SLIT_HEIGHT, SLIT_DISTANCE = 0.006, 0.16, 0.3  # its width and height, and its distance from the lamp
SCREEN_DISTANCE = 0.42  # from the middle of the exit side

# Light of the middle index passes at minimum deviation: inside it runs along +X, parallel to the far side.
_BENT = np.arcsin(GLASS.ior * 0.5) - np.pi / 6  # at each side
INWARDS = np.array([np.cos(_BENT), 0.0, -np.sin(_BENT)])
OUTWARDS = np.array([np.cos(_BENT), 0.0, np.sin(_BENT)])


def corners() -> Array:
    """(3, 3): the prism's corners on the floor: near left, near right, far."""
    half, height = SIDE / 2, SIDE * np.sqrt(0.75)
    return np.array([(-half, 0.0, height / 3), (half, 0.0, height / 3), (0.0, 0.0, -2 * height / 3)])


def build() -> Scene:
    """The prism between its lamp and its screen."""
    left, right, far = corners()
    enters, leaves = (left + far) / 2, (right + far) / 2
    up = np.array([0.0, 1.0, 0.0])
    lamp = enters - LAMP_DISTANCE * INWARDS + LAMP_HEIGHT * up
    screen, slit = leaves + SCREEN_DISTANCE * OUTWARDS, lamp + SLIT_DISTANCE * INWARDS - LAMP_HEIGHT * up
    bottom, top = 1e-3 * up, HEIGHT * up  # above the floor, so that light enters and leaves the glass properly
    base = corners()
    glass = polygons(
        np.concatenate([base + bottom, base + top]),
        [(0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5), (3, 4, 5), (2, 1, 0)],
    )
    floor = quads([[(-0.75, 0, -0.35), (-0.75, 0, 0.4), (0.75, 0, 0.4), (0.75, 0, -0.35)]])
    parts = [
        (floor, "floor"),
        (glass, "prism"),
        (_wall(screen, OUTWARDS, -0.2, 0.2, 0.2), "screen"),
        (_wall(slit, INWARDS, -0.1, -SLIT / 2, SLIT_HEIGHT), "left of the slit"),
        (_wall(slit, INWARDS, SLIT / 2, 0.1, SLIT_HEIGHT), "right of the slit"),
    ]
    materials = [
        Material("white", (0.8, 0.8, 0.8, 1.0)),
        GLASS,
        Material("black", (0.02, 0.02, 0.02, 1.0)),
    ]
    used = (0, 1, 0, 2, 2)
    meshes = [part.mesh(name, material) for (part, name), material in zip(parts, used, strict=True)]
    beam = INWARDS * 0.6 - 0.08 * up
    return Scene(
        meshes,
        [Instance(index, name=mesh.name) for index, mesh in enumerate(meshes)],
        materials,
        [
            Camera((-0.3, 0.5, 0.62), (0.09, 0.02, 0.03), fov=42, name="front"),
            Camera((0.05, 1.3, 0.03), (0.05, 0.0, 0.02), fov=44, name="top"),
            Camera(tuple(screen - 0.5 * OUTWARDS + 0.25 * up), tuple(screen + 0.08 * up), fov=44, name="screen"),
        ],
        lights=[
            Light("spot", "lamp", tuple(lamp), tuple(beam), (20.0, 20.0, 20.0), inner=0.10, outer=0.14),
            Light("directional", "dusk", direction=(0.45, -1.0, -0.3), intensity=(0.09, 0.10, 0.12)),
        ],
        name="prism",
    )


def _wall(middle: Array, behind: Array, left: float, right: float, height: float) -> Part:
    """An upright rectangle that is seen against ``behind``, from ``left`` to ``right`` of its middle on the floor."""
    sideways = unit(np.cross(behind, (0.0, 1.0, 0.0)))
    up = np.array([0.0, height, 0.0])
    a, b = middle + left * sideways, middle + right * sideways
    return quads([[a, b, b + up, a + up]])
