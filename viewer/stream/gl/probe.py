"""Driver properties measured by drawing."""

from __future__ import annotations

import moderngl
import numpy as np

from viewer.stream.compile.source import Source


def probe_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of `array_stores`."""
    return Source.of_file("stream/probe_vertex.glsl"), Source.of_file("stream/probe_array_store.glsl")


def array_stores(context: moderngl.Context) -> bool:
    """Whether each pixel stores into a local array at its own index. The context must be current.

    Mesa's softpipe (22.3) stores those of four pixels at the first one's index.
    """
    vertex, fragment = probe_sources()
    program = context.program(vertex_shader=vertex.text, fragment_shader=fragment.text)
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
