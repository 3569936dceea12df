"""What a process takes does not grow with the pictures that it makes, nor with the renderers that it has had."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import places
import pytest
from gl_objects import living
from own_memory import STATUS, own_memory

import raystream
from raystream.film.error import Stop
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from raystream.viewport.picture_texture import PictureTexture

GROWTH = 8 << 20  # bytes: what allocators keep; 300 pictures of 64 x 64 alone would take 39 MiB
# Every machine, a map of photons, and the denoiser with all that it keeps from picture to picture.
CHOICES: tuple[dict[str, Any], ...] = (
    {"program": "path", "machine": "singlepass", "denoise": "shader"},
    {"program": "path", "machine": "multipass"},
    {"program": "photon", "machine": "singlepass", "photons": 200},
)
# What the last pass leaves bound lives on until another takes its place; which pass that is depends on its time.
BOUND = {"Framebuffer": 1, "Program": 2}
pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="memory is read from /proc")


def taken(device) -> int:
    """Bytes of this process, once what has been dropped is freed, and given back to the system."""
    gc.collect()
    with device.current():
        pass
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", bool)(0)  # glibc keeps up to 50 MiB of free pages, in between others
    return own_memory()


def test_300_renders(device) -> None:
    renderer = Renderer(raystream.load("cornell"), device=device, depth=1)
    for _ in range(20):
        renderer.render((64, 64), spp=1, layers="normal")
    before, held = taken(device), len(device.context.objects)
    for number in range(300):
        renderer.render((64, 64), spp=1, layers="normal" if number % 10 == 0 else ())
    assert taken(device) - before < GROWTH
    assert len(device.context.objects) <= held + 50  # what is freed at the next turn
    renderer.release()


def one_renderer(scene: raystream.Scene, device: Any, number: int) -> None:
    places.picture(scene, (32, 32), 1, device=device, **CHOICES[number % len(CHOICES)])


def one_session(
    scene: raystream.Scene, device: Any, number: int, screen: PictureTexture | None = None
) -> tuple[Renderer, Session]:
    """On a screen, from the preview to samples at the full size, and once more after a change."""
    renderer = Renderer(scene, device=device, **CHOICES[number % len(CHOICES)])
    with device.current():
        screen = screen or PictureTexture(device)
    session = Session(renderer, (32, 32), Stop(2), screen=screen)
    for depth in (1, 2):
        session.update(depth=depth)
        while not session.idle:
            session.advance(0.1)
    session.release()
    renderer.release()
    return renderer, session


@pytest.mark.parametrize("one", [one_renderer, one_session])
@pytest.mark.parametrize("times", [21, pytest.param(300, marks=pytest.mark.slow)])
def test_what_is_released_leaves_nothing(device: Any, one: Callable[..., Any], times: int) -> None:
    """Numbers of times are multiples of the choices': what the last one leaves bound is as before."""
    scene = raystream.load("cornell")
    for number in range(len(CHOICES) * max(2, times // 9)):  # until the driver's bounded cache of variants is full
        one(scene, device, number)
    before, held = taken(device), living(device)
    for number in range(times):
        one(scene, device, number)
    more = {kind: count - held[kind] for kind, count in living(device).items()}
    assert all(count <= BOUND.get(kind, 0) for kind, count in more.items()), more
    grown = [taken(device) - before]
    while grown[-1] >= 2 * GROWTH and len(grown) < 4:  # a heap in pieces comes back, what is left behind does not
        for number in range(len(CHOICES)):
            one(scene, device, number)
        grown.append(taken(device) - before)
    assert grown[-1] < 2 * GROWTH, grown


def test_what_is_dropped_is_freed(device: Any) -> None:
    """Without a release: at the next turn after Python has found out."""
    scene = raystream.load("cornell")

    def drop() -> dict[str, int]:
        for options in CHOICES:
            Renderer(scene, device=device, **options).render((32, 32), spp=1)
        return living(device)

    held = drop()  # with what is bound, which another run's takes the place of
    assert drop() == held
