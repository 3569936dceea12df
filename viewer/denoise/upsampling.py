"""Pictures of more pixels than their light, sharp by the features of every pixel; and pictures warped to a camera that
has moved on, until the next one is there.

Light is drawn up by joint bilateral upsampling (Kopf et al. 2007), with each pixel's own normal. A picture knows its
depths, by which another camera's is made of it: ``shaders/film/upsample/warp.glsl``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import moderngl
import numpy as np

from raystream.denoise.reconstruction import FittedLight
from raystream.denoise.records import IRRADIANCE, LIT, MAPPED, RELIEF, Views, view_uniforms
from raystream.kernels.records import FEATURES, FILM
from raystream.scene.camera import Camera
from raystream.stream.compile.source import Source
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import Declared, PassSet, pass_sources
from raystream.stream.gl.stream import NamedStreams, Stream

SHOWN = Record(
    "Shown",
    Field("rgb", "vec3", "linear sRGB"),
    Field("nearness", "float", "1 / scene units", about="1 / depth along the view's axis; 0: nothing is hit"),
)
# Camera rays of a pixel that its edges are softened by, at most, where its samples are fewer: more leave specks (toy
# car, 8 samples: 0.10 % in place of 0.09).
GUIDED = 8
PASSES: Declared = {
    "compose": ({"features": FEATURES, "light": IRRADIANCE}, SHOWN),
    "upsample": ({"features": FEATURES, "lit": LIT, "relief": RELIEF}, SHOWN),
    "soften": ({"shown": SHOWN}, SHOWN),
    "soften_samples": ({"shown": SHOWN, "film": FILM}, SHOWN),
    "warp": ({"shown": SHOWN}, SHOWN),
}


def upsampling_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    yield from pass_sources("film/upsample", PASSES)
    for name in ("compose", "upsample"):
        for _, source in pass_sources("film/upsample", {name: PASSES[name]}, MAPPED):
            yield f"{name}, {MAPPED[0]}", source


class Upsampling:
    """The passes, with the picture made last; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/upsample", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)
        self._picture: Stream | None = None
        self._camera: Camera | None = None  # of the picture made last

    def prepare(self) -> None:
        """Compile the passes for fitted light, `soften` and `warp`. Raises ShaderError."""
        self._passes.prepare("upsample", "soften", "warp")

    @property
    def there(self) -> bool:
        """Whether there is a picture to warp: of a pinhole, as a warp is projective."""
        return self._camera is not None and not self._camera.kind

    @property
    def size(self) -> tuple[int, int]:
        """The size of that picture, (width, height)."""
        assert self._picture is not None, "no picture to warp"
        return self._picture.size

    def compose(self, light: FittedLight | Stream, features: Stream, camera: Camera) -> Stream:
        """The picture of light on the surfaces of ``features`` (`FEATURES`, of the same view): a stream of `SHOWN` of
        their size, which holds until the next call. light : of any size, or `IRRADIANCE` of theirs."""
        size, view = features.size, self._views.of(camera, features.size)
        name, inputs, values = "compose", {"features": features}, dict[str, Any](view.uniforms)
        if isinstance(light, FittedLight):
            name, inputs = "upsample", {**inputs, "lit": light.lit, "relief": light.relief}
            values |= {"scale": (light.lit.size[0] / size[0], light.lit.size[1] / size[1]), "stride": light.stride}
        else:
            inputs["light"] = light
        self._picture, self._camera = self._streams.get("picture", SHOWN, size), camera
        self._passes.draw(name, {**inputs, **view.streams}, self._picture, view.features, **values)
        return self._picture

    def soften(
        self, picture: Stream, samples: int, white: float, film: Stream, camera: Camera, rays: int = 0
    ) -> Stream:
        """A stream of `SHOWN` of ``samples`` a pixel, softened: the fewer, the more. If it is the picture made last, it
        takes its place. white : luminance that is displayed as white. film : of the picture's size where that has
        several samples, of these or more. rays : camera rays of a pixel that its edges are of, where more."""
        if camera.eyes:  # halves of a stereo pair have nothing to do with each other
            return picture
        made = picture is self._picture
        softened = self._streams.get("softened" if made else "other", SHOWN, picture.size)
        name, streams = ("soften_samples", {"film": film}) if samples > 1 else ("soften", dict[str, Stream]())
        streams["shown"] = picture
        rays = max(samples, min(rays, GUIDED), 1)
        self._passes.draw(name, streams, softened, samples=float(max(samples, 1)), rays=float(rays), white=white)
        self._picture = softened if made else self._picture
        return softened

    def distance(self, camera: Camera) -> float:
        """How far another camera is from that of the picture made last, scene units."""
        assert self._camera is not None, "no picture to warp"
        return float(np.linalg.norm(np.subtract(camera.origin, self._camera.origin)))

    def warp(self, camera: Camera, target: Stream) -> None:
        """Draw the picture made last as another camera sees it, to a stream of `SHOWN` of any size."""
        picture = self._picture
        assert picture is not None and self._camera is not None, "no picture to warp"
        texture = picture.textures[0]
        # For this pass alone: to Mesa's drivers what is left bound makes variants of the shaders that come next.
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        values = warping(self._camera, picture.size, camera, target.size)
        self._passes.draw("warp", {"shown": picture}, target, **values)
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)

    def forget(self) -> None:
        """Drops the camera of the last result."""
        self._camera = None

    def release(self) -> None:
        """Free the streams."""
        self._picture = None
        self.forget()
        self._streams.release()
        self._views.release()


def warping(past: Camera, past_size: tuple[int, int], now: Camera, size: tuple[int, int]) -> Mapping[str, Any]:
    """Uniforms of ``warp.glsl``: a picture of ``past_size`` (width, height) seen by the camera ``past``, to one of
    ``size`` seen by ``now``."""
    corner, dx, dy = (np.array(axis) for axis in view_uniforms(past, past_size).values())
    forward, before = (np.asarray(camera.basis()[2], np.float64) for camera in (now, past))
    # In float64: float32 has few digits left for places far from the origin.
    shift = np.subtract(np.asarray(now.origin, np.float64), np.asarray(past.origin, np.float64))
    right, lower = dx / (dx @ dx), dy / (dy @ dy)
    vectors = {
        "past_forward": before,
        "past_right": right,
        "past_lower": lower,
        "past_start": (-corner @ right, -corner @ lower),
        "past_axis": (corner @ forward, dx @ forward, dy @ forward),
        "shift": shift,
        "travel": shift @ forward,
    }
    values: dict[str, Any] = dict(view_uniforms(now, size))
    for name, value in vectors.items():
        values[name] = float(value) if np.ndim(value) == 0 else tuple(float(part) for part in value)
    return values
