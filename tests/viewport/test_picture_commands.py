"""What each action does to the picture, by an open view whose renderer notes what it is asked for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.accel.structures import MAX_UNSORTED
from raystream.base.errors import ViewerError
from raystream.options.table import OPTIONS
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.commands import file_stem, numbered_file, picture_handlers
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import InputState, PictureArea, ToneMapping, Viewport

START = Camera((4, 3, 6), (1, 1, -0.5), fov=50)
FAR = (4096.0, 0.0, -512.0)  # of the file's coordinates, where the scene's are zero
BOX = [[-1.0, 0.0, -2.0], [3.0, 2.0, 1.0]]


class Desk:
    """A view of a scene without cameras, from outside. ``said``, ``opened``, ``compiled``: what it was asked for."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.opened: list[str] = []
        self.compiled: list[Any] = []
        self.saved: list[Any] = []
        self.shown: list[int] = []
        self.controller = CameraController(START, BOX)
        self.scene: Any = SimpleNamespace(
            name="box", cameras=[], camera=lambda aspect: Camera((0, 0, aspect), (0, 0, 0)), origin=FAR
        )
        self.hits: Any = SimpleNamespace(instance=np.array([3]), distance=np.array([2.5], np.float32))
        self.renderer: Any = SimpleNamespace(
            prepared=SimpleNamespace(scene=self.scene, starts=[0, 7]), settings=None, trace=self._trace
        )
        self.renderer.ray_queries = SimpleNamespace(trace_ready=lambda settings: True)
        self.session: Any = SimpleNamespace(finish=lambda converged: self.saved.append(("finish", converged)))
        self.session.picture = lambda: SimpleNamespace(save=lambda *how: self.saved.append(how))
        view: Any = SimpleNamespace(renderer=self.renderer, session=self.session, preferences=Preferences())
        self.view = view
        view.require_scene = lambda: (self.renderer, self.controller)
        view.say = lambda text: self.said.append(text)
        view.say_done = lambda text: self.said.append(f"done: {text}")
        view.say_switched = lambda name, on: self.said.append(f"{name} {on}")
        view.take = self.controller.set_camera
        view.compilation = SimpleNamespace(request=lambda what, work: self.compiled.append((what, work)))
        view.ray_under_cursor = lambda: self.controller.ray(3, 4, 10, 8)
        view.keymap, view.paused, view.tone, view.input = Keymap(), False, ToneMapping(0.0, "none"), InputState()
        view.trace_soon = lambda work: Viewport.trace_soon(view, work)
        view.trace_under_cursor = lambda work: Viewport.trace_under_cursor(view, work)
        view.area, view.toggle_pause = PictureArea((100, 200)), lambda: Viewport.toggle_pause(view)
        self.loader: Any = SimpleNamespace(requested=Settings(), camera_index=-1, cancel=lambda: False)
        self.loader.change = self.loader.set = self._change
        self.loader.open = self.opened.append
        self.loader.show_camera = self.shown.append
        for name in ("toggle_environment", "toggle_ground", "toggle_denoiser"):
            setattr(self.loader, name, lambda name=name: self.said.append(name))
        animation = SimpleNamespace(play=None, step=print, next=None, toggle_loop=None)
        editing: Any = SimpleNamespace(grab=None, turn=None, animation=animation)
        context: Any = SimpleNamespace(view=view, scene_loader=self.loader, editing=editing)
        self.context, self.clipboard = context, ""
        self.handlers = picture_handlers(context, self, lambda ending: self.saved.append(ending))

    def copy(self, text: str) -> None:
        self.clipboard = text

    def paste(self) -> str:
        return self.clipboard

    def _change(self, **changes: Any) -> None:
        self.loader.requested = self.loader.requested.replace(**changes)

    def _trace(self, origins: Any, directions: Any, view: bool) -> Any:
        assert view
        np.testing.assert_array_equal(origins, [np.add(self.controller.camera.origin, FAR)])
        np.testing.assert_array_equal(directions, [self.controller.direction(3, 4, 10, 8)])
        return self.hits

    def do(self, name: str) -> list[str]:
        """What it says."""
        self.said.clear()
        self.handlers[name]()
        return list(self.said)


@pytest.fixture
def desk() -> Desk:
    return Desk()


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["machine", "fuse", "policy", "mask", "accel"])
def test_the_next_choice_and_round(desk: Desk, name: str) -> None:
    choices = OPTIONS[name].value.choices
    assert len(choices) > 1
    desk._change(**{name: choices[0]})
    for choice in (*choices[1:], choices[0], choices[1]):
        assert desk.do(f"{name}.next") == [f"{name}: {choice}"]
        assert str(desk.loader.requested[name]).partition("=")[0] == choice


