"""Scenes and settings on their way: what the worker is given, what is shown of what it made, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from viewer.base.errors import ViewerError
from viewer.renderer.inputs.settings import VIEW, Settings
from viewer.renderer.sampling.darkness import FILLED
from viewer.scene.camera import Camera
from viewer.scene.environment import DARKNESS, ImageEnvironment
from viewer.viewport import scene_loader
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.preferences import Preferences
from viewer.viewport.scene_loader import SceneLoader

BOX = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
START = Camera((0, 0, 5), (0, 0, 0))


class Worker:
    """Notes what it is started with; a test puts what it has made into ``early`` and ``made``."""

    def __init__(self) -> None:
        self.started: list[tuple[str, Any, Any, Any]] = []
        self.early = self.made = self.share = None
        self.path, self.step, self.proceeded = "", "loading", 0

    @property
    def busy(self) -> bool:
        return bool(self.path)

    def start(self, path: str, scene: Any = None, *, settings: Any, before: Any, pixels: int) -> None:
        assert pixels == 32, "of the window"
        self.started.append((path, scene, settings, before))
        self.path = path

    def cancel(self) -> None:
        self.path = ""

    def poll_early(self) -> Any:
        early, self.early = self.early, None
        return early

    def poll(self) -> Any:
        made, self.made = self.made, None
        if made is not None:
            self.path = ""
        return made

    def proceed(self) -> None:
        self.proceeded += 1


class Desk:
    """A loader, and a view on which nothing is on show so far. ``done`` notes what is asked of the view's parts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, scene: Any = None) -> None:
        self.done: list[Any] = []
        self.said: list[tuple[str, bool]] = []
        self.fallbacks: list[str] = []  # of its renderers
        self.now = 0.0
        monkeypatch.setattr(scene_loader, "time", SimpleNamespace(perf_counter=lambda: self.now))
        session: Any = SimpleNamespace(update=self._update, use=self._use)
        view: Any = SimpleNamespace(session=session, renderer=None, controller=None, path="", aspect=1.0, pixels=(8, 4))
        view.preferences, view.exposure, view.tonemap = Preferences(path=Path("none"), exposure=0.5), 2.0, "none"
        view.environment = DARKNESS
        view.message, view.message_is_error = "", False
        view.say = self._say
        view.say_switched = lambda name, on: self._say(f"{name} {on}")
        view.wake = lambda: None
        view.look = lambda: self.done.append("look")
        view.take = lambda camera: self.done.append(camera)
        view.attempt = self._attempt
        view.shown = self._shown
        self.view = view
        debug: Any = SimpleNamespace(
            scene_changed=lambda: self.done.append("changed"),
            drop=lambda renderer: self.done.append(("drop", renderer)),
        )
        device: Any = None
        self.loader = SceneLoader(view, debug, device, Settings(), lambda path: scene)
        self.worker: Any = Worker()
        self.loader.loader = self.worker
        picture: Any = SimpleNamespace(
            draw=lambda: None, end=lambda: self.done.append("end"), begin=lambda glance: self.done.append("begin")
        )
        picture.shown = False
        self.loader.first_picture = picture
        self.loader.on_show = lambda same: self.done.append(("show", same))

    def _update(self, *parts: Any, **changes: Any) -> None:
        self.done.append(("update", *parts, changes) if parts else ("update", changes))
        renderer = self.view.renderer
        for part in parts:
            if hasattr(part, "settings"):
                renderer.prepared, renderer.scene = part, part.scene
        renderer.settings = renderer.settings.replace(**{k: v for k, v in changes.items() if k in Settings()})

    def _use(self, renderer: Any) -> None:
        self.done.append("use")
        self.view.renderer = renderer

    def _say(self, text: str, error: bool = False) -> None:
        self.said.append((text, error))
        self.view.message, self.view.message_is_error = text, error

    def _attempt(self, what: Any) -> None:
        try:
            what()
        except ViewerError as error:
            self._say(str(error), True)

    def _shown(self) -> tuple[Any, Any]:
        if self.view.renderer is None:
            raise ViewerError("scene", "none is loaded yet")
        return self.view.renderer, self.view.controller

    def taken(self) -> list[Any]:
        done, self.done[:] = list(self.done), []
        return done

    def uploaded(self, shares: list[float]) -> Any:
        """A renderer that uploads by such shares; each takes 2.5 ms."""

        def upload(made: Any) -> Iterator[float]:
            for share in shares:
                self.now += 0.0025
                yield share

        return SimpleNamespace(
            upload=upload,
            discard=lambda made: self.done.append("discard"),
            release=lambda: self.done.append("release"),
            camera=START,
            settings=Settings(),
            progressive=True,
            fallbacks=self.fallbacks,
        )


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def made_of(desk: Desk, cameras: Any = (START,), warnings: Any = (), settings: Settings | None = None) -> Any:
    scene = SimpleNamespace(cameras=list(cameras), warnings=list(warnings), name="box")
    scene.own_camera = next(iter(cameras), None)
    scene.camera = lambda aspect: Camera.framing(BOX, aspect=aspect)
    return SimpleNamespace(scene=scene, settings=settings or Settings(), lighting=SimpleNamespace(environment=DARKNESS))


