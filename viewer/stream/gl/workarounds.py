"""Workarounds for drivers: a property measured by drawing, and sampler state on which software drivers specialise
programs."""

from __future__ import annotations

import moderngl
import numpy as np

from raystream.stream.compile.source import Source


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
    for resource in (triangle, program, texture):
        resource.release()
    return bool(marked == np.eye(4, dtype=np.float32).tobytes())


def set_samplers(context: moderngl.Context, samplers: int) -> None:
    """Give all ``samplers`` of fragment programs the state of float textures. The context must be current.

    Mesa leaves a buffer texture's sampler in the state of the last 2-D texture there, if any, and llvmpipe compiles a
    program for each combination. A compiled program thus took another second at its next pass, once another one had set
    more samplers. The draw that sets them here is conditional on a query without samples, so that it is never compiled.
    """
    names = [f"texels_{k}" for k in range(samplers)]
    uniforms = "".join(f"uniform sampler2D {name};\n" for name in names)
    total = " + ".join(f"texelFetch({name}, ivec2(0), 0)" for name in names)
    program = context.program(
        vertex_shader="#version 330 core\nvoid main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
        fragment_shader=f"#version 330 core\n{uniforms}out vec4 sum;\nvoid main() {{ sum = {total}; }}",
    )
    texture, target = (context.texture((1, 1), 4, dtype="f4") for _ in range(2))
    texture.filter, texture.repeat_x, texture.repeat_y = (moderngl.NEAREST, moderngl.NEAREST), False, False
    for unit, name in enumerate(names):
        program[name] = unit
        texture.use(unit)
    context.framebuffer([target]).use()
    query = context.query(samples=True)
    with query:
        pass
    condition = query.crender if not query.samples else None  # reading blocks: it would draw without a count
    if condition is not None:
        with condition:
            context.vertex_array(program, []).render(moderngl.POINTS, vertices=1)
