"""What a driver says that it does and does not: found out by drawing."""

from __future__ import annotations

import moderngl
import numpy as np

from viewer.stream.compile.generate import VERSION
from viewer.stream.compile.source import Source


def array_stores(context: moderngl.Context) -> bool:
    """Whether each pixel stores into a local array at an index of its own. The context must be current.

    Mesa's softpipe (22.3) stores those of four pixels at the index of the first.
    """
    sources = []
    for name in ("probe_vertex", "probe_array_store"):
        source = Source()
        source.add(VERSION, "version")
        source.include(f"stream/{name}.glsl")
        sources.append(source.text)
    program = context.program(vertex_shader=sources[0], fragment_shader=sources[1])
    texture = context.texture((4, 1), 4, dtype="f4")
    target = context.framebuffer([texture])
    target.use()
    context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    triangle = context.vertex_array(program, [])
    triangle.render(moderngl.TRIANGLES, vertices=3)
    marked = texture.read()
    for made in (triangle, program, texture):
        made.release()
    return bool(marked == np.eye(4, dtype=np.float32).tobytes())
