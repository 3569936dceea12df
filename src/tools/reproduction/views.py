"""The five viewpoints of D 5.2.1 (P2 4.1), and the scenes that stand in for those that are not free."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.scene.camera import Camera
from viewer.scene.scene import Scene

from .context import Context

SIZE, QUICK_SIZE = 1024, 128  # pixels along a side
GROUND = (1.53, 2.55)  # under the bunny, in its heights: derived from the published grid


@dataclass(frozen=True)
class View:
    """A viewpoint.

    name : as the papers have it. scene, camera : what stands in for it here. grid : voxels along the shortest side.
    resolution : the published grid, y along the shortest side, as here. stand_in : what differs from the published one.
    """

    name: str
    scene: str
    camera: str | None
    grid: int
    resolution: tuple[int, int, int]
    stand_in: str

    def load(self, context: Context) -> Scene:
        """The scene. Raises AbsentError where its file is not there."""
        scene = context.scene(self.scene)
        return scene.on_ground(GROUND) if self.scene == "bunny.ply" else scene

    def look(self, scene: Scene) -> Camera:
        """Where it is seen from."""
        if self.camera is not None:
            return scene.camera(self.camera)
        low, high = scene.bounds(ground=False)
        middle, height = (low + high) / 2, high[1] - low[1]
        # Most of the picture is bunny or ground, as the published 0.82 hits a ray have it.
        away = tuple(float(each) for each in middle + height * np.array([0.25, 0.75, 1.2]))
        aim = tuple(float(each) for each in middle + height * np.array([0.0, -0.12, 0.05]))
        return Camera(away, aim, fov=50.0, name="bunny")  # type: ignore[arg-type]


_HALL = "a building of our own: as many triangles, and a box of the same proportions; another plan"
_FOREST = "a forest of our own: as many triangles, and a box of the same proportions"
VIEWS = (
    View("Soda Hall Outside", "building", "outside", 128, (250, 128, 198), _HALL),
    View("Soda Hall Inside", "building", "inside", 128, (250, 128, 198), _HALL),
    View("Forest Top Down", "forest", "top", 128, (581, 128, 581), _FOREST),
    View("Forest Inside", "forest", "inside", 128, (581, 128, 581), _FOREST),
    View(
        "Bunny Ray Cast", "bunny.ply", None, 64, (98, 64, 163), "the same bunny, on the ground that its grid asks for"
    ),
)
