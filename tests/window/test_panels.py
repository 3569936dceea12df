"""The panels and overlays, drawn headless over a desk without a window: what they show and ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui, ImVec2 = imgui_bundle.imgui, imgui_bundle.ImVec2

from panel_stage import SIZE, Stage  # noqa: E402  # imports imgui

from raystream.viewport.viewport import Message  # noqa: E402


def test_variants_are_chosen_by_name(panel_stage, monkeypatch):
    """The list offers them where there are some, and the file's own look."""
    from dataclasses import replace

    from raystream.scene.material import Material
    from raystream.window.panels import panels, widgets

    offered, clicks = [], iter((1, None, 0))

    def combo(name: str, values: list[str], current: str, *more: str) -> str | None:
        offered.append((values, current))
        number = next(clicks, None)
        return None if number is None else values[number]

    monkeypatch.setattr(widgets, "combo", combo)
    monkeypatch.setattr(panels, "SECTIONS", (("Scene", panels._scene, True),))
    panel_stage.draw(1)
    assert not offered
    plain = panel_stage.renderer.scene
    materials = [*plain.materials, Material("red", (1.0, 0.0, 0.0, 1.0))]
    panel_stage.session.update(replace(plain, materials=materials, variants={"warm": {0: len(materials) - 1}}))
    shown = []
    for _ in range(4):
        panel_stage.draw(1)
        scene = panel_stage.renderer.scene
        shown.append((scene.variant, scene.materials[scene.flatten().materials[0]].name))
    own = ["none##0", "warm##1"]
    assert offered[:4] == [(own, "none##0"), (own, "warm##1"), (own, "warm##1"), (own, "none##0")]
    assert shown == [("warm", "red"), ("warm", "red"), *[(None, plain.materials[0].name)] * 2]


def test_every_option_of_a_structure_can_be_chosen(panel_stage, monkeypatch):
    """A new option appears by itself: words side by side or in a list, numbers typed."""
    from dataclasses import replace

    from raystream.options import table as options
    from raystream.window.panels import panels

    monkeypatch.setattr(panels, "SECTIONS", (("Structure", panels._structure, True),))
    word = options.option("intersection")
    made = {
        "shape": replace(word, name="shape").with_value(choices=("round", "long")),
        "order": replace(word, name="order").with_value(choices=("a-word-that-is-rather-long", "another", "b")),
        "depth": replace(options.option("grid"), name="depth"),
    }
    monkeypatch.setattr(options, "OPTIONS", made)
    panel_stage.scene_loader.requested = {"shape": "round", "order": "another", "depth": "auto"}
    panel_stage.draw()
    assert {"shape": "long"} in [asked for y in range(46, 70, 4) for asked in panel_stage.click(260, y)]
    listed = []
    for y in range(70, 96, 6):  # a list folds out below the place that is clicked
        for below in (22, 40, 58, 76):
            panel_stage.click(200, y)
            listed += [asked for asked in panel_stage.click(200, y + below) if isinstance(asked, dict)]
            panel_stage.click(1000, 600)
    assert {"order": "b"} in listed and {"order": "a-word-that-is-rather-long"} in listed
    assert any(types(panel_stage, 200, y) for y in range(94, 130, 6))
    assert {"depth": "12"} in panel_stage.asked


def types(panel_stage: Stage, x: float, y: float) -> bool:
    """Click there, type 12 and Enter; whether that is asked for."""
    panel_stage.click(x, y)
    io = imgui.get_io()
    for event in (
        lambda: io.add_input_character(ord("1")),
        lambda: io.add_input_character(ord("2")),
        lambda: io.add_key_event(imgui.Key.enter, True),
        lambda: io.add_key_event(imgui.Key.enter, False),
    ):
        event()
        panel_stage.draw(1)
    return any("depth" in asked for asked in panel_stage.asked if isinstance(asked, dict))


def test_the_legend_of_the_heat_map_is_seen_beside_the_probe(panel_stage):
    from raystream.viewport.debug_views.debug_views import Heat
    from raystream.viewport.debug_views.probe import probe
    from raystream.window.panels import debug_views as probe_panel
    from raystream.window.panels.debug_views import Space

    panel_stage.draw()
    space = Space(panel_stage.draw_imgui)
    panel_stage.debug_views.heat, panel_stage.debug_views.heat_map = (
        "steps",
        Heat(panel_stage.renderer, panel_stage.view.controller.camera, (64, 40), "steps"),
    )
    panel_stage.debug_views.heat_map.advance()
    for with_probe in (False, True):
        if with_probe:
            panel_stage.debug_views.probe = probe(
                panel_stage.renderer, panel_stage.view.controller.camera, (64, 40), (32, 20)
            )
        for _ in range(4):
            io = imgui.get_io()
            io.display_size, io.delta_time = ImVec2(*SIZE), 1 / 60
            imgui.new_frame()
            space.draw(panel_stage.context)
            panels_of(panel_stage)
            legend = imgui.internal.find_window_by_name("##heat")
            imgui.render()
        x, y, wide, tall = legend.pos.x, legend.pos.y, legend.size.x, legend.size.y
        assert 0 < x < x + wide < SIZE[0] and 0 < y < y + tall < SIZE[1]
        over = probe_panel.covered(panel_stage.context)
        assert (over is not None) == with_probe
        if over is not None:
            assert y + tall <= over[1] or y >= over[3] or x >= over[2] or x + wide <= over[0]


