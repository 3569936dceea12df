"""A frame loop without a window, for tests of its turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.settings import Settings
from raystream.viewport import host
from raystream.viewport.host import FrameLoop
from raystream.viewport.viewport import InputState, PictureArea, ToneMapping


class Desk:
    """A loop whose view, session and rooms are facts that a test sets; ``done`` notes what is asked of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.done = 100.0, []
        monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(host, "give_back", lambda: self.done.append("give back"))
        self.changes = self.carries = False  # of the camera's update; of the editing's
        self.looked = True  # what the light meter answers
        self.refused: ViewerError | None = None
        self.session: Any = SimpleNamespace(
            idle=True,
            renderer=None,
            running=False,
            pending=False,
            complete=True,
            pictures=0,
            steps=0,
            on_screen=SimpleNamespace(white=1.0),
            waiting=lambda moving: self.waits(moving),
        )
        self.waits = lambda moving: False
        self.session.advance = self._advance
        self.session.fail = lambda: self.done.append("fail")
        self.controller: Any = SimpleNamespace(moving=False, update=self._update)
        self.renderer: Any = SimpleNamespace(
            progressive=True,
            prepared=SimpleNamespace(lighting=SimpleNamespace(only_own_lights=True, backdrop=None)),
        )
        self.view: Any = SimpleNamespace(
            actions=SimpleNamespace(perform_waiting=lambda: None),
            compilation=SimpleNamespace(name=""),
            tone=ToneMapping(0.0, "none"),
            area=PictureArea((8, 4)),
            input=InputState(),
            paused=False,
            session=self.session,
            controller=self.controller,
            renderer=self.renderer,
            awake=False,
            woken=False,
        )
        self.view.apply_camera = lambda: self.done.append("apply_camera")
        self.view.wake = lambda: self.done.append("wake")
        self.view.say = lambda text, error=False: self.done.append(("say", text, error))
        self.view.attempt = lambda what: what()
        self.editing: Any = SimpleNamespace(active=False, grabbing=False)
        self.editing.update = lambda dt: self.done.append(("moves", dt)) or self.carries
        self.editing.follow = lambda: self.done.append("follow")
        self.editing.shown = lambda same: self.done.append(("shown", same))
        self.loader: Any = SimpleNamespace(uploading=False, loader=SimpleNamespace(busy=False), requested=Settings())
        self.loader.rehearsing = False
        self.loader.first_picture = SimpleNamespace(shown=False)
        self.loader.take = lambda: self.done.append("take")
        self.loader.fill = lambda: self.done.append("fill")
        self.debug: Any = SimpleNamespace(busy=False, heat=None)
        self.debug.advance = lambda budget: self.done.append(("debug", budget))
        self.meter: Any = SimpleNamespace(stops=-2.0, reached=True)
        self.meter.begin = lambda: self.done.append("begin")
        self.meter.follow = lambda *looks: self.done.append(("follow", *looks)) or self.looked
        self.picture = np.zeros((2, 2, 3), np.float32)
        canvas: Any = SimpleNamespace(texture="texture", linear=lambda: self.picture)
        context: Any = SimpleNamespace(
            view=self.view, editing=self.editing, scene_loader=self.loader, debug_views=self.debug
        )
        self.loop = FrameLoop(context, canvas, self.meter)

    def _update(self, dt: float) -> bool:
        self.done.append(("camera", dt))
        return self.changes

    def _advance(self, budget: float, moving: bool, begin: bool) -> None:
        self.done.append(("advance", budget, moving, begin))
        if self.refused is not None:
            raise self.refused

    def taken(self) -> list[Any]:
        """What has been asked for since the last time."""
        done, self.done[:] = list(self.done), []
        return done
