"""A window with photons never showed its picture again: a machine that had traced them was given back to make room for
another, and as the map itself was still there, warming made no new one; it was waited for without end."""

from __future__ import annotations

from typing import Any

import raystream
from raystream import Renderer
from raystream.film.error import Stop
from raystream.renderer.device import machine_pool
from raystream.renderer.session.session import Session
from raystream.scene.light import Light
from tests.renderer.test_session import Paper


def test_machines_given_back_are_made_again(device: Any, monkeypatch) -> None:
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "depth": 1}
    renderer = Renderer(scene, device=device, camera="0,1,1 0,0.3,0.3", environment="none", photon_bounces=2, **options)
    session = Session(renderer, (8, 6), Stop(1), screen=Paper())
    session.finish()
    held = len(renderer.gpu_scene.machines)
    monkeypatch.setattr(machine_pool, "MAX_MACHINES", held)
    renderer.trace([[0, 1, 1]], [[0, 0, -1]])  # one more: the oldest goes
    assert len(renderer.gpu_scene.machines) == held and not renderer.sampler.ready(
        renderer.settings, renderer.camera, (256, 128)
    )
    session.restart()
    for _ in range(500):
        if session.idle:
            break
        session.advance(0.0)
    assert session.converged and session.samples == 1
    session.release()
    renderer.release()
