"""A picture in motion on a device that works beside the host: nothing is waited for, frame after frame."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from raystream.film.error import Stop
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera
from raystream.stream.gl.device import Device, open_device
from raystream.stream.gl.stream import float_texture
from raystream.viewport.picture_texture import AutoExposure, PictureTexture

SIZE = 48, 32
PATIENCE = 600.0  # seconds, against hanging alone


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device that is no software driver, as far as anybody knows."""
    monkeypatch.setattr(Device, "software", False)
    found = open_device()
    yield found
    found.release()


def aside(camera: Camera, by: float) -> Camera:
    shift = by * camera.basis()[0]
    return replace(camera, origin=tuple(camera.origin + shift), target=tuple(camera.target + shift))


@pytest.mark.parametrize(("machine", "scene"), [("multipass", "cornell"), ("singlepass", "sphere")])
def test_a_flight_makes_no_wait(gpu: Device, machine: str, scene: str) -> None:
    renderer = Renderer(scene, device=gpu, program="path", machine=machine, depth=2)
    with gpu.current():
        screen = PictureTexture(gpu)
        session, meter = Session(renderer, SIZE, Stop(4), screen=screen), AutoExposure(gpu)
        start, pictures, vain, waits, scales = renderer.camera, 0, gpu.failed_polls, gpu.waits, []
        end = time.monotonic() + PATIENCE
        for turn in count():
            assert time.monotonic() < end
            session.update(camera=aside(start, 0.01 * (turn % 4000)))
            session.advance(0.01, moving=True)
            meter.follow(screen.texture, turn / 30, 1 / 30, last=False)
            if session.pictures > pictures:
                pictures = session.pictures
                scales.append(session.scale)
                if pictures == 4:  # the first compile, and have no past
                    waits = gpu.waits
                if pictures == 10:
                    break
            if session.pending:
                time.sleep(0.001)
        assert pictures == 10 and session.seconds > 0
        assert gpu.waits == waits and session.waits == 0
        assert gpu.failed_polls > vain, "it came back for an answer instead"
        shown = session.linear()  # this one waits
        assert gpu.waits == waits + 1 and np.isfinite(shown).all() and shown.mean() > 0
        assert session.scheduler.light.rate is not None
        session.update(camera=start)
        rest = gpu.waits
        while not session.idle:
            session.advance(0.01)
            if session.pending:
                time.sleep(0.001)
        # At rest for the first halves of its samples, of which error is told, and for the last figure.
        assert gpu.waits - rest <= 6 and 0 < session.error < np.inf
        film = session.film()
        renderer.update(denoise="none")
        assert film is not None
        np.testing.assert_array_equal(film.linear, renderer.render(SIZE, spp=4).linear)
        session.release()
    renderer.release()


def test_the_light_meter_looks_later(gpu: Device) -> None:
    """The stops that a picture leads to are those that a wait would have given, a turn or more later."""
    with gpu.current():
        texture = float_texture(gpu, (64, 48))
        texture.write(np.full((48, 64, 4), 0.18, np.float32))
        meter = AutoExposure(gpu)
        assert meter.follow(texture, 0.0, 0.03, last=True)
        first = meter.stops
        texture.write(np.full((48, 64, 4), 0.72, np.float32))
        waits = gpu.waits
        assert meter.follow(texture, 1.0, 0.03, last=True) and not meter.reached
        now, end = 1.0, time.monotonic() + PATIENCE
        while not meter.reached and time.monotonic() < end:
            now += 0.1
            meter.follow(texture, now, 0.1, last=True, same=True)
            time.sleep(0.001)
        assert gpu.waits == waits and meter.reached
        assert meter.stops == meter.measure(texture)
        assert first > meter.stops
