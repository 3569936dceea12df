"""Ten spheres, two of which orbit each other: the scene Balls-1 of the literature on moving objects.

After A. Adinetz and B. Berezin, *Implementing Classical Ray Tracing on GPU: a Case Study of GPU Programming* (2006),
figure 4: ten spheres of 3,120 triangles, 31,200 in all, ten instances of one mesh, two lights, Phong shading. Two
moving spheres reflect each other and the rest. Positions and colours are our own. A sphere's radius is the unit; +Y is
up.
"""

from __future__ import annotations

import numpy as np

from raystream.scene.animation import Animation, Track
from raystream.scene.builtin.parts.shapes import sphere
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene

SEGMENTS = RINGS = 40  # 2 * 40 * 39 = 3,120 triangles
RING, BALLS_IN_RING = 3.6, 8
ORBIT = 1.3  # radius of the orbit: a gap of 0.6 between the two
PERIOD = 4.0  # seconds
TILT = 35.0  # degrees of the orbit's plane about +X

# Linear sRGB: the moving ones first.
_COLORS = {
    "white": (0.85, 0.83, 0.78),
    "black": (0.04, 0.04, 0.05),
    "red": (0.62, 0.05, 0.04),
    "orange": (0.80, 0.26, 0.03),
    "yellow": (0.83, 0.60, 0.06),
    "green": (0.09, 0.42, 0.08),
    "turquoise": (0.04, 0.42, 0.38),
    "blue": (0.04, 0.13, 0.55),
    "violet": (0.26, 0.08, 0.50),
    "pink": (0.75, 0.22, 0.40),
}

# The moving ones are mirrors with highlights.
_MIRRORS = {"white": 0.6, "black": 0.7}

# Nodes: the plane of the orbit, its turning child, then the balls.
_PLANE, _TURN, _FIRST = 0, 1, 2


def build() -> Scene:
    """Ten balls: a pair that turns once in four seconds, and a ring of eight around it."""
    nodes = _nodes()
    world = nodes.world()
    quarters = np.radians(90.0 * np.arange(5))
    turns = np.stack([0 * quarters, np.sin(quarters / 2), 0 * quarters, np.cos(quarters / 2)], axis=-1)
    orbit = Track(_TURN, "rotation", np.linspace(0.0, PERIOD, len(turns)), turns)
    return Scene(
        [sphere(SEGMENTS, RINGS).mesh("ball")],
        [Instance(0, world[_FIRST + k], material=k, name=f"{name} ball") for k, name in enumerate(_COLORS)],
        [_material(name, color) for name, color in _COLORS.items()],
        [
            Camera((1.5, 10.5, 10.0), (0.0, -0.2, 0.2), fov=34, name="front"),
            Camera((0.0, 17.5, 0.0), (0.0, 0.0, 0.0), up=(0.0, 0.0, -1.0), fov=40, name="top"),
            Camera((9.5, 2.6, 9.0), (0.0, 0.0, 0.0), fov=42, name="side"),
            Camera((0.9, 2.2, 3.7), (0.0, 0.0, 0.0), fov=60, name="close"),
        ],
        lights=[
            Light("point", "key light", (7.0, 10.0, 9.0), intensity=(820.0, 780.0, 700.0)),
            Light("point", "fill light", (-10.0, 5.0, 6.0), intensity=(180.0, 220.0, 300.0)),
        ],
        name="balls",
        hierarchy=nodes,
        animations=[Animation("orbit", (orbit,))],
    )


def _material(name: str, color: tuple[float, float, float]) -> Material:
    mirrors = _MIRRORS.get(name, 0.0)
    matte = [component * (0.35 if mirrors else 1.0) for component in color]
    lobe = 0.1
    return Material(
        name,
        (matte[0], matte[1], matte[2], 1.0),
        roughness=0.2,
        kind="phong",
        specular=lobe,
        exponent=400.0 if mirrors else 60.0,
        reflectivity=mirrors,
    )


def _nodes() -> Hierarchy:
    angle = 2 * np.pi * (np.arange(BALLS_IN_RING) + 0.5) / BALLS_IN_RING
    height = np.where(np.arange(BALLS_IN_RING) % 2 == 0, 0.8, -0.8)
    ring = np.stack([RING * np.sin(angle), height, RING * np.cos(angle)], axis=-1)
    pair = np.array([[ORBIT, 0.0, 0.0], [-ORBIT, 0.0, 0.0]])
    count = _FIRST + len(_COLORS)
    turned = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))
    turned[_PLANE] = (np.sin(np.radians(TILT / 2)), 0.0, 0.0, np.cos(np.radians(TILT / 2)))
    return Hierarchy.of(
        parents=[-1, _PLANE, _TURN, _TURN] + [-1] * BALLS_IN_RING,
        translation=np.concatenate([np.zeros((2, 3)), pair, ring]),
        rotation=turned,
        instance_nodes=np.arange(_FIRST, count),
        camera_nodes=[-1] * 4,
        names=["plane", "turn", *(f"{name} ball" for name in _COLORS)],
    )
