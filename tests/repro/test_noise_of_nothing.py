"""A black picture had "0 % noise", as if it were perfect."""

from __future__ import annotations

import math
from typing import Any

import meshes
import pytest

from raystream import Renderer
from raystream.film.error import Stop
from raystream.renderer.session.session import Session


def test_noise_is_a_word_where_it_is_no_number(device: Any) -> None:
    pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
    from raystream.window.panels.widgets import noise

    dark = meshes.scene([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    renderer = Renderer(dark, device=device, machine="singlepass", program="path", environment="none")
    session = Session(renderer, (8, 6), Stop(3))
    session.finish()
    assert session.convergence.film.error() == 0.0 and noise(session.convergence.film.error()) == "none"
    session.release()
    assert noise(math.inf) == "unknown"  # of a single sample
    assert noise(0.0321) == "3.21 %"
