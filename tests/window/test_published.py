"""The published machine in the window, as the command line opens it: its picture, while it grows and afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.cli import commands, main
from raystream.cli.presets import PRESETS
from raystream.formats.named import load
from raystream.renderer.renderer import Renderer
from raystream.viewport.preferences import Preferences
from tests.window.conftest import Hands

Opener = Callable[..., Hands]
SIZE = (32, 24)
FEW = ("--photons", "64", "--caustic-photons", "16", "--nearest", "4", "--light-samples", "1", "--depth", "3")


def chosen(*words: str) -> dict[str, object]:
    """The options of a view as the command line hands them to the application."""
    return commands.view_options(main._parse("view", list(words)))


@pytest.mark.parametrize("name", PRESETS)
def test_the_picture_is_the_published_one(name: str, opened: Opener, place: Path) -> None:
    """Sample by sample it is that of ``raystream render``, undenoised, at the preset's exposure; and it goes on."""
    samples = 1 if name == "2003" else 2  # of its machine thousands of passes
    words = ["cornell", "--preset", name, *(FEW if name == "2003" else FEW[-2:])]
    options = chosen(*words)
    (place / "settings.toml").write_text(f"samples = {samples}\nnoise = 0.0\npanels = false\n")
    hands = opened("cornell", SIZE, **{each: value for each, value in options.items() if each != "scene"})
    session, view = hands.app.session, hands.app.view
    hands.until(lambda: session.idle, "the last sample")
    assert session.samples == session.stop.spp == samples, "a preset's samples are a file's"
    assert (view.tone.exposure, view.tone.tonemap) == (0.0, "none")
    asked = main._parse("render", [*words, "-o", "a.png"])
    wanted = Renderer(load("cornell"), **commands.chosen_options(asked, "renderer")).render(SIZE, samples)
    assert np.array_equal(session.linear(), wanted.linear)


def test_what_the_line_decides_is_no_preference(opened: Opener, place: Path) -> None:
    kept = 'size = [200, 150]\nsamples = 5\nnoise = 0.25\ntonemap = "agx"\npanels = false\n'
    (place / "settings.toml").write_text(kept)
    hands = opened("cornell", SIZE, **chosen("cornell", "--quality", "draft", "--tonemap", "none", "--program", "cast"))
    stop = hands.app.session.stop
    assert (stop.spp, stop.error) == (8, 0.2) and hands.app.view.tone.tonemap == "none"
    release, hands.app.release = hands.app.release, lambda: None
    release()
    found = Preferences.load()
    assert (found.size, found.samples, found.noise, found.tonemap) == ((200, 150), 5, 0.25, "agx")


def test_a_window_has_its_display_s_gpu(place: Path) -> None:
    from raystream.window.app import App

    with pytest.raises(ViewerError, match="device=0: chooses no GPU for a window"):
        App("cornell", SIZE, **chosen("cornell", "--device", "0"))
