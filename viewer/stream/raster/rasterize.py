"""Triangles rasterised with a depth buffer into records: the ordinary feed-forward pipeline beside the stream
processor.

A draw has its own vertex and fragment program, made of the same modules as kernels. It fills a rectangle of records;
`raystream.stream.gl.copy` copies these to a stream in row order for machines.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import moderngl
import numpy as np

from raystream.stream.compile.addresses import Addresses
from raystream.stream.compile.generate import add_modules
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader, ranges
from raystream.stream.gl.objects import RawObject
from raystream.stream.gl.stream import Stream

_RENDERBUFFER, _FRAMEBUFFER, _DEPTH_ATTACHMENT = 0x8D41, 0x8D40, 0x8D00
_DEPTH_32F = 0x8CAC


def draw_source(
    modules: Sequence[Module],
    records: Sequence[Record],
    file: str,
    addresses: Addresses,
    rounds: bool = False,
) -> Source:
    """A vertex or fragment program of these modules and a file with ``main``; ``records`` are those it uses besides the
    modules'. rounds: records are packed in the imposed float format (`raystream.stream.declare.limits`)."""
    source = Source.begin()
    if rounds:
        source.include("lib/stored.glsl")
    used = list(records)
    for module in modules:
        used += [memory.record for memory in module.memories if isinstance(memory, Table)]
        used += [*module.uses, *([module.module_state] if module.module_state else [])]
    for record in dict.fromkeys(used):
        source.add_record(record, pack=True, rounding="stored" if rounds else "")
    add_modules(source, modules, addresses, counting=False, once=False)
    source.include(file)
    return source


def attach_depth(device: Device, target: moderngl.Framebuffer, size: tuple[int, int]) -> RawObject:
    """Attach a float32 depth buffer, which moderngl lacks: 24 bits are too coarse for close distances.

    Returns the renderbuffer.
    """
    unsigned, integer, depth = ctypes.c_uint, ctypes.c_int, RawObject(device, "Renderbuffer")
    require = device.require
    require("glBindRenderbuffer", unsigned, unsigned)(_RENDERBUFFER, depth.name)
    require("glRenderbufferStorage", unsigned, unsigned, integer, integer)(_RENDERBUFFER, _DEPTH_32F, *size)
    target.use()
    attach = require("glFramebufferRenderbuffer", unsigned, unsigned, unsigned, unsigned)
    attach(_FRAMEBUFFER, _DEPTH_ATTACHMENT, _RENDERBUFFER, depth.name)
    return depth


class Rasterizer:
    """A draw of triangles into W x H records, nearest first by ``gl_FragDepth``, 0 .. 1 in float32.

    blank : the record (1,) of texels without a triangle. samplers : textures by sampler name. On equal depths the
    earlier triangle wins.
    """

    def __init__(
        self,
        device: Device,
        vertex: Source,
        fragment: Source,
        record: Record,
        size: tuple[int, int],
        blank: Any,
        samplers: Mapping[str, Any],
    ) -> None:
        self.device, self.size, self.record = device, size, record
        self.shader = Shader(device, fragment, vertex, listed=True)
        self.samplers = dict(samplers)
        self.records = Stream(device, record, size)
        context = device.context
        self.target = context.framebuffer(self.records.textures)
        self.single = [context.framebuffer([texture]) for texture in self.records.textures]
        self.blank = [
            (float(r), float(g), float(b), float(a)) for r, g, b, a in device.stored(record.pack(np.asarray(blank)))[0]
        ]
        self._depth = attach_depth(device, self.target, size)

    def draw(self, triangles: int, size: tuple[int, int], uniforms: Mapping[str, Any]) -> None:
        """Draw ``triangles`` triangles into the lower left rectangle of ``size`` (width, height)."""
        context = self.device.context
        self.target.depth_mask = True
        self.target.use()  # also resets the machines' scissors, which would clip the clear
        self.target.clear(depth=1.0)
        for framebuffer, texel in zip(self.single, self.blank, strict=True):
            framebuffer.use()
            framebuffer.clear(color=texel)
        self.target.use()
        self.target.viewport = (0, 0, *size)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<"
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        for name, value in uniforms.items():
            self.shader.set(name, value)
        for name, texture in self.samplers.items():
            self.shader.bind(name, texture)
        for first, count in ranges(self.shader.parts, triangles):
            self.shader.bare.render(moderngl.TRIANGLES, vertices=3 * count, first=3 * first)

    def release(self) -> None:
        """Free the textures."""
        self.records.release()
        self._depth.release()
