"""Scenes of very many parts: what is done for each is a few calls, and compiled loops let signals through."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import numpy as np
import pytest
from counting import python_calls

from raystream.accel import bvh_build as bvh
from raystream.base import jit
from raystream.film.files.checkpoint import fingerprint
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

CORNERS = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0)])


def materials(count: int) -> Scene:
    scene = Scene.from_triangles(CORNERS, [(0, 1, 2)])
    return replace(scene, materials=[Material(f"m{k}", (k / count, 0.5, 0.5, 1.0)) for k in range(count)])


def instances(count: int) -> Scene:
    places = np.tile(np.eye(4), (count, 1, 1))
    places[:, 0, 3] = np.arange(count)
    scene = Scene.from_triangles(CORNERS, [(0, 1, 2)])
    return replace(scene, instances=[Instance(0, place) for place in places])


def empty_instances(count: int) -> Scene:
    scene = Scene.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), int))
    return replace(scene, instances=[Instance(0) for _ in range(count)])


def meshes(count: int) -> Scene:
    shapes = [Mesh(CORNERS + (k, 0, k % 7), [(0, 1, 2)]) for k in range(count)]
    return Scene(shapes, [Instance(k) for k in range(count)])


@pytest.mark.parametrize(("make", "most"), [(materials, 600), (instances, 50), (empty_instances, 40), (meshes, 200)])
def test_calls_of_each(make: Callable[[int], Scene], most: int) -> None:
    """Whatever NumPy does with a triangle, a call of it takes a microsecond: there are some by the part, not more of
    them where there are more parts."""

    def calls(count: int) -> int:
        scene = make(count)
        return python_calls(lambda: prepare(scene).fingerprint)

    calls(2000)  # loops are compiled
    few, some, many = calls(500), calls(2000), calls(3500)
    print(f"{make.__name__}: {(some - few) / 1500:.1f} and {(many - some) / 1500:.1f} calls each")
    assert (some - few) / 1500 < most
    assert (many - some) / 1500 < most


SQUARE = np.float32([(-9, 0, -9), (-9, 0, 9), (9, 0, 9), (9, 0, -9)])


def lamps(count: int) -> list[Light]:
    places = np.random.default_rng(0).uniform((-9, 0.5, -9), (9, 1, 9), (count, 3)).tolist()
    return [Light("point", f"lamp {k}", (x, y, z), intensity=(1.0, 0.5, 0.25)) for k, (x, y, z) in enumerate(places)]


def test_calls_of_each_light() -> None:
    """Few for each: all are columns of numbers, in the list, in the tree and in the fingerprint."""

    def calls(count: int) -> int:
        scene = Scene.from_triangles(SQUARE, [(0, 1, 2), (0, 2, 3)])
        scene.lights = lamps(count)
        prepared = None

        def work() -> None:
            nonlocal prepared
            prepared = prepare(scene)
            prepared.lighting.modules(True, "sobol", 1)
            _ = prepared.fingerprint

        return python_calls(work)

    calls(5000)  # loops are compiled
    few, many = calls(5000), calls(7000)
    print((many - few) / 2000, "calls each")
    assert (many - few) / 2000 < 40  # 29; above 100 where each is fed to the fingerprint alone


def test_fingerprints_of_very_many_records() -> None:
    lights = lamps(4096)
    same, other = lamps(4096), lamps(4096)
    other[4000] = Light("point", "lamp 4000", other[4000].position, intensity=(1.0, 0.5, 0.125))
    assert fingerprint(lights) == fingerprint(same) != fingerprint(other)
    assert fingerprint(lights) != fingerprint(lights[:-1])
    named = [*lights[:-1], Light("point", "another", lights[-1].position, intensity=(1.0, 0.5, 0.25))]
    assert fingerprint(lights) != fingerprint(named)
    first, second = (Light("point", name) for name in ("lamp 1", "2"))
    cut = Light("point", "lamp "), Light("point", "12")  # the same letters in a row
    assert fingerprint([*lights, first, second]) != fingerprint([*lights, *cut])
    moving = [replace(each, motion=(each,)) for each in lights]
    assert len({fingerprint(each) for each in (lights, moving, [*lights[:-1], moving[-1]])}) == 3


def test_waiting_for_parts_of_a_tree_takes_a_step_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that were waited for were looked at whenever one was done."""
    monkeypatch.setattr(bvh, "MAX_JOB_BOXES", 8)
    corners = np.random.default_rng(1).uniform(size=(4000, 1, 3)).astype(np.float32)
    corners = corners + np.random.default_rng(2).uniform(-0.01, 0.01, (4000, 3, 3)).astype(np.float32)
    bvh.build(corners)  # loops are compiled
    half, whole = python_calls(lambda: bvh.build(corners[:2000])), python_calls(lambda: bvh.build(corners))
    assert whole < 2.5 * half < 2.5 * 2000 * 50  # 29 a triangle by Python 3.11, 34 by 3.13


def _spin(out, count):
    for k in range(count):
        out[0] += out[1] + k
        out[1] = out[0] % 7
    out[2] = 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of signals")
def test_signals_come_through_long_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """While this thread waits for one, whose arrays live on."""
    out = np.zeros(3, np.int64)
    jit.run(_spin, out, 10)
    monkeypatch.setattr(jit, "LONG", 0)

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    out[:] = 0
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            jit.run(_spin, out, 100_000_000)
        assert out[2] == 0, "it was waited for"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    for thread in threading.enumerate():
        if thread.name == jit.UNWAITED:
            thread.join(60)
    assert out[2] == 1
