"""What actions do to the picture of a view, before and after its scene is there; names of the files that they save."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.options.table import OPTIONS
from raystream.scene.camera import Camera
from raystream.viewport import commands
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.canvas import CanvasView
from raystream.viewport.commands import file_stem, numbered_file
from tests.viewport.test_canvas_view import opened, rest

DEFAULT = Camera.framing(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)))
MIDDLE = (278.0, 273.0, 280.0)  # of the Cornell box
INSIDE, OUTSIDE = Camera(MIDDLE, (278.0, 273.0, 400.0)), Camera((900.0, 900.0, -900.0), MIDDLE)


@pytest.fixture(scope="module")
def view(device: Any) -> Iterator[CanvasView]:
    made = opened("cornell")
    rest(made)
    yield made
    made.release()


@pytest.mark.parametrize("refused", [False, True])
def test_no_structure_at_all_is_left_out_in_large_scenes(
    view: CanvasView, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    monkeypatch.setattr(commands, "MAX_UNSORTED", view.session.renderer.prepared.starts[-1] - refused)
    found, choices = set(), OPTIONS["accel"].value.choices
    for _ in choices:
        view.perform("accel.next")
        found.add(view.scene_loader.requested.accel)
    assert found == set(choices) - ({"none"} if refused else set())
    masks = OPTIONS["mask"].value.choices
    view.update(mask="none")
    view.perform("mask.next")  # a choice of that name that no scene is too large for
    assert view.scene_loader.requested.mask == masks[(masks.index("none") + 1) % len(masks)]
    rest(view)


@pytest.mark.parametrize(
    ("cameras", "as_by"),
    [([], DEFAULT), ([OUTSIDE], OUTSIDE), ([INSIDE], DEFAULT), ([INSIDE, OUTSIDE], DEFAULT)],
)
def test_a_scene_that_was_entered_is_framed_from_outside(
    view: CanvasView, monkeypatch: pytest.MonkeyPatch, cameras: list[Camera], as_by: Camera
) -> None:
    """As its first camera looks, if that stands outside; one that was not entered as the camera looks now."""
    monkeypatch.setattr(view.view.scene, "cameras", cameras)
    for start, forward in ((OUTSIDE, None), (INSIDE, as_by.basis()[2])):
        view.view.take(start)
        expected = CameraController(start, view.view.scene.bounds())
        expected.frame_all(view.view.area.aspect, forward)
        expected.update(1.0)
        view.perform("camera.frame")
        rest(view)
        for field in ("origin", "target", "up"):  # roundings of coordinates of some hundreds
            one, other = (np.array(getattr(each.camera, field)) for each in (view.view.controller, expected))
            np.testing.assert_allclose(one, other, atol=1e-9)


def test_before_a_scene_is_there(device: Any) -> None:
    """What needs one says so, and changes nothing."""
    view = opened("cornell")
    before, handlers = view.scene_loader.requested, view.view.actions.handlers
    names = [f"camera.{name}" for name in ("mode", "frame", "focus", "next", "reset", "copy", "paste", "front")]
    for name in (*names, "fov.wider", "machine.next", "unroll.next"):
        with pytest.raises(ViewerError, match="none is loaded yet"):
            handlers[name]()
    assert view.scene_loader.requested is before and view.clipboard == ""
    view.perform("program.path")
    assert view.scene_loader.requested.program == "path", "what needs none is done"
    view.release()


def test_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"a b": "a_b", "Ünïc.0-de_": "Ünïc.0-de_", "/tmp/x:y": "_tmp_x_y", "": "raystream", "…": "_"}
    assert {name: file_stem(name) for name in found} == found
    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path))
    for number in (1, 2, 3):
        path = numbered_file("a b", ".png")
        assert path == tmp_path / f"a_b_{number:03}.png"
        path.touch()
    assert numbered_file("a b", ".exr") == tmp_path / "a_b_001.exr"
    (tmp_path / "a_b_002.png").unlink()
    assert numbered_file("a b", ".png") == tmp_path / "a_b_002.png"
    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path / "nowhere"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert numbered_file("a", ".png") == tmp_path / "here" / "a_001.png"
