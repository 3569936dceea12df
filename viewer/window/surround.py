"""What surrounds the scene in the window: pictures that are dropped on it, darkness, and their rotation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.formats.image.environment_maps import environment_of
from viewer.renderer.prepared import Prepared, prepare
from viewer.renderer.relight import with_lighting
from viewer.renderer.renderer import Renderer
from viewer.scene.environment import DARKNESS, ConstantEnvironment, Environment, ImageEnvironment
from viewer.scene.scene import Scene
from viewer.window.picture.frame import Frame

Wished = str | Environment | None


def work(
    scene: Scene,
    tell: Callable[[float, str], None],
    lighting: tuple[Prepared, Any] | None = None,
    sampler: str = "sobol",
    stepwise: bool = False,
    **given: Any,
) -> tuple[Prepared, Any, dict[str, Any]]:
    """What the worker does with a scene: builds its structure by the options ``given``, finds its bounds (a glance at
    every vertex) and makes its tables; or surrounds what is there: (prepared, environment or its name)."""
    if lighting is None:
        environment = given.get("environment")
        if isinstance(environment, ConstantEnvironment | ImageEnvironment):
            made = prepare(scene, tell, **{**given, "environment": "none"})
            made = with_lighting(made, scene, environment)
        else:
            made = prepare(scene, tell, **given)
        for lit in (False, True):
            made.modules(stepwise, lit, sampler)
        return made, scene.bounds(), given
    before, requested = lighting
    found = requested
    if not isinstance(requested, ConstantEnvironment | ImageEnvironment):
        found, notes = environment_of(requested, given.get("environment_rotation", 0.0), lit=True)
        del notes
    made = with_lighting(before, scene, found)
    made.lighting.modules(True, sampler)  # tables are made here
    return made, None, given


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
            self._start(self.path, self.renderer.scene, lighting=(self.renderer.prepared, requested))

    def toggle_environment(self) -> None:
        """Off, and on again; where there is none, the default sky."""
        if self.renderer is None:
            raise ViewerError("scene", "none is loaded yet", "wait, or open one")
        now = self.scene_lighting
        if now.flux > 0:
            self.surround(DARKNESS)
            self._hidden = now
            self.say("environment off")
        else:
            self.surround(self._hidden or "sky")
            self.say("environment on")

    def _bring_light(self, prepared: Prepared) -> Iterator[float]:
        """Upload other surroundings in pieces, then show them."""
        renderer = self.renderer
        if renderer is None:
            return
        modules = prepared.modules(lit=True, sampler=renderer.choices.sampler)
        yield from renderer.resources.upload(memory for module in modules for memory in module.memories)
        self.frame.abandon()
        if prepared.scene is renderer.scene and prepared.structure is renderer.structure:
            renderer.adopt(prepared)
        else:  # something has moved meanwhile
            renderer.relight(renderer.scene, prepared.lighting.environment)
        self.scene = renderer.scene
        if not renderer.samples:
            self.say("programs that follow light see the environment: whitted, path")
        self.look_again()
        self.changed()