def show(desk: Desk, monkeypatch: pytest.MonkeyPatch, path: str = "box", made: Any = None, shares: Any = ()) -> Any:
    """A scene comes, the first one or another."""
    made = made or made_of(desk)

    def first(prepared: Any, settings: Settings, device: Any) -> Any:
        renderer = desk.uploaded(list(shares))
        renderer.settings, renderer.scene, renderer.prepared = settings, prepared.scene, prepared
        return renderer

    monkeypatch.setattr(scene_loader, "Renderer", first)
    desk.worker.made = path, (made, BOX)
    desk.loader.take()
    return made


# -- what the worker is given -----------------------------------------------------------------------------------------


def test_a_scene_is_read_by_the_settings_without_the_camera(desk: Desk) -> None:
    """Which is the first scene's alone."""
    desk.loader.requested = Settings(accel="grid", camera=START, fov=33.0)
    assert desk.loader.loading is None
    desk.loader.open("box")
    ((path, scene, settings, before),) = desk.worker.started
    assert (path, scene, before) == ("box", None, None)
    assert settings == Settings(accel="grid") and all(settings[name] == Settings()[name] for name in VIEW)
    assert desk.loader.requested.fov == 33.0, "it is for the camera to come"
    for step, share in (("loading", None), ("building", 0.25)):
        desk.worker.step, desk.worker.share = step, share
        assert desk.loader.loading == (f"{step} box", share)


def test_files_by_their_endings(desk: Desk) -> None:
    for path in ("a.ply", "b.GLB", "c", "d.hdr.obj"):
        desk.loader.open_file(path)
        assert desk.worker.started[-1][0] == path and desk.loader.requested.environment is None
    started = len(desk.worker.started)
    desk.view.renderer = desk.uploaded([])
    desk.view.renderer.scene, desk.view.renderer.prepared = "scene", SimpleNamespace(settings=Settings())
    desk.worker.path, desk.view.path = "", "box"
    desk.loader.open_file("sky.HDR")
    assert desk.loader.requested.environment == "sky.HDR" and len(desk.worker.started) == started + 1
    assert desk.worker.started[-1][:2] == ("box", "scene")


