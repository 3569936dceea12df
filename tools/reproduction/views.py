"""The five viewpoints of D 5.2.1 (P2 4.1), and the scenes that stand in for those that are not free.

Neither the scenes nor the cameras are published, but what their eye rays do is: v voxels, t tests, s shadings (D fig.
5.2). Cameras here, and how densely the forest's trees stand, were found by search until these three agree; each view
states the ranges that were searched, and what was found. The section ``stand_ins`` searches again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from raystream.scene.camera import Camera
from raystream.scene.scene import Scene

from .context import Context
from .stand_ins import AROUND, WITHIN, camera_around, camera_within, gathered, ground_height

SIZE, QUICK_SIZE = 1024, 128  # pixels along a side
GROUND = (1.53, 2.55)  # under the bunny, in its heights: derived from the published grid
FLOOR = 10.5  # of the building's fourth storey, metres
# Of the forest's trees, their size and their distance from the middle: of 0.3, 0.35, 0.4 and 0.45 the one whose view
# from above comes nearest to the published tests of a ray; where they stand over all of the ground, it is 8.5 for 34.
GATHERED = 0.35

Range = tuple[float, float]


@dataclass(frozen=True)
class View:
    """A viewpoint.

    name : as the papers have it. scene : what stands in for it here. grid : voxels along the shortest side.
    resolution : the published grid, y along the shortest side, as here. stand_in : what differs from the published one.
    numbers : of the camera, `AROUND` the scene or `WITHIN` it; ranges : that were searched, of the same names; seed :
    of the search that found it; values : found.
    """

    name: str
    scene: str
    grid: int
    resolution: tuple[int, int, int]
    stand_in: str
    numbers: tuple[str, ...]
    ranges: tuple[Range, ...]
    seed: int
    values: tuple[float, ...]

    def load(self, context: Context) -> Scene:
        """The scene. Raises AbsentError where its file is not there."""
        scene = context.scene(self.scene)
        if self.scene == "bunny.ply":
            return scene.on_ground(GROUND)
        if self.scene == "forest":
            return gathered(scene, GATHERED, self.resolution[0] / self.resolution[1])
        return scene

    def look(self, scene: Scene, values: ArrayLike | None = None) -> Camera:
        """Where it is seen from. values : of the camera's numbers, else those that were found."""
        chosen = np.asarray(self.values if values is None else values)
        if self.numbers == AROUND:
            return camera_around(chosen)
        if self.scene == "forest":
            return camera_within(chosen, lambda x, z: ground_height(scene, x, z))
        return camera_within(chosen, lambda x, z: FLOOR)


_HALL = "an office building of our own: as many triangles, and a box of the same proportions; another plan"
_FOREST = (
    "a forest of our own: as many triangles, and a box of the same proportions; its trees are drawn together and made "
    f"smaller by {GATHERED:g}"
)
_FITTED = "the camera was sought until v, t and s agree"
VIEWS = (
    View(
        "Soda Hall Outside",
        "building",
        128,
        (250, 128, 198),
        f"{_HALL}. A corner of its roof and the sky: {_FITTED}",
        AROUND,
        ((50, 150), (0, 360), (5, 45), (-15, 15), (5, 22), (-12, 12), (15, 60)),
        2003,
        (54.196, 97.278, 15.873, -14.79, 22.0, -12.0, 40.922),
    ),
    View(
        "Soda Hall Inside",
        "building",
        128,
        (250, 128, 198),
        f"{_HALL}. Shelves of a library: {_FITTED}",
        WITHIN,
        ((-23, 23), (1.2, 1.75), (-18, 18), (0, 360), (-20, 5), (45, 70)),
        2002,
        (-2.249, 1.28, -8.38, 283.076, -13.526, 63.45),
    ),
    View(
        "Forest Top Down",
        "forest",
        128,
        (581, 128, 581),
        f"{_FOREST}; {_FITTED}",
        AROUND,
        ((80, 300), (0, 360), (80, 90), (-20, 20), (-10, 10), (-20, 20), (15, 60)),
        2002,
        (80.0, 327.18, 82.684, -15.03, -8.546, -7.16, 56.364),
    ),
    View(
        "Forest Inside",
        "forest",
        128,
        (581, 128, 581),
        f"{_FOREST}; {_FITTED}",
        WITHIN,
        ((-44, 44), (1.2, 3), (-44, 44), (0, 360), (-12, 4), (45, 70)),
        2003,
        (42.889, 2.706, -27.661, 23.041, -3.495, 45.0),
    ),
    View(
        "Bunny Ray Cast",
        "bunny.ply",
        64,
        (98, 64, 163),
        f"the same bunny, on the ground that its grid asks for; {_FITTED}",
        AROUND,
        ((0.2, 0.4), (-60, 60), (20, 50), (-0.067, 0.033), (0.06, 0.13), (-0.052, 0.048), (30, 50)),
        2002,
        (0.313, 52.824, 48.936, 0.022, 0.085, -0.015, 36.324),
    ),
)
