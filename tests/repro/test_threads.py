"""Two renderers in two threads failed with a bare OpenGL error, and one in two threads gave wrong pixels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import meshes
import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.base.errors import DeviceError, ViewerError
from raystream.renderer.session.session import Session
from raystream.stream.gl.device import Device

SIZE = (24, 16)
PATIENCE = 600.0  # seconds, after which a thread that should have ended hangs
CHOICES = {"program": "cast", "fuse": "none", "unroll": 1}  # many passes, quickly compiled


@pytest.fixture
def opengl(request: pytest.FixtureRequest) -> Device:
    """The device; its context is not current here, or other threads would wait for it."""
    return request.getfixturevalue("device")


@pytest.fixture
def scenes() -> list[Scene]:
    return [meshes.scene(meshes.icosphere(level).corners()) for level in (1, 2)]


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each returns, all begun together in threads of their own."""
    gate, results = threading.Barrier(len(works)), [None] * len(works)

    def run(number: int) -> None:
        gate.wait(PATIENCE)
        try:
            results[number] = works[number]()
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def bits(renderer: Renderer, **options: Any) -> bytes:
    return renderer.render(SIZE, **options).linear.tobytes()


def test_two_renderers_in_two_threads(opengl: Device, scenes: list[Scene]) -> None:
    expected = [bits(Renderer(scene, **CHOICES)) for scene in scenes]
    turns: list[int] = []
    made = threading.Barrier(2)

    def work(number: int) -> list[bytes]:
        renderer = Renderer(scenes[number], **CHOICES)
        made.wait(PATIENCE)
        return [bits(renderer, progress=lambda *_: turns.append(number)) for _ in range(3)]

    found = at_once(lambda: work(0), lambda: work(1))
    assert found == [[expected[0]] * 3, [expected[1]] * 3]
    changes = np.count_nonzero(np.diff(turns))
    assert changes > 10, "one rendered after the other"


def test_one_renderer_in_two_threads(opengl: Device, scenes: list[Scene]) -> None:
    renderer = Renderer(scenes[1], **CHOICES)
    origins, directions = (a.reshape(-1, 3) for a in renderer.camera.rays(*SIZE))
    picture, hits = bits(renderer), renderer.trace(origins, directions)

    def trace() -> list[bool]:
        every = [renderer.trace(origins, directions) for _ in range(3)]
        return [np.array_equal(a, b) for found in every for a, b in zip(hits, found, strict=True)]

    pictures, again, traced = at_once(
        lambda: [bits(renderer) for _ in range(2)], lambda: [bits(renderer) for _ in range(2)], trace
    )
    assert pictures == again == [picture] * 2 and all(traced)


@pytest.mark.parametrize(
    "call",
    [
        lambda renderer: renderer.render("no size"),
        lambda renderer: renderer.trace("no rays", ()),
        lambda renderer: renderer.update(depth=2),
        lambda renderer: renderer.move({}),
        lambda renderer: renderer.info(),
        lambda renderer: renderer.reload(),
        lambda renderer: renderer.release(),
        lambda renderer: Session(renderer, SIZE).picture(),
    ],
)
def test_every_call_waits_for_its_turn(call: Callable[[Renderer], Any], opengl: Device, scenes: list[Scene]) -> None:
    renderer = Renderer(scenes[0], **CHOICES)

    def work() -> None:
        with suppress(ViewerError):  # of what it is given, once it has its turn
            call(renderer)

    thread = threading.Thread(target=work, daemon=True)
    with renderer.lock:
        thread.start()
        while not renderer.lock._waiting:
            assert thread.is_alive(), "it has not waited"
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_picture_that_another_has_overtaken_is_refused(opengl: Device, scenes: list[Scene]) -> None:
    """It would find the other one's rays in its streams."""
    renderer = Renderer(scenes[0], **CHOICES)
    whole = bits(renderer)
    for overtake in (lambda: bits(renderer), lambda: renderer.update(scenes[1])):
        session = Session(renderer, SIZE)
        session.advance(0.0)
        assert session.running
        at_once(overtake)
        with pytest.raises(DeviceError, match="another one has begun, or the scene has changed"):
            session.finish()
        session.release()
    renderer.update(scenes[0])
    assert bits(renderer) == whole


def test_a_windows_context_stays_in_its_thread(opengl: Device, scenes: list[Scene]) -> None:
    with opengl.current():
        window = Device(opengl.context)  # as of a window: current all the time
        renderer = Renderer(scenes[0], device=window, **CHOICES)
        with pytest.raises(DeviceError, match="the window's thread"):
            at_once(lambda: renderer.render(SIZE))
        assert renderer.render(SIZE).linear.any()


def test_an_update_waits_for_the_picture_of_another_thread(opengl: Device, scenes: list[Scene]) -> None:
    renderer = Renderer(scenes[0], **CHOICES)
    first, begun, done = bits(renderer), threading.Event(), []

    def progress(*_: Any) -> None:
        begun.set()
        assert not done

    def change() -> None:
        begun.wait(PATIENCE)
        renderer.update(scenes[1])
        done.append(True)

    rendered, _ = at_once(lambda: bits(renderer, progress=progress), change)
    assert rendered == first and done
    assert bits(renderer) == bits(Renderer(scenes[1], **CHOICES)) != first
