"""Draws Dear ImGui's output with moderngl: its triangles, the textures that it asks for, and pictures of our own."""

from __future__ import annotations

import ctypes
import itertools
import weakref
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.viewport.picture_texture import film_source
from raystream.window.bundle import imgui

_SCISSOR_TEST = 0x0C11
_BLEND_FUNCTIONS = (0x80C9, 0x80C8, 0x80CB, 0x80CA)  # GL_BLEND_SRC_RGB, DST_RGB, SRC_ALPHA, DST_ALPHA
_BLEND_EQUATIONS = (0x8009, 0x883D)  # GL_BLEND_EQUATION_RGB, ALPHA
_PREMULTIPLIED = (moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)
_LEAST_BYTES = 1 << 16  # of a buffer


class _Blending:
    """State that moderngl sets but does not tell: the blend functions, and whether scissoring is on."""

    def __init__(self, context: moderngl.Context) -> None:
        load = context.mglo._context.load_opengl_function
        kind = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # OpenGL's convention on Windows
        self._integer = kind(None, ctypes.c_uint, ctypes.POINTER(ctypes.c_int))(load("glGetIntegerv"))
        self._enabled = kind(ctypes.c_ubyte, ctypes.c_uint)(load("glIsEnabled"))

    def enabled(self, capability: int) -> bool:
        return bool(self._enabled(capability))

    def read(self) -> tuple[Any, Any]:
        """Functions (source and destination of colour, of alpha) and equations (colour, alpha)."""
        values = []
        for name in (*_BLEND_FUNCTIONS, *_BLEND_EQUATIONS):
            value = ctypes.c_int()
            self._integer(name, ctypes.byref(value))
            values.append(value.value)
        return tuple(values[:4]), tuple(values[4:])


