"""PyVista's Plotter after a first picture: VTK ended our OpenGL context, and pictures failed with 'cannot create
texture'; another library's context was not current any more after a picture of ours."""

from __future__ import annotations

import subprocess
import sys

import moderngl
import numpy as np
import pytest

import raystream
from raystream.stream.gl import contexts
from raystream.stream.gl.device import open_device

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the libraries share EGL on Linux")

TRIANGLE = raystream.Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])

ENDED = """
import ctypes, gc
import numpy as np
import raystream
from raystream.stream.gl.device import shared_device

triangle = raystream.Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
renderer, released = (raystream.Renderer(triangle, program="cast") for _ in range(2))
picture, hits = renderer.render((8, 8)).linear, renderer.trace([[0, 0, 3]], [[0, 0, -1]])
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetCurrentDisplay.restype = ctypes.c_void_p
with shared_device().current():
    display = ctypes.c_void_p(egl.eglGetCurrentDisplay())


def end():  # as vtkEGLRenderWindow does
    numbers = ctypes.c_int(), ctypes.c_int()
    assert egl.eglTerminate(display) and egl.eglInitialize(display, *map(ctypes.byref, numbers))


end()
before = shared_device.__globals__["_shared"].copy()
held = next(iter(before.values()))
try:
    with held.current():
        pass
except raystream.ViewerError as error:
    print(error)
released.release()
assert np.array_equal(raystream.render(triangle, program="cast", size=(8, 8)).linear, picture)
assert shared_device() is not held
assert np.array_equal(renderer.render((8, 8)).linear, picture)
parts, version = (renderer.gpu_scene, renderer.sampler), renderer.gpu_scene.version
end()
assert renderer.trace([[0, 0, 3]], [[0, 0, -1]]).distance == hits.distance
assert renderer.gpu_scene is not parts[0] and renderer.sampler is not parts[1]
assert renderer.gpu_scene.version != version and renderer.prepared is parts[0].prepared
end()
renderer.update(fov=10.0)
assert not np.array_equal(renderer.render((8, 8)).linear, picture)
renderer.release()
gc.collect()
"""


def test_a_context_that_another_library_ends(device):
    done = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("OpenGL: another library has ended the context") and done.stdout.count("\n") == 1


def test_contexts_that_take_turns(request):
    """Ours and another's, which its owner leaves current and finds so."""
    request.getfixturevalue("device")  # its context is not current here
    renderer = raystream.Renderer(TRIANGLE, program="cast")
    picture = renderer.render((8, 8)).linear
    other = moderngl.create_context(standalone=True, backend="egl")
    try:
        theirs = contexts.egl_context()
        texture = other.texture((2, 1), 1, data=b"\x05\x09")
        for _ in range(2):
            assert np.array_equal(renderer.render((8, 8)).linear, picture)
            assert contexts.egl_context() == theirs and texture.read() == b"\x05\x09"
        opened = open_device()
        assert contexts.egl_context() == theirs
        with opened.current():
            assert contexts.egl_context() != theirs
            other.__enter__()  # by a callback, say
            with opened.current():
                assert contexts.egl_context() != theirs
            assert contexts.egl_context() == theirs
        assert contexts.egl_context() == theirs and other.error == "GL_NO_ERROR"
        opened.release()
    finally:
        other.__enter__()
        other.__exit__(None, None, None)
        other.release()
