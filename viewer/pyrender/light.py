"""Lights without extent, as in KHR_lights_punctual; they shine along their own -Z."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.pyrender.checked import Checked, color_vector, label, number, optional


class Light:
    """The fields of all lights. color : (3,) linear RGB, None: white. intensity : of points and spots per solid angle,
    of directional lights per area."""

    name = Checked(label)
    color = Checked(lambda value: color_vector(np.ones(3) if value is None else value, 3))
    intensity = Checked(lambda value: 1.0 if value is None else float(value))

    def __init__(self, color: Any = None, intensity: float | None = None, name: str | None = None) -> None:
        if type(self) is Light:
            raise TypeError("a Light is a DirectionalLight, a PointLight or a SpotLight")
        self.name, self.color, self.intensity = name, color, intensity


class DirectionalLight(Light):
    """From infinitely far, along the node's -Z."""


class PointLight(Light):
    """To all sides; ``range`` is kept and without effect."""

    range = Checked(optional(number("range", 0.0, open_low=True)))

    def __init__(
        self, color: Any = None, intensity: float | None = None, range: float | None = None, name: str | None = None
    ) -> None:
        super().__init__(color, intensity, name)
        self.range = range


class SpotLight(Light):
    """Into a cone about the node's -Z: full within ``innerConeAngle``, none beyond ``outerConeAngle``, radians from the
    axis; ``range`` is kept and without effect."""

    range = Checked(optional(number("range", 0.0, open_low=True)))
    outerConeAngle = Checked(number("outerConeAngle", 0.0, np.pi / 2 + 1e-9))

    def __init__(
        self,
        color: Any = None,
        intensity: float | None = None,
        range: float | None = None,
        innerConeAngle: float = 0.0,
        outerConeAngle: float = np.pi / 4.0,
        name: str | None = None,
    ) -> None:
        super().__init__(color, intensity, name)
        self.range = range
        self.outerConeAngle = outerConeAngle
        self.innerConeAngle = innerConeAngle

    @property
    def innerConeAngle(self) -> float:
        """Angle of full intensity from the axis, radians, up to ``outerConeAngle``."""
        return self._inner

    @innerConeAngle.setter
    def innerConeAngle(self, value: float) -> None:
        self._inner = number("innerConeAngle", 0.0, self.outerConeAngle)(value)