class ImguiDraw:
    """Draws a frame of the current ImGui context into the framebuffer that is bound.

    Afterwards enable flags, blending, viewport and scissor are as before; texture unit 0 is taken.
    Raises ShaderError where the driver refuses the two programs.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self.context = context
        vertex, fragment = film_source("panel_vertex"), film_source("panel_fragment")
        try:
            self._program = context.program(vertex_shader=vertex.text, fragment_shader=fragment.text)
        except moderngl.Error as error:
            blamed = vertex if "vertex_shader" in str(error) else fragment
            raise blamed.error("GLSL", str(error)) from None
        self._uniforms: dict[str, Any] = {name: self._program[name] for name in ("corner", "size", "in_texture")}
        # Identifiers of textures: no names of OpenGL's, which drivers give anew to the next texture at once.
        self._identifiers = itertools.count(1)
        self._imgui_textures: dict[int, moderngl.Texture] = {}  # textures that ImGui asked for
        self._registered: weakref.WeakKeyDictionary[moderngl.Texture, int] = weakref.WeakKeyDictionary()
        self._vertices, self._indices = (context.buffer(reserve=_LEAST_BYTES, dynamic=True) for _ in range(2))
        self._array: moderngl.VertexArray | None = None
        self._blending = _Blending(context)
        imgui.get_io().backend_flags |= imgui.BackendFlags_.renderer_has_textures
        platform = imgui.get_platform_io()
        largest = int(context.info["GL_MAX_TEXTURE_SIZE"])
        platform.renderer_texture_max_width = platform.renderer_texture_max_height = largest

    def register(self, texture: moderngl.Texture) -> imgui.ImTextureRef:
        """The argument of `imgui.image` for a texture: RGBA or RGB, row 0 at the top; released ones are not drawn."""
        identifier = self._registered.get(texture) or next(self._identifiers)
        self._registered[texture] = identifier
        return imgui.ImTextureRef(identifier)

    def upload(self, texture: moderngl.Texture | None, picture: NDArray[np.uint8]) -> moderngl.Texture:
        """A picture (H, W, 3) as a texture: ``texture``, or where that is of another size one in its place."""
        height, width = picture.shape[:2]
        if texture is None or texture.size != (width, height):
            if texture is not None:
                texture.release()
            texture = self.context.texture((width, height), 3, alignment=1)
        texture.write(np.ascontiguousarray(picture), alignment=1)
        return texture

    def render(self, draw_data: imgui.ImDrawData) -> None:
        """Draw the lists of `imgui.render`; one call to the driver for each of its commands."""
        for data in imgui.get_platform_io().textures:
            self._serve(data)
        size, scale = draw_data.display_size, draw_data.framebuffer_scale
        pixels = (round(size.x * scale.x), round(size.y * scale.y))
        if min(pixels) <= 0:
            return
        array, firsts = self._upload(draw_data)
        if array is None:
            return
        target: Any = self.context.fbo
        viewport, scissor = target.viewport, target.scissor if self._blending.enabled(_SCISSOR_TEST) else None
        functions, equations = self._blending.read()
        self._uniforms["corner"].value = tuple(draw_data.display_pos)
        self._uniforms["size"].value = tuple(size)
        self._uniforms["in_texture"].value = 0
        with self.context.scope(target, enable_only=moderngl.BLEND):
            self.context.blend_func = _PREMULTIPLIED
            self.context.blend_equation = (moderngl.FUNC_ADD, moderngl.FUNC_ADD)
            target.viewport = (0, 0, *pixels)
            for commands, first in zip(draw_data.cmd_lists, firsts, strict=True):
                for command in commands.cmd_buffer:
                    corner, clip = draw_data.display_pos, command.clip_rect
                    left, top = (max(0, int(x)) for x in ((clip.x - corner.x) * scale.x, (clip.y - corner.y) * scale.y))
                    right = min(pixels[0], int((clip.z - corner.x) * scale.x))
                    bottom = min(pixels[1], int((clip.w - corner.y) * scale.y))
                    texture = self._texture(command.get_tex_id())
                    if right > left and bottom > top and command.elem_count and texture is not None:
                        texture.use(0)
                        target.scissor = (left, pixels[1] - bottom, right - left, bottom - top)
                        array.render(moderngl.TRIANGLES, command.elem_count, first=first + command.idx_offset)
        self.context.blend_func, self.context.blend_equation = functions, equations
        target.viewport, target.scissor = viewport, scissor

    def _texture(self, identifier: int) -> moderngl.Texture | None:
        """None for one that was released since."""
        users = (texture for texture, texture_id in self._registered.items() if texture_id == identifier)
        texture = self._imgui_textures.get(identifier) or next(users, None)
        if texture is None or isinstance(texture.mglo, moderngl.InvalidObject):
            return None
        return texture

    # -- vertices --------------------------------------------------------------------------------------------------

    def _upload(self, draw_data: imgui.ImDrawData) -> tuple[moderngl.VertexArray | None, list[int]]:
        """All lists in one pair of buffers; the first index of each."""
        vertices, indices, firsts = [], [], []
        vertex_count = index_count = 0
        for commands in draw_data.cmd_lists:
            firsts.append(index_count)
            vertices.append(_bytes(commands.vtx_buffer, imgui.VERTEX_SIZE))
            kind = np.uint32 if imgui.INDEX_SIZE == 4 else np.uint16
            list_indices = _bytes(commands.idx_buffer, imgui.INDEX_SIZE).view(kind).astype(np.uint32)
            indices.append(list_indices + np.uint32(vertex_count))
            vertex_count += commands.vtx_buffer.size()
            index_count += len(list_indices)
        if not index_count:
            return None, firsts
        grown = self._grow(vertex_count * imgui.VERTEX_SIZE, index_count * 4)
        self._vertices.orphan()
        self._indices.orphan()
        self._vertices.write(np.concatenate(vertices))
        self._indices.write(np.concatenate(indices))
        if grown or self._array is None:
            layout = [(self._vertices, "2f 2f 4f1", "place", "at", "ink")]
            self._array = self.context.vertex_array(self._program, layout, index_buffer=self._indices)
        return self._array, firsts

    def _grow(self, vertex_bytes: int, index_bytes: int) -> bool:
        """Whether the buffers were replaced by larger ones."""
        if self._array is not None and vertex_bytes <= self._vertices.size and index_bytes <= self._indices.size:
            return False
        sizes = [max(_LEAST_BYTES, 1 << (needed - 1).bit_length()) for needed in (vertex_bytes, index_bytes)]
        self._release_buffers()
        self._vertices, self._indices = (self.context.buffer(reserve=size, dynamic=True) for size in sizes)
        return True

    # -- textures --------------------------------------------------------------------------------------------------

    def _serve(self, data: imgui.ImTextureData) -> None:
        """Create, update or destroy a texture, as ImGui asks for."""
        status = imgui.ImTextureStatus
        if data.status == status.want_create:
            texture = self.context.texture((data.width, data.height), data.bytes_per_pixel, _pixels(data))
            texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            texture.repeat_x = texture.repeat_y = False
            if data.bytes_per_pixel == 1:
                texture.swizzle = "111R"
            identifier = next(self._identifiers)
            self._imgui_textures[identifier] = texture
            data.set_tex_id(identifier)
            data.set_status(status.ok)
        elif data.status == status.want_updates:
            texture, pixels = self._imgui_textures[data.tex_id], _pixels(data)
            for area in data.updates:
                block = pixels[area.y : area.y + area.h, area.x : area.x + area.w]
                texture.write(
                    np.ascontiguousarray(block),
                    viewport=(area.x, area.y, area.w, area.h),
                    alignment=1,
                )
            data.set_status(status.ok)
        elif data.status == status.want_destroy and data.unused_frames > 0:
            self._destroy(data)

    def _destroy(self, data: imgui.ImTextureData) -> None:
        texture = self._imgui_textures.pop(data.tex_id, None)
        if texture is not None:
            texture.release()
        data.set_tex_id(0)
        data.set_status(imgui.ImTextureStatus.destroyed)

    def release(self) -> None:
        """Give everything back; before the ImGui context is destroyed."""
        for data in imgui.get_platform_io().textures:
            if data.ref_count == 1:
                self._destroy(data)
        imgui.get_io().backend_flags &= ~imgui.BackendFlags_.renderer_has_textures
        self._release_buffers()
        self._program.release()

    def _release_buffers(self) -> None:
        if self._array is not None:
            self._array.release()
            self._array = None
        for buffer in {id(buffer): buffer for buffer in (self._vertices, self._indices)}.values():
            buffer.release()


def _bytes(vector: Any, size: int) -> NDArray[np.uint8]:
    """A view of an ImVector's elements of ``size`` bytes each, good until the next frame."""
    count = vector.size() * size
    if not count:
        return np.zeros(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * count).from_address(vector.data_address()), np.uint8)


def _pixels(data: imgui.ImTextureData) -> NDArray[np.uint8]:
    """(height, width, bytes per pixel)."""
    return np.asarray(data.get_pixels_array(), np.uint8).reshape(data.height, data.width, data.bytes_per_pixel)
