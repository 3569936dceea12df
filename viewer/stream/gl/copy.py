"""Copies between a stream in row order and a rectangle of another, on the device.

Machines take rays in row order, regardless of the picture's rectangle: tiles of every shape run in streams of one size.
"""

from __future__ import annotations

import moderngl

from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.stream import Stream

FORMS = ("rows_from_rectangle", "rectangle_from_rows")


def copy_source(form: str, texels: int) -> Source:
    """The fragment program of a copy of records of ``texels`` texels. form : one of `FORMS`."""
    source = Source.begin()
    for k in range(texels):
        source.add(f"uniform sampler2D in_{k};\nlayout(location = {k}) out vec4 out_{k};", "record")
    body = "\n".join(f"    out_{k} = texelFetch(in_{k}, at, 0);" for k in range(texels))
    source.add(f"void copy(ivec2 at) {{\n{body}\n}}", "record")
    source.include(f"stream/{form}.glsl")
    return source


class Copies:
    """The copy programs of a device for records of every width, compiled on first use."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._drawings: dict[tuple[str, int], Drawing] = {}

    def to_rows(self, source: Stream, target: Stream, corner: tuple[int, int], size: tuple[int, int]) -> None:
        """Copy a rectangle of ``source``, of ``size`` from its ``corner`` on, to the first elements of ``target``.

        Elements for parts outside of the source stay as they are.
        """
        self._draw(FORMS[0], source, target, target.size[0], corner, size, (0, 0, *target.size))

    def from_rows(self, source: Stream, target: Stream, corner: tuple[int, int], size: tuple[int, int]) -> None:
        """Copy the first elements of ``source`` to a rectangle of ``target``, clipped to the target."""
        left, low = max(corner[0], 0), max(corner[1], 0)
        right, high = min(corner[0] + size[0], target.size[0]), min(corner[1] + size[1], target.size[1])
        if left < right and low < high:
            box = (left, low, right - left, high - low)
            self._draw(FORMS[1], source, target, source.size[0], corner, size, box)

    def _draw(
        self,
        form: str,
        source: Stream,
        target: Stream,
        width: int,
        corner: tuple[int, int],
        size: tuple[int, int],
        box: tuple[int, int, int, int],
    ) -> None:
        assert source.record == target.record, "a copy keeps the record"
        key = form, source.record.texels
        if key not in self._drawings:
            self._drawings[key] = square(self.device, Shader(self.device, copy_source(*key)))
        drawing, shader, framebuffer = self._drawings[key], self._drawings[key].shader, target.framebuffer
        framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(source.textures):
            shader.bind(f"in_{k}", texture)
        for name, value in (("width", width), ("wide", (size[0], size[0] * size[1])), ("corner", corner)):
            shader.set(name, value)
        shader.set("size", source.size)
        framebuffer.viewport = box  # the square covers it
        drawing.render()
        framebuffer.viewport = (0, 0, *target.size)
