"""What a process takes does not grow with the pictures that it makes, nor with the renderers that it has had."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import viewer
from viewer.renderer.renderer import Renderer

STATM = Path("/proc/self/statm")
PAGE = 4096
GROWTH = 8 << 20  # bytes: what allocators keep; 300 pictures of 64 x 64 alone would take 39 MiB
pytestmark = pytest.mark.skipif(not STATM.exists(), reason="resident memory is read from /proc")


def resident(device) -> int:
    """Bytes of this process, once what has been dropped is freed."""
    gc.collect()
    with device.current():
        pass
    gc.collect()
    return int(STATM.read_text().split()[1]) * PAGE


def test_300_renders(device) -> None:
    renderer = Renderer(viewer.load("cornell"), device=device, depth=1)
    for _ in range(20):
        renderer.render((64, 64), spp=1, layers="normal")
    before, held = resident(device), len(device.context.objects)
    for number in range(300):
        renderer.render((64, 64), spp=1, layers="normal" if number % 10 == 0 else ())
    assert resident(device) - before < GROWTH
    assert len(device.context.objects) <= held + 50  # what is freed at the next turn
    renderer.release()


@pytest.mark.slow
def test_300_renderers(device) -> None:
    scene = viewer.load("cornell")

    def one() -> None:
        renderer = Renderer(scene, device=device)
        renderer.render((32, 32), spp=1)
        renderer.release()

    for _ in range(100):  # the driver's cache of compiled variants, which is bounded, fills
        one()
    before = resident(device)
    for _ in range(300):
        one()
    assert resident(device) - before < 2 * GROWTH
