"""The panels' renderer, in a headless context: text, clipping, blending, textures, state, errors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui, ImVec2 = imgui_bundle.imgui, imgui_bundle.ImVec2

SIZE = (160, 120)  # units of the window
RED, GREEN, BLUE, WHITE = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (255, 255, 255, 255)
FLAGS = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_background


def ink(red: float, green: float, blue: float, alpha: float = 1.0) -> int:
    return imgui.color_convert_float4_to_u32(imgui_bundle.ImVec4(red, green, blue, alpha))


class Stage:
    """An ImGui context, its renderer, and an offscreen framebuffer."""

    def __init__(self, context: moderngl.Context) -> None:
        from raystream.window.panels.imgui_draw import ImguiDraw

        self.context = context
        self.imgui = imgui.create_context()
        imgui.set_current_context(self.imgui)
        imgui.get_io().set_ini_filename("")
        self.draw = ImguiDraw(context)
        self.target = self.framebuffer(SIZE)

    def framebuffer(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        return self.context.framebuffer([self.context.texture(size, 4)])

    def show(self, content: Callable[[Any], None], scale: float = 1.0, clear: Any = (0, 0, 0, 0)) -> NDArray[np.uint8]:
        """(height, width, 4) uint8, row 0 at the top, of a frame whose content draws into a bare window's list."""
        io = imgui.get_io()
        io.display_size, io.display_framebuffer_scale = ImVec2(*SIZE), ImVec2(scale, scale)
        io.delta_time = 1 / 60
        imgui.new_frame()
        imgui.set_next_window_pos(ImVec2(0, 0))
        imgui.set_next_window_size(ImVec2(*SIZE))
        imgui.push_style_var(imgui.StyleVar_.window_padding, ImVec2(0, 0))
        imgui.begin("bare", None, FLAGS)
        content(imgui.get_window_draw_list())
        imgui.end()
        imgui.pop_style_var()
        imgui.render()
        self.target.use()
        self.target.clear(*clear)
        self.draw.render(imgui.get_draw_data())
        assert self.context.error == "GL_NO_ERROR"
        return self.pixels()

    def pixels(self) -> NDArray[np.uint8]:
        width, height = self.target.size
        return np.frombuffer(self.target.read(components=4), np.uint8).reshape(height, width, 4)[::-1]

    def release(self) -> None:
        self.draw.release()
        imgui.destroy_context(self.imgui)


@pytest.fixture
def scene_loader(device: Any) -> Iterator[Stage]:
    made = Stage(device.context)
    yield made
    made.release()


def test_shapes_are_where_they_belong(scene_loader):
    picture = scene_loader.show(lambda draw: draw.add_rect_filled(ImVec2(20, 10), ImVec2(50, 30), ink(1, 0, 0)))
    expected = np.zeros_like(picture)
    expected[10:30, 20:50] = RED
    # A rectangle's edge is softened over one pixel.
    inside, outside = (slice(11, 29), slice(21, 49)), np.ones(picture.shape[:2], bool)
    outside[9:31, 19:51] = False
    np.testing.assert_array_equal(picture[inside], expected[inside])
    assert not picture[outside].any()


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_clip_rectangles_on_screens_of_any_density(scene_loader, scale):
    scene_loader.target = scene_loader.framebuffer((round(SIZE[0] * scale), round(SIZE[1] * scale)))

    def content(draw: Any) -> None:
        draw.push_clip_rect(ImVec2(30, 20), ImVec2(70, 50))
        draw.add_rect_filled(ImVec2(0, 0), ImVec2(*SIZE), ink(0, 1, 0))
        draw.pop_clip_rect()

    picture = scene_loader.show(content, scale)
    expected = np.zeros(picture.shape[:2], bool)
    expected[round(20 * scale) : round(50 * scale), round(30 * scale) : round(70 * scale)] = True
    np.testing.assert_array_equal(picture[..., 1] == 255, expected)


def test_blending_is_straight_ink_over_premultiplied_ground(scene_loader):
    def content(draw: Any) -> None:
        draw.add_rect_filled(ImVec2(10, 10), ImVec2(40, 40), ink(1, 0, 0, 0.5))

    alpha = (ink(1, 0, 0, 0.5) >> 24) / 255
    empty = scene_loader.show(content)[20, 20] / 255
    # One step of 8 bits for each rounding: of the ink, and of the blended pixel.
    np.testing.assert_allclose(empty, (alpha, 0, 0, alpha), atol=1.1 / 255)
    over = scene_loader.show(content, clear=(0, 0, 1, 1))[20, 20] / 255
    np.testing.assert_allclose(over, (alpha, 0, 1 - alpha, 1), atol=1.1 / 255)


def test_a_picture_of_ours_is_shown_upright(scene_loader):
    texels = np.array([[RED, GREEN], [BLUE, WHITE]], np.uint8)
    texture = scene_loader.context.texture((16, 16), 4, texels.repeat(8, axis=0).repeat(8, axis=1).tobytes())
    picture = scene_loader.show(lambda _: imgui.image(scene_loader.draw.register(texture), ImVec2(40, 40)))
    assert [tuple(picture[y, x]) for y, x in ((10, 10), (10, 30), (30, 10), (30, 30))] == [RED, GREEN, BLUE, WHITE]


# GL_BLEND_SRC_RGB, DST_RGB, SRC_ALPHA, DST_ALPHA; GL_BLEND_EQUATION_RGB, ALPHA
BLENDING = (0x80C9, 0x80C8, 0x80CB, 0x80CA, 0x8009, 0x883D)


def queries(context: moderngl.Context) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """An integer of OpenGL's state, and whether a capability is enabled."""
    load = context.mglo._context.load_opengl_function
    read = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.POINTER(ctypes.c_int))(load("glGetIntegerv"))

    def integer(name: int) -> int:
        read(name, ctypes.byref(value := ctypes.c_int()))
        return value.value

    return integer, ctypes.CFUNCTYPE(ctypes.c_ubyte, ctypes.c_uint)(load("glIsEnabled"))


def test_state_is_as_before(scene_loader):
    """What the tracer relies on: depth test, blending, scissor, viewport, framebuffer."""
    context = scene_loader.context
    depth = context.framebuffer([context.texture(SIZE, 4)], context.depth_renderbuffer(SIZE))
    scene_loader.target = depth
    integer, enabled_of = queries(context)

    def state() -> list[Any]:
        capabilities = (0x0B71, 0x0BE2, 0x0B44, 0x0C11)  # depth test, blend, cull face, scissor test
        flags = [bool(enabled_of(capability)) for capability in capabilities]
        return [
            *flags,
            *map(integer, BLENDING),
            context.fbo.viewport,
            context.fbo.glo,
            context.fbo.scissor if flags[3] else 0,
        ]

    for enabled in (moderngl.DEPTH_TEST, moderngl.BLEND | moderngl.CULL_FACE, moderngl.NOTHING):
        for scissor in (None, (3, 4, 50, 60)):
            depth.use()
            depth.viewport, depth.scissor = (5, 6, 70, 80), scissor
            context.enable_only(enabled)
            context.blend_func = (moderngl.ONE, moderngl.ONE, moderngl.ZERO, moderngl.ONE)
            context.blend_equation = moderngl.MAX
            before = state()
            scene_loader.show(lambda draw: draw.add_rect_filled(ImVec2(0, 0), ImVec2(90, 90), ink(1, 1, 1)))
            assert state() == before
    context.blend_func, context.blend_equation = moderngl.DEFAULT_BLENDING, moderngl.FUNC_ADD
    context.enable_only(moderngl.NOTHING)