def panels_of(panel_stage: Stage) -> None:
    from raystream.window.panels.panels import draw_panels

    draw_panels(panel_stage.context, panel_stage.draw_imgui)


def test_the_probe_s_table_grows(panel_stage, monkeypatch):
    """Rows are made into text once."""
    from raystream.viewport.debug_views.probe import Probe, probing
    from raystream.window.panels import debug_views as probe_panel

    made = []
    table = Probe.table
    monkeypatch.setattr(Probe, "table", lambda self, first=0: made.extend(table(self, first)) or table(self, first))
    for found in probing(panel_stage.renderer, panel_stage.view.controller.camera, (64, 40), (32, 20)):
        panel_stage.debug_views.probe = found
        panel_stage.draw(1)
    assert len(made) == len(panel_stage.debug_views.probe.rows) > 3
    assert probe_panel._probed.rows == table(panel_stage.debug_views.probe)


def test_the_inspector_shows_a_stream(panel_stage):
    empty = panel_stage.draw()
    panel_stage.inspect()
    drawn = panel_stage.draw()
    assert drawn[40:600, 960:1260].mean() > 0.9 and not empty[40:600, 960:1260].any()
    picture = panel_stage.debug_views.inspector.show("state").picture
    shown = np.frombuffer(panel_stage.target.read(viewport=(950, 480, 300, 200), components=3, alignment=1), np.uint8)
    for color in np.unique(picture.reshape(-1, 3), axis=0):
        assert (shown.reshape(-1, 3) == color).all(axis=1).sum() >= 20, color  # a ray is over 100 pixels
    for channel in panel_stage.debug_views.inspector.channels.values():
        from raystream.window.panels import debug_views as inspector_panel

        inspector_panel._view.channel = channel.name
        panel_stage.draw(1, mouse=(1100, 200))  # with the value of a ray
    panel_stage.debug_views.inspector.run_to_end()
    panel_stage.draw(mouse=(1100, 500))  # with a pass in words
    assert panel_stage.draw_imgui.context.error == "GL_NO_ERROR"


@pytest.mark.parametrize("size", [(1, 1), (40, 30), (230, 150), (400, 220), (700, 400), (7680, 4320)])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_any_window(panel_stage, size, scale):
    panel_stage.view.area.scale = scale
    panel_stage.inspect()
    panel_stage.view.overlays.statistics.on, panel_stage.view.message = True, Message("word " * 60)
    panel_stage.scene_loader.loading = "loading a-long-name.glb", None
    for visible in (True, False):
        panel_stage.view.overlays.help.on = visible
        panel_stage.draw(2, size)
    assert panel_stage.draw_imgui.context.error == "GL_NO_ERROR"


def test_another_scale_and_back(panel_stage):
    """The style of a scale does not depend on the scales before."""

    def style() -> list[Any]:
        found = imgui.get_style()
        names = [name for name in dir(found) if not name.startswith("__") and not callable(getattr(found, name))]
        return [str(getattr(found, name)) for name in names if "next_frame" not in name]

    panel_stage.draw()
    plain, atlas = style(), len(imgui.get_io().fonts.fonts)
    panel_stage.view.area.scale = 2.0
    panel_stage.draw()
    assert style() != plain
    panel_stage.view.area.scale = 1.0
    panel_stage.draw()
    assert style() == plain
    assert len(imgui.get_io().fonts.fonts) == atlas


@pytest.fixture
def windows(monkeypatch) -> dict[str, tuple[float, float, float, float]]:
    """Left, top, right and bottom of ImGui's windows as last drawn, by their names."""
    found: dict[str, tuple[float, float, float, float]] = {}
    begin, end, names = imgui.begin, imgui.end, []

    def begun(name: str, *rest: Any) -> Any:
        names.append(name)
        return begin(name, *rest)

    def ended() -> None:
        at, extent = imgui.get_window_pos(), imgui.get_window_size()
        found[names.pop()] = (at.x, at.y, at.x + extent.x, at.y + extent.y)
        end()

    monkeypatch.setattr(imgui, "begin", begun)
    monkeypatch.setattr(imgui, "end", ended)
    return found


@pytest.mark.parametrize("panels", [True, False])
@pytest.mark.parametrize("probed", [True, False])
def test_nothing_overlaps_in_a_narrow_window(panel_stage, windows, panels, probed) -> None:
    from raystream.viewport.debug_views.probe import probe

    size = (320, 240)
    panel_stage.view.overlays.panels.on, panel_stage.view.overlays.statistics.on = panels, True
    if probed:
        panel_stage.debug_views.probe = probe(
            panel_stage.renderer, panel_stage.view.controller.camera, (32, 24), (16, 12)
        )
    for message in ("", "the scene has no lights and is under the default sky (--environment none for darkness)"):
        panel_stage.view.message = Message(message)
        panel_stage.draw(4, size)
        windows.clear()
        panel_stage.draw(1, size)
        assert "##message" in windows or not message
        assert not panels or ("Pixel probe" if probed else "Raystream") in windows
        placed: list[tuple[str, tuple[float, float, float, float]]] = []
        for name, (left, top, right, bottom) in windows.items():
            assert left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1], name
            for other, (begin, above, end, below) in placed:
                assert right <= begin or end <= left or bottom <= above or below <= top, (name, other)
            placed.append((name, (left, top, right, bottom)))
