"""In flight, surfaces found by rays stayed those of the first picture, all but a corner: the clear before the next one
was clipped by the scissors of a smaller framebuffer, and a pixel that has its sample takes no other."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from viewer import Camera
from viewer.film.device_film import FilmBuffer
from viewer.renderer.preview.frame import FrameJob
from viewer.renderer.preview.preview import Preview
from viewer.renderer.preview.scheduler import Frame, Scheduler
from viewer.renderer.renderer import Renderer
from viewer.stream.declare.record import Field, Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

NUMBERS = Record("Numbers", Field("number", "vec4"), Field("more", "vec2"))


@pytest.fixture
def scissored(device: Device) -> moderngl.Framebuffer:
    """A small framebuffer in use, drawn to in a band as by a machine."""
    framebuffer = Stream(device, NUMBERS, (4, 3)).framebuffer
    framebuffer.use()
    framebuffer.scissor = (1, 1, 2, 1)
    return framebuffer


def test_a_stream_is_cleared_as_a_whole(device: Device, scissored: moderngl.Framebuffer) -> None:
    stream = Stream(device, NUMBERS, (9, 7))
    stream.write(np.ones((7, 9), NUMBERS.dtype))
    scissored.use()
    stream.clear()
    assert not stream.read()["number"].any() and not stream.read()["more"].any()
    scissored.use()
    stream.clear([(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 0.0, 0.0)])
    assert (stream.read()["number"] == (1, 2, 3, 4)).all() and (stream.read()["more"] == (5, 6)).all()


def test_surfaces_by_rays_follow_the_camera(device: Device, scissored: moderngl.Framebuffer) -> None:
    renderer = Renderer("cornell", program="path", machine="singlepass", device=device)
    size, small, depths = (192, 108), (48, 27), []
    preview = Preview(renderer, Scheduler())  # of a window of no pixels: surfaces are found by rays
    preview.scheduler.upsampled.note(1e12)
    for _ in range(3):
        film = FilmBuffer(device, small)
        for _ in renderer.sampler.render_tiles(renderer.plan(small, samples=1), film):
            pass
        frame = Frame(small, 0.25, 1, 1, preview=True, in_motion=True, budget=1.0)
        scissored.use()
        for _ in preview.picture(FrameJob(frame, renderer.camera, film, first=0), size):
            pass
        depths.append(preview._held["finer"].fields()["depth"].copy())
        eye, aim = np.array(renderer.camera.origin), np.array(renderer.camera.target)
        renderer.update(camera=Camera(tuple(eye + (20, 30, 50)), tuple(aim + (20, 30, 50))))
    preview.release()
    both = (depths[1] > 0) & (depths[2] > 0)
    assert both.mean() > 0.5 and (np.abs(depths[2] - depths[1])[both] > 5).mean() > 0.95
