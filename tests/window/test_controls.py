"""Every control of the panels, found by its name and used with the mouse: the value that it sets."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

imgui = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed").imgui

from panel_stage import Stage  # noqa: E402  # imports imgui

from raystream.scene.projections import Fisheye  # noqa: E402

ITEMS = (
    ("button", "checkbox", "selectable", "begin_combo")
    + ("slider_float", "slider_int", "drag_float", "drag_float3")
    + ("input_int", "input_text")
)
Middle = tuple[float, float]


class Controls:
    """One section of the panels, and where its controls are: label -> (left, top, right, bottom)."""

    def __init__(self, panel_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scene_loader, self.patch = panel_stage, monkeypatch
        self.places: dict[str, tuple[float, float, float, float]] = {}
        self.facts: dict[str, str] = {}
        for name in ITEMS:
            monkeypatch.setattr(imgui, name, self._noted(getattr(imgui, name)))

    def _noted(self, item: Callable[..., Any]) -> Callable[..., Any]:
        def noted(label: str, *rest: Any) -> Any:
            low, high = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail()
            found = item(label, *rest)
            if item.__name__ != "begin_combo" or not found:  # else the last item is in the list
                low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
                self.places[label] = (low.x, low.y, high.x, high.y)
            return found

        return noted

    def show(self, draw: Any) -> None:
        from raystream.window.panels import panels, widgets

        fact = widgets.fact

        def told(name: str, value: str) -> None:
            self.facts[name] = value
            fact(name, value)

        self.patch.setattr(widgets, "fact", told)
        self.patch.setattr(panels, "SECTIONS", (("Section", draw, True),))
        self.again()

    def again(self) -> None:
        self.places.clear()
        self.facts.clear()
        self.scene_loader.turn(3, mouse=(1000, 600))

    def at(self, label: str, share: float = 0.5) -> Middle:
        """A place in a control, that share of its width from the left."""
        found = next((box for name, box in self.places.items() if name == label or name.startswith(f"{label}##")), None)
        assert found is not None, f"{label} is not among {sorted(self.places)}"
        left, top, right, bottom = found
        return left + share * (right - left), (top + bottom) / 2

    def click(self, label: str, share: float = 0.5) -> list[Any]:
        return self.drag(label, 0, share)

    def drag(self, label: str, by: float, share: float = 0.5) -> list[Any]:
        x, y = self.at(label, share)
        asked = self.scene_loader.drag((x, y), (x + by, y))
        self.again()
        return [each for each in asked if each != "wake"]

    def choose(self, label: str, word: str) -> list[Any]:
        """A word of a list that folds out."""
        self.scene_loader.click(*self.at(label))
        self.scene_loader.turn(2)
        return self.click(word)


@pytest.fixture
def controls(panel_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Controls:
    return Controls(panel_stage, monkeypatch)


def use(panel_stage: Stage, scene: Any, **options: Any) -> None:
    """Another scene, on the machine that compiles least."""
    from raystream import Renderer

    panel_stage.session.use(Renderer(scene, device=panel_stage.device, **{"machine": "singlepass", **options}))
    panel_stage.scene_loader.requested = panel_stage.renderer.settings
    panel_stage.session.convergence.complete = True


def test_the_camera_s(panel_stage: Stage, controls: Controls) -> None:
    from raystream.window.panels import panels
    from raystream.window.panels.panels import slider

    controls.show(panels._camera)
    controller = panel_stage.view.controller
    assert controls.click("Fly") == ["camera.mode"] and controls.click("Orbit") == []
    low, high = slider("fov")
    controls.click("##fov", 0.02)
    assert controller.camera.fov == pytest.approx(low, abs=0.02 * (high - low))
    controls.click("##fov", 0.5)
    assert controller.camera.fov == pytest.approx((low + high) / 2, abs=0.02 * (high - low))
    for name in ("orthographic", "equirectangular"):
        controls.choose("##projection", name)
        assert controller.camera.kind == name and "##fov" not in controls.places
    controls.choose("##projection", "equisolid")
    assert controller.camera.projection == Fisheye(180.0, True)
    controls.click("##angle", 0.25)
    assert controller.camera.projection.angle == pytest.approx(1 + 0.25 * 359, abs=0.03 * 359)  # a slider has margins
    controls.choose("##projection", "perspective")
    assert controller.camera.projection is None
    before = controller.speed
    controls.drag("##speed", 40)
    assert controller.speed > 1.2 * before
    for name, action in (("Copy", "camera.copy"), ("Paste", "camera.paste"), ("Frame", "camera.frame")):
        assert controls.click(name) == [action]


def test_samples_and_effects_of_whitted(panel_stage: Stage, controls: Controls) -> None:
    from raystream.window.panels import panels as options

    use(panel_stage, panel_stage.view.scene, program="whitted")
    controls.show(options.draw_sampling)
    controls.click("##noise", 0.5)
    assert panel_stage.session.stop.error == pytest.approx(0.05, abs=0.003)
    controls.choose("##quality", "draft")  # as without Open Image Denoise, which does nothing there
    assert (panel_stage.session.stop.spp, panel_stage.session.stop.error) == (8, 0.1)
    effects = ("shadows", "reflections", "refractions")
    assert [controls.click(effect) for effect in effects] == [[{effect: False}] for effect in effects]
    assert controls.click("##depth", 0.99)[-1]["depth"] == 32
    assert controls.click("##clamp", 0.5)[-1]["clamp"] == pytest.approx(50, abs=3)
    use(panel_stage, panel_stage.view.scene, program="cast")
    controls.again()
    assert controls.places == {}


def test_the_timeline(panel_stage: Stage, controls: Controls, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar below the picture of an animated scene, where panels are shown; the picture is seen through it."""
    alphas: list[Any] = []  # and names of windows behind theirs
    begin = imgui.begin
    monkeypatch.setattr(imgui, "set_next_window_bg_alpha", alphas.append)
    monkeypatch.setattr(imgui, "begin", lambda name, *rest: (alphas.append(name), begin(name, *rest))[1])
    scene, sought = SimpleNamespace(duration=4.0, animations=[SimpleNamespace(name="walk")], animation=0), []
    monkeypatch.setattr(type(panel_stage.view), "scene", property(lambda view: scene))
    monkeypatch.setattr(panel_stage.editing.animation, "seek", lambda seconds: sought.append(seconds))
    controls.show(lambda context: None)
    controls.click("##timeline.time", 0.25)
    assert sought[-1] == pytest.approx(1.0, abs=0.15) and controls.click("Play") == ["animation.play"]
    assert 0.5 < alphas[alphas.index("##timeline") - 1] < 1.0
    scene.duration = 0.0
    controls.again()
    assert "##timeline.time" not in controls.places
