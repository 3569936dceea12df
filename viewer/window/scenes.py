"""How scenes come into the application: loaded and built by the worker, uploaded in pieces, then shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.renderer.camera import exactly
from viewer.renderer.prepared import Prepared
from viewer.renderer.renderer import Renderer
from viewer.renderer.settings import Settings
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene
from viewer.stream.gl.device import Device
from viewer.window.input.flight import Flight
from viewer.window.loader import Loader
from viewer.window.motion import Motion
from viewer.window.picture.frame import Frame
from viewer.window.preferences import Preferences
from viewer.window.surround import Surround
from viewer.window.window import Window

PIECE = 0.008  # seconds of uploading in a turn


class Scenes(Surround):
    """The application's part that brings scenes, and the state that it keeps."""

    window: Window
    device: Device
    frame: Frame
    loader: Loader
    preferences: Preferences
    motion: Motion
    renderer: Renderer | None
    scene: Scene | None
    path: str
    flight: Flight | None
    choices: dict[str, Any]  # of the renderer
    structure: dict[str, Any]  # what structures are built from, as last asked for
    first_camera: str | None
    first_fov: float | None
    camera_number: int
    _built: dict[str, Any]  # the structure's options as the scene on show has them
    _given: Scene | None  # the scene that the worker was given, if it need not read the file
    _coming: Iterator[float] | None  # a scene that is uploaded
    _coming_text: str
    _coming_share: float
    _faults: list[str]

    if TYPE_CHECKING:

        def wake(self) -> None: ...
        def say(self, text: str, error: bool = False) -> None: ...
        def attempt(self, what: Callable[[], None]) -> None: ...
        def _drop_views(self, renderer: Renderer | None) -> None: ...

    @property
    def loading(self) -> tuple[str, float | None] | None:
        """What is being loaded, None when nothing is."""
        if self._coming is not None:
            return f"uploading {self._coming_text}", self._coming_share
        return (f"{self.loader.stage} {self.loader.path}", self.loader.share) if self.loader.busy else None

    def open(self, path: str) -> None:
        """Load a scene in the background; the old one stays until it is there."""
        self._start(path)

    def _start(self, path: str, scene: Scene | None = None, **more: Any) -> None:
        self._coming, self._given = None, scene
        given = {"environment": self.environment, "environment_rotation": self.rotation}
        settings = Settings(**self.choices).replace(**self.structure, **given, light=())
        self.loader.start(path, scene, settings=settings, **more)
        self.wake()

    def cancel(self) -> bool:
        """Give up the scene that is being loaded; whether there was one."""
        busy = self.loading is not None
        self.loader.cancel()
        self._coming = None
        self._keep_structure()
        return busy

    def _keep_structure(self) -> None:
        """What was to be built is not: the choices are again those of the scene on show."""
        if self.renderer is not None:
            self.structure = self._built

    def _take_scene(self) -> None:
        found = self.loader.poll()
        if found is not None:
            path, made = found
            if not isinstance(made, tuple):
                text = str(made) if isinstance(made, ViewerError) else f"{path}: {type(made).__name__}: {made}"
                self.say(text, error=True)
                self._keep_structure()
                return
            self._coming, self._coming_text, self._coming_share = self._bring(path, *made), path, 0.0
        if self._coming is not None:
            self.attempt(self._upload)

    def _upload(self) -> None:
        """Go on with the scene that comes."""
        coming, self._coming = self._coming, None  # a fault ends it
        assert coming is not None
        began = time.perf_counter()
        try:
            for self._coming_share in coming:
                if time.perf_counter() - began > PIECE:
                    self._coming = coming
                    self.wake()
                    return
        finally:
            if self._coming is not coming:
                self._keep_structure()

    def _bring(self, path: str, made: Prepared, bounds: Any) -> Iterator[float]:
        """Upload a scene in pieces, then show it."""
        if bounds is None:
            yield from self._bring_light(made)
            return
        camera: Camera | str | None = self.first_camera
        if camera is None and not made.scene.cameras:
            camera = Camera.framing(bounds)
        try:
            renderer = Renderer(made, device=self.device, camera=camera, fov=self.first_fov, **self.choices)
        except ViewerError as error:
            if self.first_camera is None:
                raise
            self._faults.append(str(error))
            renderer = Renderer(made, device=self.device, fov=self.first_fov, **self.choices)
        yield from renderer.upload()
        self._built = {name: made.settings[name] for name in self.structure}
        self._show(path, renderer, bounds)

    def _show(self, path: str, renderer: Renderer, bounds: Any) -> None:
        self.first_camera = self.first_fov = None
        same, scene = path == self.path and self.flight is not None, renderer.scene
        if same and self.flight is not None:  # reloaded: the camera stays
            renderer.update(**exactly(self.flight.camera))
            self.flight.set_bounds(bounds)
        else:
            self.flight = Flight(renderer.camera, bounds)
            self.flight.mode = self.preferences.mode
            self.flight.speed = self.preferences.speed * self.flight.natural_speed
        before, self.renderer, self.scene, self.path = self.renderer, renderer, scene, path
        self._drop_views(before)
        self.camera_number = -1
        self.frame.use(renderer)
        if before is not None:
            before.release()
        self.window.set_title(f"{scene.name} - Raystream")
        if Path(path).exists():
            self.preferences.remember(str(Path(path).resolve()))
        notes, faults, self._faults = scene.warnings, self._faults, []
        if faults:
            self.say(faults[0], error=True)
        else:
            self.say(notes[0] + (f" (and {len(notes) - 1} more notes)" if len(notes) > 1 else "") if notes else "")
        self.motion.shown(same)
