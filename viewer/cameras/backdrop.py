"""The backdrop: the picture's background, where camera rays leave the scene, and a floor before it seen by its shadows
and mirror images alone. Neither lights anything: they act on camera rays, and on those that the floor mirrors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.cameras.blur import blurred
from raystream.cameras.floor_light import floor_light
from raystream.lighting.lights import LightList
from raystream.options.camera_values import blur_of
from raystream.scene.environment import ConstantEnvironment, Environment, ImageEnvironment
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

Tone = tuple[float, float, float]

BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
# Of the gradient, linear sRGB: a light floor, on which shadows are seen, and a wall that darkens upwards, as behind a
# photographer's table, before which white is white.
LOW, HIGH = (0.75, 0.76, 0.78), (0.12, 0.13, 0.15)
# Of lights that a sample's shadow ray from the floor may go to, beside the environment: of lamps, and of textures alone
# that shine, whose light is little: one leaves a bias of 1e-4 of white, as 32 do, and each is a way down a light tree.
POINTS, POINTS_OF_TEXTURES = 16, 1
REACH = 0.6  # of the model's height: what the floor mirrors fades up to here
GAP = 1e-4  # of the model's largest edge, between its lowest point and the floor

TURNS = "background_turn", "floor_turn"  # uniforms of an image's rotation

TEXEL = Record("BackgroundTexel", Field("radiance", "vec3", "W / (m^2 sr), linear sRGB"))


@dataclass(frozen=True)
class Floor:
    """A floor at the ``height`` y that mirrors objects less than ``reach`` above it, scene units."""

    height: float
    reach: float


@dataclass(frozen=True)
class Backdrop:
    """The background for camera rays that leave the scene.

    name  : as the option has it. tones : radiance seen straight down and straight up; None: the environment, blurred
    by ``degrees``. transparent : pictures have an alpha channel. floor : before it, if there is one.
    """

    name: str
    tones: tuple[Tone, Tone] | None = None
    degrees: float = 0.0
    transparent: bool = False
    floor: Floor | None = None

    @property
    def color(self) -> Tone | None:
        """Of a background of one colour."""
        return self.tones[0] if self.tones is not None and self.tones[0] == self.tones[1] else None

    @property
    def kind(self) -> str:
        """Of `raystream.programs.backdrop.BACKDROPS`."""
        return "plain" if self.floor is None else "floor"

    @property
    def text(self) -> str:
        """Differs where pictures do."""
        return self.name if self.floor is None else f"{self.name}, floor at {self.floor.height:g}"


def floor_under(bounds: NDArray[np.float64]) -> Floor | None:
    """The floor under a model of these bounds, (2, 3), scene units; None under one without extent."""
    edges = bounds[1] - bounds[0]
    largest = float(edges.max())
    if not largest > 0:
        return None
    height = float(edges[1]) if edges[1] > 0 else largest
    return Floor(float(bounds[0, 1]) - GAP * largest, REACH * height)


def backdrop_of(background: Any, floor: Floor | None, tone: float = 1.0) -> Backdrop | None:
    """The backdrop by a checked value of the option ``background``; None where the environment itself is seen, and
    nothing before it. tone : factor on the gradient."""
    if background == "transparent":
        return Backdrop("transparent", (BLACK, BLACK), transparent=True, floor=floor)
    if background == "gradient":
        name = "gradient" if tone == 1 else f"gradient times {tone:g}"
        return Backdrop(name, (_scaled(LOW, tone), _scaled(HIGH, tone)), floor=floor)
    if isinstance(background, tuple):
        return Backdrop(",".join(f"{value:g}" for value in background), (background, background), floor=floor)
    if degrees := blur_of(background):
        return Backdrop(background, degrees=degrees, floor=floor)
    return None if floor is None else Backdrop("environment", floor=floor)


def _scaled(tone: Tone, factor: float) -> Tone:
    red, green, blue = tone
    return factor * red, factor * green, factor * blue


def backdrop_modules(backdrop: Backdrop, environment: Environment, lights: LightList) -> list[Module]:
    """``background_radiance``, and where there is a floor ``floor_meets`` and ``floor_light``, before an environment
    and lights."""
    modules = [_background(backdrop, environment)]
    if backdrop.floor is not None:
        modules += [
            floor_light(environment),
            Module(
                "shadow floor",
                provides=("floor_meets", "floor_mirrors"),
                source="shading/shadow_floor.glsl",
                uniforms={
                    "floor_height": ("float", backdrop.floor.height),
                    "floor_reach": ("float", backdrop.floor.reach),
                    "floor_solid": ("int", 1),
                },
                features=frozenset({"FLOOR"}),
            ),
            _floor_points(lights),
        ]
    return modules


def _floor_points(lights: LightList) -> Module:
    provides = ("choose_floor_point",)
    if not lights.count:
        return Module("no floor points", provides, "shading/floor_points_none.glsl")
    return Module(
        "floor points",
        provides,
        "shading/floor_points.glsl",
        constants={"FLOOR_POINTS": POINTS if lights.lit else POINTS_OF_TEXTURES},
        needs=("light_sample", "sample_2d", "surface_dimension"),
    )


def rotated_modules(modules: Sequence[Module], environment: ImageEnvironment) -> list[Module]:
    """Those of `backdrop_modules` before the same image at another rotation: their tables are shared."""
    turn = "vec2", tuple(map(float, environment.turn))
    uniforms = (
        {name: turn if name in TURNS else value for name, value in module.uniforms.items()} for module in modules
    )
    return [replace(module, uniforms=values) for module, values in zip(modules, uniforms, strict=True)]


def _background(backdrop: Backdrop, environment: Environment) -> Module:
    provides, features, tones = ("background_radiance",), frozenset({"BACKDROP"}), backdrop.tones
    if tones is None and backdrop.degrees and isinstance(environment, ConstantEnvironment):
        tones = environment.radiance, environment.radiance
    if tones is not None:
        uniforms = tones_uniforms(tones)
        return Module("plain background", provides, "shading/plain_background.glsl", (), uniforms, features=features)
    if not backdrop.degrees or isinstance(environment, ConstantEnvironment):
        source, needs = "shading/environment_background.glsl", ("environment_radiance",)
        return Module("environment background", provides, source, needs=needs, features=features)
    pixels = blurred(environment, backdrop.degrees)
    texels = np.zeros(pixels.shape[0] * pixels.shape[1], TEXEL.dtype)
    texels["radiance"] = pixels.reshape(-1, 3)
    height, width = pixels.shape[:2]
    uniforms = {
        "background_size": ("ivec2", (width, height)),
        "background_turn": ("vec2", tuple(map(float, environment.turn))),
    }
    table = Table("background_texels", TEXEL, texels)
    source = "shading/blurred_background.glsl"
    return Module("blurred background", provides, source, (table,), uniforms, features=features)


def tones_uniforms(tones: tuple[Tone, Tone]) -> dict[str, tuple[str, Any]]:
    """The uniforms of a background of two tones."""
    low, high = (tuple(map(float, tone)) for tone in tones)
    return {"background_low": ("vec3", low), "background_high": ("vec3", high)}
