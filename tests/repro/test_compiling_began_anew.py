"""While shaders were compiled, a camera that moved began it anew in every turn, and it never came to its end."""

from __future__ import annotations

from typing import Any

import pytest

import raystream
from raystream import Renderer
from raystream.renderer.session.session import Session
from tests.renderer.test_session import Paper


def test_a_moving_camera_lets_it_go_on(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Renderer(raystream.load("cornell"), device=device, machine="multipass", fuse="ray", program="cast")
    begun = []
    warm = renderer.sampler.warm
    monkeypatch.setattr(renderer.sampler, "warm", lambda *arguments: begun.append(arguments) or warm(*arguments))
    session = Session(renderer, (8, 6), screen=Paper())
    for step in range(100):
        session.advance(1e-3)
        if begun and not session.compiling:
            break
        session.update(camera=f"{278 + step},273,-800 278,273,0")
    assert len(begun) == 1 and not session.compiling
    session.release()
