"""What looks inside a renderer, a share at a time: inspector, probe and heat map; and shader files that change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from viewer.base.errors import ViewerError
from viewer.renderer.renderer import Renderer
from viewer.stream.gl.device import Device
from viewer.window.input.flight import Flight
from viewer.window.picture.display import Display
from viewer.window.picture.frame import Frame
from viewer.window.reload import Watch
from viewer.window.study.heat import Heat
from viewer.window.study.inspector import Inspector
from viewer.window.study.probe import Probe, forget
from viewer.window.window import Window


class Looking:
    """The application's part that looks inside, and the state that it keeps."""

    window: Window
    device: Device
    display: Display
    frame: Frame
    renderer: Renderer | None
    flight: Flight | None
    minimised: bool
    message_is_error: bool
    inspector: Inspector | None
    inspecting: bool  # the inspector runs to its end
    probe: Probe | None
    probing: Iterator[Probe] | None
    heat: str | None  # what the heat map shows
    heat_map: Heat | None
    _compile: tuple[str, Callable[[], object]] | None  # what it is called, and what compiles
    _told: bool  # that it compiles
    _watch: Watch
    _broken: str  # why shaders could not be reloaded

    if TYPE_CHECKING:

        def wake(self) -> None: ...
        def say(self, text: str, error: bool = False) -> None: ...

    @property
    def compiling(self) -> str:
        """Whose shaders are compiled now; empty for none."""
        return self._compile[0] if self._compile is not None else self.frame.compiling

    def compile(self, what: str, work: Callable[[], object]) -> None:
        """Do something that compiles shaders, after the window has said so."""
        self._compile, self._told = (what, work), False
        self.wake()

    def _compile_now(self) -> None:
        """What compiles, once the window has said so."""
        if self._compile is not None and (self._told or self.minimised):
            (_, work), self._compile = self._compile, None
            self.wake()
            work()

    @property
    def looking(self) -> bool:
        """Whether there is something to find out that waits for the first whole picture; more samples wait for it."""
        heat = self.heat is not None and not (self.heat_map is not None and self._mapped() and self.heat_map.complete)
        return self.inspecting or self.probing is not None or (heat and self.frame.complete)

    def _look_inside(self, budget: float) -> None:
        """A share of the inspector's run, the probed ray's and the heat map's."""
        began = time.perf_counter()
        if self.inspecting:
            self.inspecting = self.inspector is not None and not self.inspector.run_to_end(budget)
            self.wake()
        while self.probing is not None and time.perf_counter() - began < budget:
            probing, self.probing = self.probing, None  # a fault ends it
            for self.probe in probing:
                self.probing = probing
                break
            self.wake()
        if not self.inspecting and self.probing is None:
            self._count_heat(budget)

    def _mapped(self) -> bool:
        """Whether the heat map is of what is on show."""
        made = self.heat_map
        return made is not None and self.flight is not None and (made.camera, made.size, made.what) == self._wanted()

    def _wanted(self) -> tuple[object, ...]:
        return (self.flight and self.flight.camera, self.window.pixels, self.heat)

    def _count_heat(self, budget: float) -> None:
        """The heat map follows when the picture is complete."""
        if self.heat is None or self.renderer is None or self.flight is None:
            self.heat_map = None
        elif self.frame.complete:
            if self.heat_map is None or not self._mapped():
                made = Heat(self.renderer, self.flight.camera, self.window.pixels, self.heat)
                self.heat_map = made
                if not made.compiled:
                    self.compile("the heat map's kernels", made.compile)
                    return
            if not self.heat_map.complete:
                self.heat_map.advance(budget)
                self.wake()

    def look_again(self) -> None:
        """The scene is another one: what was found out about the old one is of no use."""
        self.probe = self.probing = self.heat_map = None
        if self.inspector is not None and self.flight is not None:
            self.inspector.release()
            self.inspector, self.inspecting = None, False

    def _drop_views(self, renderer: Renderer | None) -> None:
        """What looks into a renderer that goes."""
        if self.inspector is not None:
            self.inspector.release()
        self.inspector = self.probe = self.probing = self.heat_map = self._compile = None
        self.inspecting = False
        if renderer is not None:
            forget(renderer)

    # -- shaders -------------------------------------------------------------------------------------------------------

    def _look_at_shaders(self) -> None:
        """Compile anew where a file has changed."""
        if self._watch.changed(self.device.files):
            self.compile("changed shaders", self._reload_shaders)

    def _reload_shaders(self) -> None:
        """All or none: a shader that does not compile leaves the old ones at work, and its line in the window."""
        try:
            self.frame.reload()
            self.display.reload()
            if self.renderer is not None:
                self.renderer.reload()
        except ViewerError as error:
            self._broken = str(error)
            raise
        if self._broken or not self.message_is_error:
            self.say("shaders compiled anew")
        self._broken = ""
        self.heat_map = self.probing = None
        self.frame.abandon()
        if self.renderer is not None:
            forget(self.renderer)
        if self.inspector is not None and self.flight is not None:
            self.inspector.release()
            self.inspector.begin(self.flight.camera)
