"""Inspector, probe and heat map as the window turns to them: opened, closed, worked on, dropped with their scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera
from raystream.viewport.debug_views import debug_views as module
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import InputState, Overlays, PictureArea

START, OTHER = Camera((0, 0, 5), (0, 0, 0)), Camera((0, 0, 7), (0, 0, 0))


class FakeInspector:
    """Of three passes."""

    def __init__(self, renderer: Any) -> None:
        self.begun: list[Camera] = []
        self.steps = self.released = 0

    def begin(self, camera: Camera) -> None:
        self.begun.append(camera)
        self.steps = 0

    def step(self) -> bool:
        self.steps += 1
        return self.steps <= 3

    def run_to_end(self, budget: float) -> bool:
        self.steps += 1
        return self.steps >= 3

    def release(self) -> None:
        self.released += 1


class FakeHeat:
    """Coarse after a piece of work, complete after three. made : all of them."""

    made: list[FakeHeat]
    compiled = True

    def __init__(self, renderer: Any, camera: Camera, size: Any, what: str, limit: float | None) -> None:
        self.renderer, self.camera, self.size, self.layer, self.given = renderer, camera, size, what, limit
        self.settings = renderer.settings
        self.ready = self.complete = False
        self.progress, self.limit, self.broken = 0.0, limit, 0
        self.pieces: list[tuple[float, bool]] = []
        FakeHeat.made.append(self)

    def interrupted(self) -> None:
        self.broken += 1

    def compile(self) -> None:
        FakeHeat.compiled = True

    def advance(self, budget: float, rough: bool) -> bool:
        self.pieces.append((budget, rough))
        self.ready, self.progress, self.limit = True, len(self.pieces) / 3, 8.0
        self.complete = not rough and len(self.pieces) >= 3
        return self.ready if rough else self.complete


class Desk:
    """Debug views of a view whose facts a test sets; ``done`` notes what is asked of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[Any] = []
        self.compiled: list[Callable[[], None]] = []
        self.now, self.passes = 0.0, 3
        FakeHeat.made, FakeHeat.compiled = [], True
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(module, "Inspector", FakeInspector)
        monkeypatch.setattr(module, "Heat", FakeHeat)
        monkeypatch.setattr(module, "probing", self._probing)
        monkeypatch.setattr(module, "forget", lambda renderer: self.done.append(("forget", renderer)))
        self.session: Any = SimpleNamespace(shown=None, complete=True, steps=0)
        self.renderer: Any = SimpleNamespace(settings="settings")
        controller: Any = SimpleNamespace(camera=START)
        self.view: Any = SimpleNamespace(session=self.session, renderer=self.renderer, controller=controller)
        self.view.area, self.view.input = PictureArea((100, 50)), InputState((10.0, 20.0))
        self.view.area.size, self.view.area.pixels = (100, 50), (200, 100)
        self.view.overlays = Overlays(Preferences())
        self.view.require_scene = self._shown
        self.view.wake = lambda: self.done.append("wake")
        self.view.say = self.done.append
        self.view.say_switched = lambda name, on: self.done.append(f"{name} {on}")
        self.view.compilation = SimpleNamespace(
            drop=lambda: self.done.append("forget compile"),
            request=lambda what, work: (self.done.append(what), self.compiled.append(work)),
        )
        self.views = DebugViews(self.view)

    def _shown(self) -> Any:
        if self.view.renderer is None:
            raise ViewerError("scene", "none is loaded yet")
        return self.view.renderer, self.view.controller

    def _probing(self, renderer: Any, camera: Camera, size: Any, pixel: Any) -> Iterator[Any]:
        self.done.append((camera, size, pixel))
        for number in range(self.passes):
            self.now += 0.01
            yield f"pass {number}"

    def taken(self) -> list[Any]:
        done, self.done[:] = list(self.done), []
        return done

    def compile(self) -> None:
        self.compiled.pop()()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


# -- inspector --------------------------------------------------------------------------------------------------------


def test_the_inspector_is_opened_and_closed(desk: Desk) -> None:
    views = desk.views
    views.toggle_inspector()
    assert desk.taken() == ["inspector True", "the inspector's kernels"] and views.inspector is None
    assert not desk.view.overlays.panels.on
    desk.compile()
    made: Any = views.inspector
    assert made.begun == [START] and desk.view.overlays.panels.on and not views.inspecting
    views.step_inspector(to_end=True)
    views.toggle_inspector()
    assert views.inspector is None and not views.inspecting and made.released == 1
    assert desk.taken() == ["inspector False"]


def test_all_passes(desk: Desk) -> None:
    views = desk.views
    views.step_inspector(to_end=True)
    desk.compile()
    made: Any = views.inspector
    assert views.inspecting and views.busy and made.steps == 0
    desk.taken()
    for steps, goes_on in ((1, True), (2, True), (3, False)):
        views.advance(0.03)
        assert made.steps == steps and views.inspecting is goes_on is views.busy and desk.taken() == ["wake"]
    views.advance(0.03)
    assert made.steps == 3
    views.inspecting, views.inspector = True, None
    views.advance(0.03)
    assert not views.inspecting


# -- probe ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cursor", "pixel"),
    [
        ((10, 20), (20, 40)),
        ((10.4, 20.6), (20, 41)),
        ((-3, -1), (0, 0)),
        ((100, 50), (199, 99)),
        ((99.9, 7e9), (199, 99)),
    ],
)
def test_the_pixel_under_the_cursor_is_probed(desk: Desk, cursor: tuple, pixel: tuple) -> None:
    """Of the picture, in whose pixels the view's are two."""
    desk.view.input.cursor = cursor
    desk.views.toggle_probe()
    assert desk.taken() == ["probe True", "the probe's kernels"] and desk.views.probe is None
    desk.compile()
    assert desk.taken() == [(START, (200, 100), pixel)]
    assert desk.views.probe == "pass 0" and desk.view.overlays.panels.on and desk.views.busy
    desk.views.toggle_probe()
    assert desk.views.probe is None and desk.views.probing is None and desk.taken() == ["probe False"]


