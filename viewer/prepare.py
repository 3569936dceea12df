"""What a scene becomes before it meets OpenGL: flat triangles, the structure over them, and the modules of both."""

from __future__ import annotations

from dataclasses import dataclass

from viewer import options
from viewer.accel import grid, grid_build, triangles
from viewer.accel.grid_build import Grid
from viewer.scene.scene import Scene, Triangles
from viewer.shading.modules import constant_environment, pinhole, surfaces
from viewer.stream.kernel import Module


@dataclass(frozen=True)
class Prepared:
    """A scene ready to be uploaded; made without OpenGL, so that a worker thread can."""

    scene: Scene
    triangles: Triangles
    grid: Grid
    modules: list[Module]


def prepare(scene: Scene, resolution: int | str = "auto", intersection: str = "watertight") -> Prepared:
    """Flatten a scene and build its grid; the options are those of `Renderer`.

    Raises ViewerError for a value out of range and a scene that does not fit.
    """
    resolution, intersection = options.check("grid", resolution), options.check("intersection", intersection)
    flat = scene.flatten()
    corners = flat.corners()
    built = grid_build.build(corners, resolution)
    modules = [
        grid.module(built),
        triangles.module(intersection, corners, float(max(built.voxel * built.resolution))),
        pinhole(scene.camera()),
        surfaces(flat, scene.materials),
        constant_environment(),
    ]
    return Prepared(scene, flat, built, modules)
