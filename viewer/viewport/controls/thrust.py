"""Flight by keys: those that are down, and the velocity that follows them. Pure arithmetic in float64."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from raystream.viewport.controls.pose import ENDS

Array = NDArray[np.float64]

GLIDE = 0.06  # seconds: the time constant with which flight takes up and loses speed
FAST, SLOW = 4.0, 0.25
AT_REST = 0.005  # share of the speed below which flight ends

# Motion -> its part in the camera's right, the world's up, the camera's forward.
MOTIONS = {
    "forward": (0, 0, 1),
    "back": (0, 0, -1),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "down": (0, -1, 0),
    "up": (0, 1, 0),
}
PACES = {"fast": FAST, "slow": SLOW}


class Thrust:
    """held : motions and paces whose keys are down. velocity : (3,) world space, scene units per second."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.velocity: Array = np.zeros(3)

    def press(self, motion: str) -> None:
        """A key goes down. Raises ValueError for a key of no motion and no pace."""
        if motion not in MOTIONS and motion not in PACES:
            raise ValueError(f"no motion '{motion}'")
        self.held.add(motion)

    def stop(self) -> None:
        """At once; the keys stay down."""
        self.velocity = np.zeros(3)

    def wanted(self, right: Array, forward: Array, speed: float) -> Array:
        """The velocity that the keys ask for, under a camera with these axes, (3,) unit length."""
        parts = np.sum([MOTIONS[key] for key in self.held if key in MOTIONS] or [(0, 0, 0)], axis=0)
        direction = parts[0] * right + parts[1] * np.array([0.0, 1.0, 0.0]) + parts[2] * forward
        length = float(np.linalg.norm(direction))
        if length < 1e-6 or not math.isfinite(speed):
            return np.zeros(3)
        pace = math.prod(PACES[key] for key in self.held if key in PACES)
        return direction * (min(max(speed, 0.0), ENDS) * pace / length)

    def advance(self, dt: float, target_velocity: Array, speed: float) -> Array:
        """The way (3,) of ``dt`` seconds. Velocity v decays towards the keys' velocity, w:
        x(dt) = x + w dt + (v - w) T (1 - exp(-dt / T)).

        Where keys are up, and it is slow beside ``speed``, the rest of the way is taken in one: the place of rest is
        the same at every frame rate.
        """
        lag = self.velocity - target_velocity
        decay = math.exp(-dt / GLIDE)
        ending = not target_velocity.any() and np.linalg.norm(lag) * decay < AT_REST * speed
        if ending or decay == 0.0:
            decay = 0.0
        self.velocity = target_velocity + lag * decay
        return target_velocity * dt + lag * (GLIDE * (1 - decay))
