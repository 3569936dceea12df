"""A headless picture in the thread of a window, whose context GLX has made current."""

from __future__ import annotations

import ctypes

import numpy as np

import raystream


def test_a_picture_beside_a_window(request, place):
    device = request.getfixturevalue("device")  # its context is not current here
    import glfw

    triangle = raystream.Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
    renderer = raystream.Renderer(triangle, program="cast")
    picture = renderer.render((8, 8)).linear
    glx = ctypes.CDLL("libGL.so.1")
    glx.glXGetCurrentContext.restype = glx.glGetString.restype = ctypes.c_void_p
    assert glfw.init()
    glfw.window_hint(glfw.VISIBLE, False)
    window = glfw.create_window(8, 8, "", None, None)
    try:
        glfw.make_context_current(window)
        context = ctypes.cast(glfw.get_glx_context(window), ctypes.c_void_p).value
        assert np.array_equal(renderer.render((8, 8)).linear, picture)
        assert renderer.device is device  # not one that is opened in the window's context
        assert glx.glXGetCurrentContext() == context and glx.glGetString(0x1F02)  # GL_VERSION
    finally:
        glfw.destroy_window(window)
        glfw.terminate()
