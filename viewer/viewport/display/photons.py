"""Photons as points over the picture, straight from their stream on the device, and cells of their grid as wires."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.kernels.photons import ENTRY, PHOTON
from raystream.kernels.records import HIT
from raystream.scene.camera import Camera
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader, ranges
from raystream.stream.gl.passes import add_fetch
from raystream.stream.gl.stream import Stream

PREMULTIPLIED = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
NEAR = 1e-4  # of the distance to the target: nearer parts of a wire are cut off
READ = {"photons": PHOTON, "photon_list": ENTRY, "hits": HIT}  # streams of the vertex program


def point_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of the points."""
    vertex = Source.begin()
    for name, record in READ.items():
        vertex.add_record(record)
        add_fetch(vertex, name, record)
    vertex.include("photons/seen_vertex.glsl")
    return vertex, Source.of_file("photons/seen_fragment.glsl")


def wire_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of the wires."""
    return Source.of_file("photons/wire_vertex.glsl"), Source.of_file("photons/wire_fragment.glsl")


def view_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, tuple[float, ...]]:
    """The projection of a picture of ``size`` (width, height): its middle and edges at 0 and 1 after division by the
    depth."""
    right, up, forward = (np.asarray(axis, np.float64) for axis in camera.basis())
    tangent = math.tan(math.radians(camera.fov) / 2)
    return {
        "eye": tuple(map(float, camera.origin)),
        "rightward": tuple(map(float, right / (tangent * size[0] / size[1]))),
        "upward": tuple(map(float, up / tangent)),
        "forward": tuple(map(float, forward)),
    }


class PhotonPicture:
    """Draws points and wires over the picture in a framebuffer; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        vertex, fragment = point_sources()
        self._points = Shader(device, fragment, vertex, listed=True)
        self._array = device.context.vertex_array(self._points.program, [])
        vertex, fragment = wire_sources()
        self._wires = Shader(device, fragment, vertex, listed=True)
        self._lines: tuple[NDArray[np.float64], moderngl.VertexArray] | None = None

    def points(
        self,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        camera: Camera,
        streams: Mapping[str, Stream],
        stored: int,
        hits: Stream | None,
        diameter: float,
    ) -> None:
        """Every stored photon.

        streams : "photons" of `PHOTON`, and "photon_list" of `ENTRY` that holds ``stored`` of them first, or else all
        places are looked at. hits : of `HIT`, whose surfaces hide photons behind them. diameter : of a point, pixels.
        """
        listed = "photon_list" in streams
        photons = streams["photons"]
        count = stored if listed else photons.size[0] * photons.size[1]
        if not count:
            return
        shader = self._points
        bound = {"photon_list": photons, "hits": photons, **streams}  # what is not read needs a texture all the same
        for name, stream in ({**bound, "hits": hits} if hits is not None else bound).items():
            for k, texture in enumerate(stream.textures):
                shader.bind(f"in_{name}_{k}", texture)
        values = {"listed": int(listed), "hiding": int(hits is not None), "diameter": diameter}
        for name, value in {**view_uniforms(camera, size), **values}.items():
            shader.set(name, value)
        self._draw(target, size, shader, self._array, moderngl.POINTS, count)

    def wires(
        self,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        camera: Camera,
        lines: NDArray[np.float64],
        ink: NDArray[np.float32],
    ) -> None:
        """Lines (N, 2, 3) in world space, each of its colour, ``ink`` (N, 4), premultiplied; uploaded where another
        array of them is given."""
        if self._lines is None or self._lines[0] is not lines:
            vertices = np.zeros((len(lines), 2), [("place", "f4", 3), ("ink", "f4", 4)])
            vertices["place"], vertices["ink"] = lines, ink[:, None]
            buffer = self.device.context.buffer(vertices.tobytes() or bytes(28))
            array = self.device.context.vertex_array(self._wires.program, [(buffer, "3f4 4f4", "place", "ink")])
            self._lines = lines, array
        near = NEAR * max(math.dist(camera.origin, camera.target), 1e-12)
        for name, value in {**view_uniforms(camera, size), "near": near}.items():
            self._wires.set(name, value)
        self._draw(target, size, self._wires, self._lines[1], moderngl.LINES, len(lines))

    def _draw(
        self, target: moderngl.Framebuffer, size: tuple[int, int], shader: Shader, array: Any, mode: int, count: int
    ) -> None:
        """This number of points or lines."""
        if not count:
            return
        context, per_primitive = self.device.context, 2 if mode == moderngl.LINES else 1
        with context.scope(target, enable_only=moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE):
            context.blend_func = PREMULTIPLIED
            target.viewport = (0, 0, *size)
            for first, some in ranges(shader.parts, count):
                array.render(mode, vertices=per_primitive * some, first=per_primitive * first)
