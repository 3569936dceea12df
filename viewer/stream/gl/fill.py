"""Parts of textures filled with one value."""

from __future__ import annotations

import moderngl

_VERTEX = """#version 330 core
void main() { gl_Position = vec4(2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0, 0.0, 1.0); }"""
_FRAGMENT = """#version 330 core
uniform vec4 value;
out vec4 texel;
void main() { texel = value; }"""


class Fill:
    """Fills rectangles of textures by draws; the context must be current in every call.

    Mesa's llvmpipe (22.3) draws a square for a ``glClear`` of a part as well, and loses about one in a hundred draws to
    another framebuffer right before it, where that one is short.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._program = context.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
        self._square = context.vertex_array(self._program, [])

    def draw(
        self,
        target: moderngl.Framebuffer,
        part: tuple[int, int, int, int],
        value: tuple[float, float, float, float],
    ) -> None:
        """Fill a ``part`` (x, y, width, height) of the only attachment of ``target``, which stays in use."""
        target.viewport = part
        target.use()
        self._context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self._program["value"] = value
        self._square.render(moderngl.TRIANGLE_STRIP, vertices=4)
