"""What surrounds the scene in the window: pictures that are dropped on it, darkness, and their rotation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.renderer.prepared import Prepared, prepare
from viewer.renderer.renderer import Renderer
from viewer.renderer.settings import Settings
from viewer.scene.environment import DARKNESS, Environment, ImageEnvironment
from viewer.scene.scene import Scene
from viewer.window.picture.frame import Frame

Wished = str | Environment | None


def work(
    scene: Scene, tell: Callable[[float, str], None], settings: Settings, before: Prepared | None = None
) -> tuple[Prepared, Any]:
    """What the worker does with a scene: prepares it by its settings, with the tables that they need, and finds its
    bounds (a glance at every vertex); or relights what is there ``before``: (prepared, None)."""
    made = prepare(scene, settings, tell, before)
    relit = before is not None and made.structure is before.structure
    for lit in (True,) if relit else (False, True):
        made.modules(settings.stepwise, lit, settings.sampler)
    return made, None if relit else scene.bounds()


class Surround:
    """The application's part that changes the surroundings, and the state that it keeps."""

    frame: Frame
    renderer: Renderer | None
    scene: Scene | None
    path: str
    environment: Wished  # for scenes to come; None: as they want it
    rotation: float  # degrees about +Y
    _hidden: Environment | None  # what is switched off

    if TYPE_CHECKING:

        def wake(self) -> None: ...
        def say(self, text: str, error: bool = False) -> None: ...
        def changed(self) -> None: ...
        def look_again(self) -> None: ...
        def _start(self, path: str, scene: Scene | None = None, **more: Any) -> None: ...

    @property
    def scene_lighting(self) -> Environment:
        """What surrounds the scene on show."""
        return DARKNESS if self.renderer is None else self.renderer.prepared.lighting.environment

    def surround(self, requested: Wished) -> None:
        """Light the scene, and those to come, with a picture of what is around it; the worker reads it."""
        self.environment, self._hidden = requested, None
        if self.renderer is not None:
            self._start(self.path, self.renderer.scene, before=self.renderer.prepared)

    def toggle_environment(self) -> None:
        """Off, and on again; where there is none, the default sky."""
        if self.renderer is None:
            raise ViewerError("scene", "none is loaded yet", "wait, or open one")
        now = self.scene_lighting
        if now.flux > 0:
            self.surround("none")
            # The rotation is an option of its own, and comes back with the picture.
            self._hidden = now.rotated(now.rotation - self.rotation) if isinstance(now, ImageEnvironment) else now
            self.say("environment off")
        else:
            self.surround(self._hidden or "sky")
            self.say("environment on")

    def _bring_light(self, prepared: Prepared) -> Iterator[float]:
        """Upload other surroundings in pieces, then show them."""
        renderer = self.renderer
        if renderer is None:
            return
        yield from renderer.upload(prepared)
        self.frame.abandon()
        if prepared.given is renderer.scene:
            renderer.update(prepared)
        else:  # something has moved meanwhile
            rotation, found = prepared.settings.environment_rotation, prepared.lighting.environment
            found = found.rotated(found.rotation - rotation) if isinstance(found, ImageEnvironment) else found
            renderer.update(environment=found, environment_rotation=rotation)
        self.scene = renderer.scene
        if not renderer.progressive:
            self.say("programs that follow light see the environment: whitted, path")
        self.look_again()
        self.changed()
