"""Stand-ins for the scenes of T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003), section
3.1.

The paper describes contents, light and grid, but no geometry, materials, powers or cameras: these are our own. The
floor's length is the unit; +Y is up. Spheres and rings are quadrics, as in the paper (section 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from raystream.scene.builtin.cornell import build as build_cornell
from raystream.scene.builtin.parts.shapes import Part, quads
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene

INNER, OUTER, TALL = 0.25, 0.26, 0.1  # of the ring
# Settings of the published pictures, as options (T. J. Purcell, *Ray Tracing on a Stream Processor*, 2004, section
# 6.3.1): size, grid, photons per estimate, shadow rays, and no structure. The published numbers are of photons
# *stored*, 5,000, 16,000 and 65,000, not emitted, and without how they are aimed. Here the emitted ones give about as
# many stored; in the Cornell box caustic photons are then as strong as the others.
PUBLISHED: dict[str, dict[str, Any]] = {
    "glass_ball": {
        **{"size": (512, 384), "photon_grid": (250, 1, 250), "nearest": 32, "light_samples": 4, "accel": "none"},
        **{"photons": 4_096, "caustic_photons": 5_690},
    },
    "ring": {
        **{"size": (512, 384), "photon_grid": (250, 1, 250), "nearest": 64, "light_samples": 1, "accel": "none"},
        **{"photons": 4_096, "caustic_photons": 64_400},
    },
    "cornell_photons": {
        **{"size": (512, 512), "photon_grid": (25, 25, 50), "nearest": 500, "light_samples": 32, "accel": "none"},
        **{"photons": 74_900, "caustic_photons": 6_410},
    },
}
STORED = {"glass_ball": 5_000, "ring": 16_000, "cornell_photons": 65_000}
_FLOOR = Material("floor", (0.75, 0.73, 0.70, 1.0))
_GLASS = Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric", ior=1.5)


def glass_ball() -> Scene:
    """GLASS BALL: a ball of glass over a floor, under a small square lamp."""
    lamp, half = np.array([0.28, 1.1, -0.18]), 0.05
    corners = [lamp + half * np.array(at) for at in ((-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1))]
    return _scene(
        "glass_ball",
        [
            _floor().mesh("floor", 0),
            Quadric.sphere((0.0, 0.2, 0.0), 0.14, 1, "ball"),
            quads([corners]).mesh("lamp", 2),
        ],
        [_FLOOR, _GLASS, Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(60.0, 56.0, 50.0))],
        [
            Camera((0.05, 0.42, 0.92), (-0.05, 0.07, 0.02), fov=36, name="front"),
            Camera((0.0, 1.3, 0.01), (0.0, 0.0, 0.0), fov=40, name="top"),
            Camera((-0.3, 0.12, 0.3), (-0.06, 0.03, 0.03), fov=40, name="caustic"),
        ],
    )


def ring() -> Scene:
    """RING: a ring of metal on a floor, in which a point light draws a cardioid."""
    foot, top = (0.0, 0.0, 0.0), (0.0, TALL, 0.0)
    outside = Quadric.cylinder(foot, top, OUTER, 1, "outside")
    inside = Quadric.cylinder(foot, top, INNER, 1, "inside", flipped=True)
    rim = Quadric.disk(top, (0.0, 1.0, 0.0), OUTER, INNER, 1, "rim")
    gold = Material("metal", (0.95, 0.82, 0.55, 1.0), kind="mirror")
    return _scene(
        "ring",
        [_floor().mesh("floor", 0), outside, inside, rim],
        [_FLOOR, gold],
        [
            Camera((0.0, 0.62, 0.62), (0.0, 0.0, 0.02), fov=40, name="front"),
            Camera((0.0, 1.1, 0.01), (0.0, 0.0, 0.0), fov=40, name="top"),
            Camera((0.1, 0.2, 0.3), (-0.08, 0.0, 0.0), fov=50, name="cardioid"),
        ],
        [Light("point", "lamp", (0.5, 0.42, -0.15), intensity=(0.5, 0.48, 0.44))],
    )


def cornell_photons() -> Scene:
    """CORNELL BOX: colour bleeding, a ball of mirror and a ball of glass with its caustic, under the published lamp."""
    scene = build_cornell()
    blocks = ("short_block", "tall_block")
    meshes = [mesh for mesh in scene.meshes if mesh.name not in blocks]
    glass, mirror = len(scene.materials), len(scene.materials) + 1
    meshes += [Quadric.sphere((170, 95, 170), 95, glass, "glass ball")]
    meshes += [Quadric.sphere((390, 95, 350), 95, mirror, "mirror ball")]
    scene.meshes, scene.name = meshes, "cornell_photons"
    scene.instances = [Instance(index, name=mesh.name) for index, mesh in enumerate(meshes)]
    scene.materials = [*scene.materials, _GLASS, Material("mirror", (0.95, 0.95, 0.95, 1.0), kind="mirror")]
    scene.cameras = [
        scene.cameras[0],
        Camera((520, 500, -120), (230, 90, 250), fov=60, name="corner"),
        Camera((250, 180, -60), (170, 40, 190), fov=50, name="caustic"),
    ]
    return scene


def _floor() -> Part:
    return quads([[(-0.5, 0, -0.5), (-0.5, 0, 0.5), (0.5, 0, 0.5), (0.5, 0, -0.5)]])


def _scene(
    name: str, meshes: list[Mesh], materials: list[Material], cameras: list[Camera], lights: Sequence[Light] = ()
) -> Scene:
    instances = [Instance(index, name=mesh.name) for index, mesh in enumerate(meshes)]
    return Scene(meshes, instances, materials, cameras, name=name, lights=list(lights))
