"""The panels and overlays, drawn headless over a desk without a window: what they show and ask for."""

from __future__ import annotations

from typing import Any

import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui, ImVec2 = imgui_bundle.imgui, imgui_bundle.ImVec2


from raystream.viewport.viewport import Message  # noqa: E402


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