@pytest.mark.parametrize(("parts", "refused"), [(MAX_UNSORTED, False), (MAX_UNSORTED + 1, True)])
def test_no_structure_at_all_is_left_out_in_large_scenes(desk: Desk, parts: int, refused: bool) -> None:
    desk.renderer.prepared.starts = [0, 3, parts]
    found = set()
    for _ in OPTIONS["accel"].value.choices:
        desk.do("accel.next")
        found.add(desk.loader.requested.accel)
    assert found == set(OPTIONS["accel"].value.choices) - ({"none"} if refused else set())
    desk._change(mask="none")
    desk.do("mask.next")
    desk._change(**{"accel": "bvh"})
    choices = OPTIONS["mask"].value.choices
    assert desk.loader.requested.mask == choices[(choices.index("none") + 1) % len(choices)]


# -- the picture -------------------------------------------------------------------------------------------------------


def test_saving_to_the_pictures_folder(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PNG as it is shown, an EXR as it is; after what is under way, not after all samples."""
    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path))
    desk.handlers = picture_handlers(desk.context, desk)
    desk.view.tone.choose(exposure="auto", tonemap="aces")
    desk.view.tone.metered = -1.5
    png, exr = tmp_path / "box_001.png", tmp_path / "box_001.exr"
    assert desk.do("screenshot.picture") == [f"saved {png}"] and desk.do("save.exr") == [f"saved {exr}"]
    assert desk.saved == [("finish", False), (png, -1.5, "aces"), ("finish", False), (exr, 0.0, "none")]


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


# -- cameras -----------------------------------------------------------------------------------------------------------


def goal(desk: Desk, aspect: float, forward: Any) -> Camera:
    expected = CameraController(desk.controller.camera, BOX)
    expected.frame_all(aspect, forward)
    expected.update(1.0)
    return expected.camera


@pytest.mark.parametrize(
    ("cameras", "forward"),
    [
        ([], Camera.framing(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))).basis()[2]),
        ([Camera((9, 9, 0), (0, 0, 0))], Camera((9, 9, 0), (0, 0, 0)).basis()[2]),
        ([Camera((0, 1, 0), (0, 0, 1))], Camera.framing(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))).basis()[2]),
        ([Camera((0, 1, 0), (0, 0, 1)), START], Camera.framing(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))).basis()[2]),
    ],
)
def test_a_scene_that_was_entered_is_framed_from_outside(desk: Desk, cameras: list[Camera], forward: Any) -> None:
    """As its first camera looks, if that stands outside; one that was not entered as the camera looks now."""
    desk.scene.cameras = cameras
    expected = goal(desk, 0.5, None)
    desk.do("camera.frame")
    desk.controller.update(1.0)
    assert desk.controller.camera == expected
    desk.controller.set_camera(Camera((0, 1, 0), (1, 1, 0.5), fov=50))
    assert desk.controller.entered
    expected = goal(desk, 0.5, forward)
    desk.do("camera.frame")
    desk.controller.update(1.0)
    assert desk.controller.camera == expected


@pytest.mark.parametrize("ready", [True, False])
def test_focus(desk: Desk, ready: bool) -> None:
    """To where the ray through the cursor meets a surface; compiled before, after that has been said."""
    desk.renderer.ray_queries.trace_ready = lambda settings: ready
    point = np.asarray(START.origin) + 2.5 * desk.controller.direction(3, 4, 10, 8)
    assert desk.do("camera.focus") == []
    if not ready:
        assert not desk.controller._easing
        ((what, work),) = desk.compiled
        assert what == "the kernels for rays of their own"
        work()
    desk.controller.update(1.0)
    np.testing.assert_allclose(desk.controller.camera.target, point, atol=1e-12)
    assert desk.controller.camera.origin == START.origin


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_of_the_folder(desk: Desk, tmp_path: Path) -> None:
    for name in ("b.ply", "a.GLB", "c.obj", "0.txt", "d.png"):
        (tmp_path / name).touch()
    for here, before, after in (
        ("a.GLB", "c.obj", "b.ply"),
        ("b.ply", "a.GLB", "c.obj"),
        ("c.obj", "b.ply", "a.GLB"),
        ("0.txt", "c.obj", "b.ply"),  # not among them: as of the first
    ):
        desk.loader.path = str(tmp_path / here)
        desk.do("scene.previous")
        desk.do("scene.next")
        desk.do("scene.reload")
        assert desk.opened == [str(tmp_path / before), str(tmp_path / after), str(tmp_path / here)]
        desk.opened.clear()
    desk.loader.path = "cornell"
    with pytest.raises(ViewerError, match="is built in"):
        desk.do("scene.next")


def test_before_a_scene_is_there(desk: Desk) -> None:
    """What needs one says so, and changes nothing."""

    def nothing() -> Any:
        raise ViewerError("scene", "none is loaded yet")

    desk.view.require_scene, before = nothing, desk.loader.requested
    names = [f"camera.{name}" for name in ("mode", "frame", "focus", "next", "reset", "copy", "paste", "front")]
    for name in (*names, "fov.wider", "machine.next", "unroll.next"):
        with pytest.raises(ViewerError, match="none is loaded yet"):
            desk.do(name)
    assert desk.loader.requested is before and desk.controller.camera is START and desk.clipboard == ""
    desk.view.renderer = None
    desk.do("program.path")
    assert desk.loader.requested.program == "path", "what needs none is done"
