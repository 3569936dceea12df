"""The optics of the camera in the hand: lens and projection, apart from where it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from raystream.scene.camera import Camera
from raystream.scene.projections.models import LARGEST_HEIGHT, Equirectangular, Fisheye, Orthographic, Projection
from raystream.viewport.controls.pose import CameraPose

FOV_STEP = 1.05
LEAST_FOV, MOST_FOV = 1.0, 170.0  # degrees
LEAST_ANGLE, MOST_ANGLE = 1.0, 360.0  # across a fisheye's circle, degrees
HALF_SPHERE = 180.0  # of a new fisheye
# Projections that need no measured camera, by the names of `--projection`.
PROJECTIONS = ("perspective", "orthographic", "equirectangular", "fisheye", "equisolid")
LEAST_SHOWN, MOST_SHOWN = 1e-12, 1e12  # of an orthographic camera, in distances to the target


@dataclass
class CameraOptics:
    """The fields of a `Camera` beside its pose.

    fov : vertical, degrees. aperture : radius of the lens, scene units. focus : distance of the plane in focus, scene
    units; None: the target's. shown : height of an orthographic picture, in distances to the target.
    base: as in a camera.
    """

    fov: float
    name: str
    aperture: float
    focus: float | None
    projection: Projection | None
    eyes: float | None
    shown: float = 1.0
    base: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, camera: Camera, distance: float) -> CameraOptics:
        """Those of a camera at that distance from its target, scene units."""
        optics = cls(camera.fov, camera.name, camera.aperture, camera.focus, camera.projection, camera.eyes)
        optics.base = camera.base
        if isinstance(camera.projection, Orthographic):
            optics.shown = camera.projection.height / distance
        return optics

    @property
    def orthographic(self) -> bool:
        """Whether its rays are parallel."""
        return isinstance(self.projection, Orthographic)

    @property
    def slope(self) -> float:
        """Tangent of half the field of view."""
        return math.tan(math.radians(self.fov) / 2)

    def camera(self, pose: CameraPose) -> Camera:
        """The camera in a pose."""
        projection = self.projection
        if self.orthographic:  # the nearer, the less it shows
            projection = Orthographic(min(max(self.shown * pose.distance, LEAST_SHOWN), LARGEST_HEIGHT))
        camera = pose.camera(self.fov, self.name)
        return replace(
            camera, aperture=self.aperture, focus=self.focus, projection=projection, eyes=self.eyes, base=self.base
        )

    def height_at(self, depth: float, distance: float) -> float:
        """Height of the view at a depth before the eye, scene units. distance : of the target."""
        return self.shown * distance if self.orthographic else 2 * depth * self.slope

    def set_fov(self, degrees: float) -> None:
        """Vertical field of view in degrees, held to 1..170; of a fisheye the angle across its circle, to 360."""
        if isinstance(self.projection, Fisheye):
            self.projection = replace(self.projection, angle=min(max(degrees, LEAST_ANGLE), MOST_ANGLE))
        else:
            self.fov = min(max(degrees, LEAST_FOV), MOST_FOV)

    def widen(self, steps: float) -> None:
        """By 5 % a step; negative steps narrow the view."""
        factor = FOV_STEP ** min(max(steps, -200.0), 200.0)
        if self.orthographic:
            self.shown = min(max(self.shown * factor, LEAST_SHOWN), MOST_SHOWN)
        elif isinstance(self.projection, Fisheye):
            self.set_fov(self.projection.angle * factor)
        else:
            self.set_fov(self.fov * factor)

    @property
    def name_of_projection(self) -> str:
        """One of `PROJECTIONS`, or the kind of a measured camera."""
        projection = self.projection
        if isinstance(projection, Fisheye) and projection.equisolid:
            return "equisolid"
        return "perspective" if projection is None else projection.kind

    def choose_projection(self, name: str) -> None:
        """Take one of `PROJECTIONS`: an orthographic one shows as much at the target as the perspective; a fisheye
        keeps its angle."""
        previous = self.projection
        if name == "orthographic":
            self.projection, self.shown = Orthographic(1.0), self.shown if self.orthographic else 2 * self.slope
        elif name == "equirectangular":
            self.projection = Equirectangular()
        elif name == "perspective":
            self.projection = None
        else:
            angle = previous.angle if isinstance(previous, Fisheye) else HALF_SPHERE
            self.projection = Fisheye(angle, name == "equisolid")
