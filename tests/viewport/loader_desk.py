"""A scene loader with a worker that does nothing by itself, for tests: scenes come when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.scene.environment import DARKNESS
from raystream.viewport import scene_loader
from raystream.viewport.preferences import Preferences
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import InputState, Message, PictureArea, ToneMapping, Viewport

BOX = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
START = Camera((0, 0, 5), (0, 0, 0))


class Worker:
    """Notes what it is started with; a test puts what it has made into ``made``."""

    def __init__(self) -> None:
        self.started: list[tuple[str, Any, Any, Any]] = []
        self.made = self.share = None
        self.path, self.step = "", "loading"

    @property
    def busy(self) -> bool:
        return bool(self.path)

    def start(self, path: str, scene: Any = None, *, settings: Any, before: Any, pixels: int) -> None:
        assert pixels == 32, "of the window"
        self.started.append((path, scene, settings, before))
        self.path = path

    def cancel(self) -> None:
        self.path = ""

    def poll_early(self) -> None:
        """No scene is seen before it is built."""

    def poll(self) -> Any:
        made, self.made = self.made, None
        if made is not None:
            self.path = ""
        return made


class Desk:
    """A loader, and a view on which nothing is on show so far. ``done`` notes what is asked of the view's parts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, scene: Any = None) -> None:
        self.done: list[Any] = []
        self.said: list[tuple[str, bool]] = []
        self.fallbacks: list[str] = []  # of its renderers
        self.now = 0.0
        monkeypatch.setattr(scene_loader, "time", SimpleNamespace(perf_counter=lambda: self.now))
        session: Any = SimpleNamespace(update=self._update, use=self._use)
        view: Any = SimpleNamespace(session=session, renderer=None, controller=None, area=PictureArea((8, 8)))
        view.area.size, view.area.pixels = (8, 8), (8, 4)
        view.preferences, view.tone = Preferences(path=Path("none"), exposure=0.5), ToneMapping(2.0, "none")
        view.environment = DARKNESS
        view.message = Message()
        view.say = self._say
        view.say_switched = lambda name, on: self._say(f"{name} {on}")
        view.wake, view.input = lambda: None, InputState()
        view.hold_camera = lambda *of: Viewport.hold_camera(view, *of)
        view.actions = SimpleNamespace(expect_scene=lambda expected: None)
        view.apply_camera = lambda: self.done.append("apply_camera")
        view.take = lambda camera: self.done.append(camera)
        view.attempt = self._attempt
        view.require_scene = self._shown
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
                renderer.prepared = part
        renderer.settings = renderer.settings.replace(**{k: v for k, v in changes.items() if k in Settings()})

    def _use(self, renderer: Any) -> None:
        self.done.append("use")
        self.view.renderer = renderer

    def _say(self, text: str, error: bool = False) -> None:
        self.said.append((text, error))
        self.view.message = Message(text, error)

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

        def upload(settings: Settings, made: Any) -> Iterator[float]:
            for share in shares:
                self.now += 0.0025
                yield share

        gpu_scene = SimpleNamespace(
            upload=upload,
            discard=lambda made: self.done.append("discard"),
            fallbacks=lambda settings: self.fallbacks,
        )
        return SimpleNamespace(
            gpu_scene=gpu_scene,
            release=lambda: self.done.append("release"),
            camera=START,
            settings=Settings(),
            progressive=True,
        )


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
        renderer.settings, renderer.prepared = settings, prepared
        return renderer

    monkeypatch.setattr(scene_loader, "Renderer", first)
    desk.worker.made = path, (made, BOX)
    desk.loader.take()
    return made
