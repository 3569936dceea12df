"""One turn of the loop for the picture, whatever shows it: movement, tracing, exposure."""

from __future__ import annotations

import math
import time
from typing import Any

from raystream.base.errors import ViewerError
from raystream.base.memory import give_back
from raystream.renderer.empty_view import shows_nothing
from raystream.renderer.preview.scheduler import ASLEEP, DRAWN_LOADING, HELD, LONGEST_TURN, LOOKS_WHILE_HELD, POLL
from raystream.renderer.session.trials import BackgroundTrials
from raystream.viewport.auto_exposure import AutoExposure
from raystream.viewport.context import ViewportContext
from raystream.viewport.picture_texture import PictureTexture


class FrameLoop:
    """The picture's share of the loop's turns.

    moving : the camera is, or something in the scene. dt : seconds since the turn before, at most `LONGEST_TURN`.
    trials : of a device that is seen first, while the picture rests.
    """

    def __init__(self, context: ViewportContext, canvas: PictureTexture, auto_exposure: AutoExposure) -> None:
        self.context, self.view, self.session = context, context.view, context.view.session
        self.canvas, self.auto_exposure = canvas, auto_exposure
        self.moving, self.dt = False, 0.0
        self.trials = BackgroundTrials()
        self._last, self._moved = time.monotonic(), 0.0
        self._metered_picture: tuple[Any, ...] = ()  # what was on show when the light was measured
        self._unchecked = False  # no complete picture of the scene has been looked at
        self._pictures_before: int | None = 0  # pictures of the session while none is there of a new scene
        self._freed_at_rest = False  # nothing is left to trace, and free memory is given back
        self._frees_memory = False  # the next draw gives it back

    def shown(self, same: bool) -> None:
        """A scene is on show; ``same``: the one that was there."""
        self.context.editing.shown(same)
        if not same:
            self._pictures_before, self._unchecked, self._freed_at_rest = self.session.pictures, True, False
            self.trials.abandon()
        self.view.actions.perform_waiting()

    @property
    def anything(self) -> bool:
        """Whether anything of the scene is on show."""
        return self._pictures_before is None or self.context.scene_loader.first_picture.shown

    @property
    def tracing(self) -> bool:
        """Whether the picture goes on by itself."""
        view = self.view
        return not view.area.minimised and not view.paused and not self.session.idle

    @property
    def busy(self) -> bool:
        """Whether a picture or a scene is in progress."""
        return self.tracing or self.context.scene_loader.loader.busy

    @property
    def needs_draw(self) -> bool:
        """Whether a draw is. Those in which ImGui lays out wait for one that shows something where all is busy: four of
        them took longer than a scene of forty triangles to its first picture."""
        return self.view.woken or (self.view.awake and not self.busy)

    @property
    def wait_timeout(self) -> float:
        """Seconds that the loop may wait for an event, as far as the picture is concerned."""
        view, controller, scene_loader = self.view, self.view.controller, self.context.scene_loader
        eased = (controller is not None and controller.moving) or (
            self.context.editing.active and not view.area.minimised
        )
        if self.needs_draw or view.compilation.name or scene_loader.uploading or scene_loader.rehearsing:
            return 0.0
        if self.tracing and self.session.pending:
            return POLL
        if eased:
            return 0.0
        if self.tracing:
            return HELD / LOOKS_WHILE_HELD if self.session.waiting(self.moving) else 0.0
        return DRAWN_LOADING if scene_loader.loader.busy else ASLEEP

    @property
    def trials_timeout(self) -> float:
        """Seconds until trials need a turn of a picture at rest; infinite: there are none."""
        return math.inf if self.view.area.minimised or self.view.paused else self.trials.patience(self.session)

    def begin(self) -> None:
        """Another turn begins: a loaded scene is taken."""
        now = time.monotonic()
        self.dt, self._last = min(now - self._last, LONGEST_TURN), now
        self.context.scene_loader.take()

    def move(self) -> None:
        """Whatever moves goes on."""
        view, editing, controller = self.view, self.context.editing, self.view.controller
        if controller is None:
            return
        moved = view.renderer is not None and editing.update(self.dt)
        if controller.update(self.dt):
            view.apply_camera()
            editing.follow()
            moved = True
        if moved:
            self._moved = self._last
        held = (view.input.drag is not None or editing.grabbing) and self._last - self._moved < HELD
        self.moving = controller.moving or editing.active or held

    def work(self, budget: float) -> None:
        """Trace for ``budget`` seconds."""
        view, session, debug_views = self.view, self.session, self.context.debug_views
        if view.area.minimised or self.context.scene_loader.uploading or (view.paused and not debug_views.busy):
            self.trials.abandon()
            return
        rested = 0.0 if self.moving or debug_views.busy or view.input.drag is not None else self._last - self._moved
        tries = self.trials.due(session, rested)
        inside = view.paused or tries or (debug_views.busy and session.complete and not self.moving)
        try:
            session.advance(budget, self.moving, begin=not inside)
        except ViewerError as error:
            session.fail()
            view.say(str(error), error=True)
        follows = self.moving and debug_views.heat is not None  # a rough map after every preview
        waits = inside or follows or session.waiting(self.moving)
        if waits and not session.running and not view.compilation.name:
            view.attempt(lambda: debug_views.advance(budget))
        if tries and not session.running:
            self.trials.advance(session, budget)
        elif self.trials.busy:
            self.trials.look() if rested and session.complete else self.trials.abandon()

    def expose(self) -> None:
        """The exposure follows the picture, where it is left to it."""
        session = self.session
        if session.on_screen is not None:
            session.on_screen.white = 2.0**-self.view.tone.stops
        first = self.context.scene_loader.first_picture
        if self._pictures_before is not None:
            if session.pictures == self._pictures_before:
                if first.shown:
                    self._follow(first.drawn, True)
                return  # nothing else of the scene is on show yet
            self._pictures_before = None
            self.auto_exposure.begin()
        if self._unchecked and session.complete:
            self._unchecked, self._frees_memory = False, True
            self._fill()
            self.view.wake()  # another draw is to give back: both take long
        elif self._frees_memory or (session.idle and not self._freed_at_rest):
            give_back()  # what reading and building took, and the scene before; at rest what compiling took
            self._frees_memory, self._freed_at_rest = False, session.idle
        self._freed_at_rest &= session.idle
        self._follow((session.pictures, session.steps), session.idle)

    def _follow(self, shown: tuple[Any, ...], last: bool) -> None:
        """The light meter looks at the picture on show, if it is another one, and the ``last`` for a while."""
        if not self.view.tone.automatic:
            return
        now = time.monotonic()
        if self.auto_exposure.follow(self.canvas.texture, now, self.dt, last, shown == self._metered_picture):
            self._metered_picture = shown
        self.view.tone.meter(self.auto_exposure.stops)
        if not self.auto_exposure.settled:
            self.view.wake()

    def _fill(self) -> None:
        """Light for a scene whose own lights show nothing, where both light and exposure are left to Raystream."""
        view, renderer = self.view, self.view.renderer
        if renderer is None or not view.tone.automatic or not renderer.progressive:
            return
        settings, lighting = self.context.scene_loader.requested, renderer.prepared.lighting
        if (settings.environment, settings.sun) != (None, None) or not lighting.own_alone:
            return
        if lighting.backdrop is None or renderer.ray_queries.coarse_hits_ready(renderer.settings):
            self._fill_if_black()
        else:
            view.compilation.request("the rays that tell a scene from its backdrop", self._fill_if_black)

    def _fill_if_black(self) -> None:
        """The default sky for a scene of which the picture shows nothing."""
        renderer = self.view.renderer
        if renderer is not None and shows_nothing(renderer, self.canvas.linear()):
            self.context.scene_loader.fill()
