"""llvmpipe compiled programs anew after other renderers had run, and after `warm`: a warmed sample took ten times as
long. Mesa keeps what it compiles in a folder, by which the test counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import os, sys, time
import raystream
from raystream.kernels.records import PIXEL
from raystream.renderer.sampling.sampler import FramePlan, Tiling

TILE = (16, 16)
scene = raystream.Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def compiled():
    '''Files that the driver keeps, once it has written them all: it does so in a thread of its own.'''
    found, still = -1, 0
    while still < 20:
        now = sum(len(files) for _, _, files in os.walk(os.environ["MESA_SHADER_CACHE_DIR"]))
        found, still = now, still + 1 if now == found else 0
        time.sleep(0.01)
    return found


def picture(renderer):
    for _ in renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, TILE, tiling=Tiling(TILE))):
        pass
    with renderer.device.current():
        renderer.device.context.finish()


first = raystream.Renderer(scene, program="path", depth=1, environment="sky")
for _ in first.sampler.warm(first.settings, first.camera, TILE):
    pass
with first.device.current():  # what fills the rays' pixels is no part of the machine
    first.gpu_scene.pixels.fill(first.gpu_scene.resources.stream("pixel", PIXEL, TILE), (slice(0, 16), slice(0, 16)))
warmed = compiled()
picture(first)
drawn = compiled()
for number in range(3):  # some passes are drawn or not, as it comes
    picture(first)
others = [raystream.Renderer(scene, program="cast"), raystream.Renderer(scene, program="cast", fuse="none")]
for other in others:
    picture(other)
before = compiled()
for renderer in (first, *others):
    picture(renderer)
first.update(policy="naive")
picture(first)
print(warmed, drawn, before, compiled())
"""


def test_a_warmed_program_is_compiled_once(device, tmp_path: Path) -> None:
    if "llvmpipe" not in device.name:
        pytest.skip(f"{device.name} is not llvmpipe")
    environment = {**os.environ, "MESA_SHADER_CACHE_DIR": str(tmp_path), "MESA_SHADER_CACHE_DISABLE": "false"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    warmed, drawn, before, after = map(int, done.stdout.split())
    if not warmed:
        pytest.skip("this driver keeps nothing")
    assert drawn == warmed, "`warm` has left passes to be compiled"
    assert after == before, "a picture compiled again what had been"
