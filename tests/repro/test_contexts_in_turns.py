"""Streams read while another context was current gave its texels, and freed its textures; an upload went there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import product

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

import raystream
from raystream.film.device_film import FilmBuffer
from raystream.film.error import Stop
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.sampling.sampler import FramePlan
from raystream.stream.gl import contexts
from raystream.stream.gl.device import open_device

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="contexts are given back on Linux")
SIZE = 6, 4
LIT = raystream.Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
OPTIONS = {"accel": "two-level-bvh", "environment": "sky", "camera": "0.2,0.1,3 0,0,0"}
Values = list[NDArray]


class Neighbour:
    """A context of the user's own, whose objects have the names that a renderer's have."""

    def __init__(self) -> None:
        self.context = moderngl.create_context(standalone=True, backend="egl")
        self.handle = contexts.egl_context()
        self.texels = [np.full((3, 4), number, np.float32) for number in range(300)]
        self.textures = [self.context.texture((3, 1), 4, data=each, dtype="f4") for each in self.texels]
        self.targets = [self.context.framebuffer([texture]) for texture in self.textures]
        self.buffers = [self.context.buffer(each) for each in self.texels]

    def check(self) -> None:
        """It is current still, and nobody has touched its objects."""
        assert contexts.egl_context() == self.handle and self.context.error == "GL_NO_ERROR"
        assert all(texture.read() == each.tobytes() for texture, each in zip(self.textures, self.texels, strict=True))
        assert all(buffer.read() == each.tobytes() for buffer, each in zip(self.buffers, self.texels, strict=True))
        assert all(
            t.read(components=4, dtype="f4") == e.tobytes() for t, e in zip(self.targets, self.texels, strict=True)
        )

    def release(self) -> None:
        """End it."""
        self.context.__exit__(None, None, None)
        self.context.release()


def uploads(renderer: raystream.Renderer) -> Values:
    """Of the scene, and of one that comes and goes, in pieces."""
    assert list(renderer.gpu_scene.upload(renderer.settings))[-1] == 1.0
    coming = prepare(LIT, renderer.settings)
    assert list(renderer.gpu_scene.upload(renderer.settings, coming))[-1] == 1.0
    renderer.gpu_scene.discard(coming)
    return []


def renders(renderer: raystream.Renderer) -> Values:
    """A picture with layers of each sort."""
    picture = renderer.render(SIZE, spp=2, layers=("depth", "albedo", "direct_diffuse", "occlusion", "steps"))
    return [picture.linear, *picture.layers.values()]


def traces(renderer: raystream.Renderer) -> Values:
    """A few rays, and those of a coarse view, whose stream is read."""
    hits = renderer.trace([[0, 0, 3], [0, 9, 3]], [[0, 0, -1]] * 2)
    stream = renderer.ray_queries.coarse_hits(renderer.settings, renderer.camera, SIZE)
    return [hits.distance, stream.read()["triangle"], *stream.fields().values(), stream.read_texels()]


def fills(renderer: raystream.Renderer) -> Values:
    """A film on the device, which is read, written, cleared and released."""
    with renderer.device.current():
        film = FilmBuffer(renderer.device, SIZE)
    for _ in renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, SIZE, samples=2), film):
        pass
    found = film.film().linear, film.read()["sum"]
    film.write(film.read())
    again = film.read()["sum"]
    film.clear()
    empty = film.read()["sum"]
    film.release()
    assert not empty.any()
    return [*found, again]


def converges(renderer: raystream.Renderer) -> Values:
    """A session, and the film that it has on the device."""
    session = raystream.Session(renderer, SIZE, Stop(2))
    session.finish()
    held = session.convergence.film.buffer
    assert held is not None
    found = [session.linear(), session.picture().linear, held.read()["sum"]]
    session.release()
    return found


def deforms(renderer: raystream.Renderer) -> Values:
    """A mesh; its vertices are read as they lie on the device."""
    found = []
    for factor in (1.25, 1.0):
        renderer.deform(0, LIT.meshes[0].positions * np.float32(factor))
        found.append(renderer.render(SIZE, spp=1).linear)
        assert renderer.gpu_scene.posed is not None
        found.append(renderer.gpu_scene.posed.read()["position"])
    return found


def changes(renderer: raystream.Renderer) -> Values:
    """Shaders are compiled anew; other programs and structures, and those of before."""
    found = []
    for options in ({"program": "cast"}, {"program": "path", "accel": "grid", "rebuild": "device-grid"}, OPTIONS):
        renderer.update(**options)
        found += [
            np.array(list(renderer.sampler.warm(renderer.settings, renderer.camera, (4, 4)))[-1:]),
            renderer.render(SIZE).linear,
        ]
    renderer.reload()
    assert renderer.info()["gpu memory"]["total"] and renderer.notes
    return [*found, renderer.render(SIZE, spp=1).linear]


CALLS = (uploads, renders, traces, fills, converges, deforms, changes)


@pytest.fixture
def neighbour(device: object) -> Iterator[Neighbour]:
    """It is current."""
    made = Neighbour()
    yield made
    made.release()


def test_two_renderers_and_a_context_of_the_user_s_in_turns(neighbour: Neighbour) -> None:
    """Streams read while another context was current gave its texels, and freed its textures; an upload went there."""
    alone = open_device()
    with alone.current():
        renderer = raystream.Renderer(LIT, device=alone, **OPTIONS)
        expected = [call(renderer) for call in CALLS]
        renderer.release()
    neighbour.check()
    devices = [open_device(), open_device()]
    both = [raystream.Renderer(LIT, device=each, **OPTIONS) for each in devices]
    for (call, values), renderer in product(zip(CALLS, expected, strict=True), both):
        found = call(renderer)
        neighbour.check()
        for value, before in zip(found, values, strict=True):
            np.testing.assert_array_equal(value, before, err_msg=call.__name__)
    for renderer, device in zip(both, devices, strict=True):
        renderer.release()
        device.release()
        neighbour.check()
    alone.release()


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
    """PyVista's Plotter after a first picture: VTK ended our OpenGL context, and pictures failed with 'cannot create
    texture'; another library's context was not current any more after a picture of ours."""
    done = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("OpenGL: another library has ended the context") and done.stdout.count("\n") == 1
