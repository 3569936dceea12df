"""Scenes and settings on their way: what the worker is given, what is shown of what it made, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.viewport import scene_loader
from raystream.viewport.canvas import CanvasView
from raystream.viewport.preferences import Preferences
from tests.viewport.test_canvas_view import CHOSEN, SIZE, opened, rest


class Starts:
    """What a view's worker is started with; it works all the same."""

    def __init__(self, view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, Any, Any, Any]] = []
        start = view.scene_loader.loader.start

        def noted(path: str, scene: Any = None, *, settings: Any, before: Any, pixels: int) -> None:
            assert pixels == SIZE[0] * SIZE[1], "of the window"
            self.seen.append((path, scene, settings, before))
            start(path, scene, settings=settings, before=before, pixels=pixels)

        monkeypatch.setattr(view.scene_loader.loader, "start", noted)


@pytest.fixture
def view(device: Any) -> Iterator[CanvasView]:
    made = opened()
    rest(made)
    yield made
    made.release()


def test_options_that_take_the_worker_a_while(view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are changed at once; what comes meanwhile comes with both."""
    starts, loader, renderer = Starts(view, monkeypatch), view.scene_loader, view.view.renderer
    assert renderer is not None
    view.update(depth=5)
    assert starts.seen == [] and renderer.settings.depth == 5
    before = renderer.prepared
    view.update(accel="bvh", depth=6)
    assert renderer.settings.depth == 6 and renderer.settings.accel != "bvh"
    assert starts.seen == [("cornell", before.scene, loader.requested, before)]
    view.update(accel="bvh")
    assert len(starts.seen) == 1, "as it was asked for"
    rest(view)
    assert (renderer.settings.depth, renderer.settings.accel) == (6, "bvh")
    loader.open("teapotahedron")
    view.update(accel="grid")
    assert [each[:2] for each in starts.seen[1:]] == 2 * [("teapotahedron", None)]
    rest(view)
    assert loader.shown_path == "teapotahedron" and renderer.settings.accel == "grid"


def test_the_first_scene_and_another_one(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of the view are the first one's alone, as an exposure that was set by hand."""
    file = tmp_path / "box.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    preferences = Preferences(path=Path("none"), exposure=0.5)
    view = CanvasView(str(file), SIZE, preferences=preferences, fov=33.0, **{**CHOSEN, "exposure": 2.0})
    try:
        rest(view)
        loader, renderer = view.scene_loader, view.view.renderer
        assert renderer is not None and renderer.camera.fov == 33.0 and loader.requested.fov is None
        assert preferences.recent == [str(file.resolve())] and view.view.tone.exposure == 2.0
        loader.camera_index, view.view.controller.mode = 2, "fly"
        monkeypatch.setattr(scene_loader, "UPLOADING", -1.0)  # seconds: a piece in each turn
        loader.open("cornell")
        uploads = set()
        while not view.idle:
            view.advance()
            uploads.add(loader.loading if loader.uploading else None)
        assert len(uploads) > 2 and {each[0] for each in uploads if each} == {"uploading cornell"}
        assert view.view.renderer is renderer and loader.shown_path == "cornell" and loader.camera_index == -1
        assert view.view.tone.exposure == 0.5 and len(preferences.recent) == 1, "what is built in is no file"
        assert view.camera == renderer.camera and view.camera.fov != 33.0
        np.testing.assert_array_equal(view.camera.target, raystream.load("cornell").camera().target)
    finally:
        view.release()


def test_what_cannot_be_made_leaves_what_was_asked_for_before(view: CanvasView) -> None:
    loader: Any = view.scene_loader
    prepare, accel = loader.loader._prepare, loader.requested.accel

    def fails(*_: Any, **__: Any) -> None:
        raise error

    for error in (ViewerError("cornell", "is broken"), ValueError("odd")):
        loader.loader._prepare = fails
        loader.set(accel="grid", depth=4)
        assert loader.requested.accel == "grid"
        rest(view)
        said = "cornell: is broken" if isinstance(error, ViewerError) else "cornell: ValueError: odd"
        assert view.view.message.is_error and view.status == said
        assert loader.requested.accel == accel and loader.requested.depth == 4, "but for what the worker does not do"
    loader.loader._prepare = prepare
    loader.set(accel="grid")
    assert loader.cancel() and loader.requested.accel == accel and not loader.cancel()