def test_options_that_take_the_worker_a_while(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are changed at once; what comes meanwhile comes with both."""
    loader = desk.loader
    loader.change(depth=3, accel="grid")
    assert loader.requested == Settings(depth=3, accel="grid") and desk.worker.started == [] and desk.taken() == []
    made = show(desk, monkeypatch)
    desk.taken()
    loader.change(depth=5)
    assert desk.taken() == [("update", {"depth": 5})] and desk.worker.started == []
    loader.change(accel="bvh", depth=6)
    assert desk.taken() == [("update", {"depth": 6})] and loader.requested == Settings(depth=6, accel="bvh")
    ((path, scene, settings, before),) = desk.worker.started
    assert (path, scene, before) == ("box", made.scene, made) and settings == loader.requested
    loader.change(grid=7)
    assert desk.worker.started[-1] == ("box", made.scene, Settings(depth=6, accel="bvh", grid=7), made)
    loader.change(accel="bvh")
    assert len(desk.worker.started) == 2 and desk.taken() == [], "as it was asked for"
    loader.open("other")
    loader.change(accel="grid")
    assert desk.worker.started[-1][:2] == ("other", None), "the scene that is read is read by the new ones"


def test_a_wrong_value_changes_nothing(desk: Desk) -> None:
    before = desk.loader.requested
    with pytest.raises(ViewerError):
        desk.loader.change(depth=-1, accel="grid")
    desk.loader.set(accel="tree")
    assert desk.loader.requested is before and desk.said[-1][1] and "tree" in desk.said[-1][0]


def test_the_ground_is_part_of_the_structure(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ViewerError):
        desk.loader.toggle_ground()
    made = show(desk, monkeypatch)
    made.scene.without_ground = lambda: "bare"
    for on, ground in ((True, "auto"), (False, None)):
        desk.loader.toggle_ground()
        assert desk.loader.requested.ground == ground and desk.said[-1] == (f"ground {on}", False)
        assert desk.worker.started[-1][1] == ("bare" if on else made.scene)
        assert desk.worker.started[-1][3] is made


def test_the_denoiser_is_switched_at_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    show(desk, monkeypatch)
    desk.loader.requested = desk.loader.requested.replace(denoise="auto")
    for choice, said in (("none", "denoiser off: the samples as they are"), ("auto", "denoiser on")):
        desk.loader.toggle_denoiser()
        assert desk.loader.requested.denoise == choice and desk.said[-1] == (said, False)
        assert desk.worker.started == []


# -- what is shown ----------------------------------------------------------------------------------------------------


def test_the_first_scene(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "box.ply"
    file.touch()
    desk.loader.camera_number = 2
    desk.loader.requested = Settings(fov=33.0)
    made = show(desk, monkeypatch, str(file))
    assert desk.taken() == [("drop", None), "use", "look", ("show", False)]
    view, loader = desk.view, desk.loader
    assert view.renderer.settings.fov == 33.0 and loader.requested.fov is None, "of the first scene alone"
    assert view.path == str(file) and loader.camera_number == -1 and view.exposure == 2.0
    assert view.preferences.recent == [str(file.resolve())]
    assert view.controller.camera == START and view.controller.mode == "orbit"
    assert view.controller.speed == view.controller.natural_speed and desk.said == [("", False)]
    assert view.renderer.prepared is made and loader.loading is None and not loader.uploading


def test_another_scene(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exposure set by hand was the other's; the camera is its own, or frames it."""
    show(desk, monkeypatch)
    desk.view.exposure = 2.0
    other = made_of(desk, cameras=())
    desk.view.preferences.speed, desk.view.preferences.mode = 3.0, "fly"
    desk.view.aspect = 0.5
    renderer = desk.view.renderer
    desk.taken()
    show(desk, monkeypatch, "other", other)
    framing = Camera.framing(BOX, aspect=0.5)
    assert desk.taken() == [("drop", renderer), ("update", other, {"camera": framing}), "look", ("show", False)]
    assert desk.view.renderer is renderer and desk.view.path == "other" and desk.view.exposure == 0.5
    assert desk.view.preferences.recent == [], "built in"
    assert desk.view.controller.mode == "fly" and desk.view.controller.speed == 3 * desk.view.controller.natural_speed
    desk.view.exposure = 1.0
    third = made_of(desk)
    show(desk, monkeypatch, "third", third)
    assert ("update", third, {"camera": None}) in desk.taken() and desk.view.exposure == 0.5


def test_a_camera_indoors_flies(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    show(desk, monkeypatch)
    desk.view.renderer.camera = Camera((0, 0, 0), (0, 0, -1))
    show(desk, monkeypatch, "other")
    assert desk.view.controller.mode == "fly"


def test_the_same_scene_read_anew_keeps_the_camera(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    show(desk, monkeypatch)
    controller = desk.view.controller
    controller.orbit(30, 0)
    desk.view.exposure = 1.0
    desk.taken()
    again = made_of(desk)
    desk.worker.made = "box", (again, 2 * BOX)
    desk.loader.take()
    assert desk.taken()[1:] == [("update", again, {"camera": controller.camera}), "look", ("show", True)]
    assert desk.view.controller is controller and desk.view.exposure == 1.0
    assert controller.natural_speed == pytest.approx(np.sqrt(48) / 4), "of its bounds by now"


@pytest.mark.parametrize(
    ("warnings", "said"),
    [((), ""), (("a",), "a"), (("a", "b"), "a (and 1 more notes)"), (("a", "b", "c"), "a (and 2 more notes)")],
)
def test_notes_of_a_scene(desk: Desk, monkeypatch: pytest.MonkeyPatch, warnings: Any, said: str) -> None:
    show(desk, monkeypatch, made=made_of(desk, warnings=warnings))
    assert desk.said == [(said, False)]
    desk.loader.faults = ["the keys are broken", "and more"]
    show(desk, monkeypatch, made=made_of(desk, warnings=warnings))
    assert desk.said[-1] == ("the keys are broken", True) and desk.loader.faults == []


def test_what_the_driver_fails_is_told_first(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.fallbacks = ["kill in place of depth"]
    show(desk, monkeypatch, made=made_of(desk, warnings=("a",)))
    assert desk.said == [("kill in place of depth (and 1 more notes)", False)]


def test_a_scene_that_is_built_anew_says_nothing_of_its_own(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """But takes an error back; what has moved meanwhile is where it is."""
    first = show(desk, monkeypatch, made=made_of(desk, warnings=("a",)))
    for error in (False, True):
        desk.loader.set(accel="grid" if error else "bvh")
        desk._say("why", error)
        desk.said.clear()
        show(desk, monkeypatch, made=SimpleNamespace(**vars(first)))
        assert desk.said == ([("", False)] if error else [])
    desk.loader.set(accel="none")
    moved = desk.view.renderer.scene = SimpleNamespace(cameras=[START], warnings=[])
    desk.taken()
    show(desk, monkeypatch, made=made_of(desk))
    assert [each for each in desk.taken() if each[0] == "update"][-1] == ("update", moved, {})


def test_uploads_take_a_share_of_each_turn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight milliseconds of it: after four pieces of 2.5 the loop goes on."""
    show(desk, monkeypatch, shares=[k / 10 for k in range(1, 11)])
    assert desk.loader.uploading and desk.loader.loading == ("uploading box", 0.4) and desk.taken() == []
    desk.loader.take()
    assert desk.loader.loading == ("uploading box", 0.8)
    desk.loader.take()
    assert desk.loader.loading is None and not desk.loader.uploading and ("show", False) in desk.taken()


def test_uploads_are_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [k / 99 for k in range(99)]
    show(desk, monkeypatch, shares=many)
    assert desk.loader.cancel() and desk.taken() == ["release", "end"]
    assert desk.loader.loading is None and not desk.loader.cancel()
    show(desk, monkeypatch)
    desk.view.renderer.upload = desk.uploaded(many).upload
    desk.taken()
    show(desk, monkeypatch, "other")
    assert desk.loader.uploading
    desk.loader.open("third")
    assert desk.taken() == ["discard"] and desk.loader.loading == ("loading third", None)


def test_what_cannot_be_made_leaves_what_was_asked_for_before(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    show(desk, monkeypatch)
    for error, said in (
        (ViewerError("a.ply", "is broken"), "a.ply: is broken"),
        (ValueError("odd"), "a.ply: ValueError: odd"),
    ):
        desk.loader.set(accel="grid", depth=4)
        assert desk.loader.requested.accel == "grid"
        desk.worker.made = "a.ply", error
        desk.loader.take()
        assert desk.said[-1] == (said, True) and desk.view.path == "box"
        assert desk.loader.requested == Settings(depth=4), "but for what the worker does not do"
    desk.loader.set(accel="grid")
    assert desk.loader.cancel() and desk.loader.requested == Settings(depth=4)


def test_a_file_dialog_answers(desk: Desk) -> None:
    answered: list[bool] = []
    for chosen in ([], ["a.ply", "b.ply"]):
        answer = SimpleNamespace(ready=lambda wait: answered[0], result=lambda chosen=chosen: chosen)
        answered[:] = [False]
        desk.loader.dialog = answer
        desk.loader.take()
        assert desk.loader.dialog is answer
        answered[:] = [True]
        desk.loader.take()
        assert desk.loader.dialog is None
    assert [started[0] for started in desk.worker.started] == ["a.ply"]


def test_a_scene_is_seen_before_it_is_built(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its camera is in the hand from then on, and stays; read once more by other settings it stays, too."""
    glance = SimpleNamespace(
        camera=lambda settings, aspect: START.with_fov(aspect), drawn=SimpleNamespace(bounds=BOX), scene=None
    )
    desk.view.aspect = 2.0
    desk.worker.early = "box", glance
    desk.loader.take()
    controller = desk.view.controller
    assert controller.camera.fov == 2.0 and desk.taken() == ["begin"] and desk.worker.proceeded == 1
    desk.worker.early = "box", glance
    desk.loader.take()
    assert desk.view.controller is controller
    desk.worker.early = "other", glance
    desk.loader.take()
    assert desk.view.controller is not controller
    controller = desk.view.controller
    show(desk, monkeypatch, "other")
    assert desk.view.controller is controller
    desk.worker.early = "third", glance
    desk.taken()
    desk.loader.take()
    assert desk.view.controller is controller and desk.taken() == [] and desk.worker.proceeded == 4, "one is on show"


def test_a_scene_that_was_seen_does_not_come(desk: Desk) -> None:
    glance = SimpleNamespace(camera=lambda settings, aspect: START, drawn=SimpleNamespace(bounds=BOX), scene=None)
    desk.worker.early = "box", glance
    desk.loader.take()
    desk.worker.made = "box", ViewerError("box", "is broken")
    desk.taken()
    desk.loader.take()
    assert desk.view.controller is None and desk.taken() == ["end"]


def test_the_scene_s_cameras(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    second = Camera((1, 0, 5), (0, 0, 0), name="second")
    show(desk, monkeypatch, made=made_of(desk, cameras=(START, second)))
    desk.taken()
    desk.loader.show_camera(1)
    assert desk.taken() == [second] and desk.loader.camera_number == 1 and desk.said[-1] == ("camera: second", False)


# -- environments -----------------------------------------------------------------------------------------------------


def test_a_dark_scene_under_the_sky(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the next one, which may have lights of its own; one that was asked for stays."""
    show(desk, monkeypatch)
    desk.loader.fill()
    assert desk.loader.requested.environment == "sky" and desk.said[-1] == (FILLED, False)
    desk.loader.open("other")
    assert desk.loader.requested.environment is None and desk.worker.started[-1][2].environment is None
    desk.loader.fill()
    desk.loader.light_by("studio")
    desk.loader.open("third")
    assert desk.loader.requested.environment == "studio"


def test_the_environment_off_and_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ViewerError):
        desk.loader.toggle_environment()
    show(desk, monkeypatch)
    desk.loader.toggle_environment()  # the scene has none: the sky
    assert desk.loader.requested.environment == "sky" and desk.said[-1] == ("environment True", False)
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment is DARKNESS and desk.said[-1] == ("environment False", False)
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment == "sky"
    desk.loader.requested = desk.loader.requested.replace(environment="none")
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment == "sky"


def test_a_file_s_environment_is_read_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off and on it is the one that is there, in the turn that it has without the option's."""
    show(desk, monkeypatch)
    picture = ImageEnvironment(np.ones((4, 8, 3), np.float32)).rotated(50.0)
    settings = Settings(environment="sky.hdr", environment_rotation=20.0)
    desk.loader.requested = desk.view.renderer.settings = settings
    desk.view.environment = picture
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment is DARKNESS
    desk.view.renderer.settings, desk.view.environment = desk.loader.requested, DARKNESS
    desk.loader.toggle_environment()
    found = desk.loader.requested.environment
    assert isinstance(found, ImageEnvironment) and found.rotation == 30.0


@pytest.mark.parametrize("progressive", [True, False])
def test_another_environment_is_shown_in_the_scene_that_is_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, progressive: bool
) -> None:
    show(desk, monkeypatch)
    renderer, before = desk.view.renderer, desk.view.renderer.scene
    renderer.progressive = progressive
    desk.loader.light_by("sky")
    desk.loader.requested = desk.loader.requested.replace(environment_rotation=40.0)
    desk.taken()
    desk.said.clear()
    made = made_of(desk, settings=Settings(environment_rotation=15.0))
    made.scene = before
    desk.worker.made = "box", (made, None)
    desk.loader.take()
    assert desk.taken() == [("update", made, {"environment_rotation": 40.0}), "changed"]
    lit = [("programs with lighting see the environment: whitted, path", False)]
    assert desk.said == ([] if progressive else lit)
    desk.loader.light_by("studio")
    renderer.scene = SimpleNamespace(cameras=[], warnings=[])  # something has moved meanwhile
    desk.taken()
    made.lighting.environment = ImageEnvironment(np.ones((4, 8, 3), np.float32)).rotated(50.0)
    desk.worker.made = "box", (made, None)
    desk.loader.take()
    (kind, changes), changed = desk.taken()
    assert (kind, changed, changes["environment_rotation"]) == ("update", "changed", 40.0)
    assert changes["environment"].rotation == 35.0


def test_first_controllers() -> None:
    view: Any = SimpleNamespace(preferences=Preferences(mode="fly", speed=2.0))
    made = scene_loader.first_controller(view, START, BOX)
    assert isinstance(made, CameraController) and (made.mode, made.speed) == ("fly", 2 * made.natural_speed)
    view.preferences.mode = "orbit"
    assert scene_loader.first_controller(view, START, BOX).mode == "orbit"
    assert scene_loader.first_controller(view, Camera((0, 0, 0), (0, 0, -1)), BOX).mode == "fly"


@pytest.mark.parametrize("fails", [False, True])
def test_pictures_are_rehearsed_while_the_first_scene_is_prepared(desk: Desk, fails: bool) -> None:
    """A step in each turn, once the scene is seen; the loop does not wait meanwhile. No longer than that takes."""
    steps, began = list[int](), list[Any]()

    def rehearsal(device: Any) -> Any:
        began.append(device)
        for number in range(3):
            steps.append(number)
            yield number / 3
            if fails:
                raise ViewerError("a.glsl", "is wrong")

    loader: Any = desk.loader
    loader.view.session.rehearse = rehearsal
    loader.open("a.obj")
    loader.take()
    assert began == [] and not loader.rehearsing
    loader.first_picture.shown = True
    for turn in range(1, 6):
        loader.take()
        assert len(steps) == (1 if fails else min(turn, 3)) and loader.rehearsing == (turn <= (1 if fails else 3))
    assert began == [None] and desk.said == []
    loader._rehearsal, loader.view.renderer = iter((0.1, 0.2)), "renderer"
    loader.take()
    assert not loader.rehearsing
    loader._rehearsal, loader.view.renderer = None, None
    loader.requested = loader.requested.replace(denoise="none")
    loader.take()
    assert not loader.rehearsing and began == [None]