def test_the_heat_map_waits_for_probe_and_inspector(desk: Desk) -> None:
    desk.views.next_heat()
    desk.passes = 8
    desk.views.toggle_probe()
    desk.compile()
    desk.views.advance(0.025)
    assert FakeHeat.made == []
    desk.views.advance(1.0)
    assert len(FakeHeat.made) == 1


# -- heat map ---------------------------------------------------------------------------------------------------------


def finish(desk: Desk) -> FakeHeat:
    while desk.views.busy:
        desk.views.advance(0.03)
    found: Any = desk.views.heat_map
    return found


def test_a_heat_map_is_counted_after_the_picture(desk: Desk) -> None:
    views = desk.views
    assert views.counting is None and not views.busy
    views.next_heat()
    assert views.counting == 0.0 and views.busy
    desk.session.complete = False
    assert not views.busy
    desk.session.complete = True
    desk.taken()
    shares = []
    while views.busy:
        views.advance(0.03)
        shares.append(views.counting)
    (made,) = FakeHeat.made
    assert shares == [1 / 3, 2 / 3, None] and made.pieces == [(0.03, False)] * 3 and views.heat_map is made  # type: ignore[comparison-overlap]
    assert (made.renderer, made.camera, made.size, made.layer, made.given) == (
        desk.renderer,
        START,
        (200, 100),
        "steps",
        None,
    )
    assert desk.taken() == ["wake"] * 3
    views.advance(0.03)
    assert len(made.pieces) == 3 and desk.taken() == []


def test_a_map_is_kept_while_its_picture_is_there(desk: Desk) -> None:
    desk.views.next_heat()
    steps = finish(desk)
    desk.views.next_heat()
    tests = finish(desk)
    desk.views.next_heat()
    desk.views.next_heat()
    assert desk.views.heat_map is steps and desk.views.counting is None and not desk.views.busy
    desk.view.controller.camera = OTHER
    assert desk.views.counting == 0.0 and desk.views.busy
    desk.views.next_heat()
    assert desk.views.heat_map is None, "of another camera"
    desk.view.controller.camera = START
    for _ in range(3):
        desk.views.next_heat()
    assert desk.views.heat_map is tests and len(FakeHeat.made) == 2


@pytest.mark.parametrize("change", ["camera", "pixels", "settings"])
def test_another_picture_has_another_map_in_the_same_colours(desk: Desk, change: str) -> None:
    desk.views.next_heat()
    first = finish(desk)
    places = {"camera": desk.view.controller, "pixels": desk.view.area, "settings": desk.renderer}
    setattr(places[change], change, {"camera": OTHER, "pixels": (50, 25), "settings": "others"}[change])
    assert desk.views.busy
    second = finish(desk)
    assert second is not first and second.given == 8.0 and len(FakeHeat.made) == 2


def test_in_motion_a_map_is_coarse(desk: Desk) -> None:
    """And the last one stays until there is another."""
    desk.views.next_heat()
    first = finish(desk)
    desk.view.controller.camera, desk.session.complete, desk.session.steps = OTHER, False, 5
    desk.views.advance(0.03)
    second: Any = desk.views.heat_map
    assert second is not first and second.pieces == [(0.03, True)] and second.ready and not second.complete
    desk.session.steps = 6
    desk.views.advance(0.03)
    assert second.pieces == [(0.03, True)] and second.broken == 1, "it is coarse already"
    desk.session.complete, desk.session.steps = True, 7
    desk.views.advance(0.03)
    assert second.pieces == [(0.03, True), (0.03, False)] and second.broken == 2
    desk.views.advance(0.03)
    assert second.complete and second.broken == 2, "nothing was traced in between"


# -- change -----------------------------------------------------------------------------------------------------------


def opened(desk: Desk) -> Any:
    """Everything is there; the inspector."""
    views = desk.views
    views.next_heat()
    finish(desk)
    views.toggle_probe()
    desk.compile()
    views.toggle_inspector()
    desk.compile()
    views.step_inspector(to_end=True)
    views.photons.forget = lambda: desk.done.append("photons")  # type: ignore[method-assign]
    desk.taken()
    return views.inspector


def test_another_scene(desk: Desk) -> None:
    """Results go; how bright a count is stays."""
    made, views = opened(desk), desk.views
    views.scene_changed()
    assert views.probe is views.probing is views.heat_map is views.inspector is None and not views.inspecting
    assert made.released == 1 and views.heat == "steps" and desk.taken() == ["photons"]
    assert finish(desk).given == 8.0 and len(FakeHeat.made) == 2, "counted anew"


def test_shaders_that_have_changed(desk: Desk) -> None:
    """Inspector and heat map begin anew, a probe that is complete stays."""
    made, views = opened(desk), desk.views
    desk.view.controller.camera = OTHER
    probe = views.probe
    views.reloaded()
    assert views.heat_map is None and views.probing is None and views.probe == probe
    assert views.inspector is made and made.released == 1 and made.begun == [START, OTHER]
    assert desk.taken() == ["photons", ("forget", desk.renderer)]
    desk.view.controller.camera = START
    views.inspecting = False
    finish(desk)
    assert len(FakeHeat.made) == 2, "counted anew"
    desk.view.renderer = None
    desk.taken()
    views.reloaded()
    assert desk.taken() == ["photons"]
    desk.view.controller = None
    views.reloaded()
    assert made.released == 2
