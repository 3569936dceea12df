"""Parts of the window that need none: the screen that it covers most, and what ImGui is told of its size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

imgui = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed").imgui
glfw = pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.window.gui import ImguiInput  # noqa: E402 -- behind what it needs
from raystream.window.window import Window, overlap  # noqa: E402


class Kept:
    """A clipboard."""

    text = ""

    def copy(self, text: str) -> None:
        self.text = text

    def paste(self) -> str:
        return self.text


@pytest.fixture
def context() -> Iterator[None]:
    made = imgui.create_context()
    imgui.get_io().set_ini_filename("")
    yield
    imgui.destroy_context(made)


@pytest.mark.parametrize(
    ("other", "area"),
    [
        ((0, 0, 100, 80), 40 * 50),  # it hangs over at the right
        ((100, 0, 100, 80), 20 * 50),
        ((0, 0, 200, 45), 60 * 15),
        ((0, 45, 200, 100), 60 * 35),
        ((70, 40, 5, 7), 5 * 7),  # within it
        ((120, 0, 50, 80), 0),  # beside it
        ((0, 80, 200, 50), 0),  # below
        ((-300, -300, 50, 50), 0),  # away in both directions, which is no area
    ],
)
def test_areas_common_to_a_window_and_a_screen(other: tuple[int, int, int, int], area: int) -> None:
    window = (60, 30, 60, 50)
    assert overlap(window, other) == overlap(other, window) == area


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("size", "pixels", "scale"),
    [
        ((300, 200), (300, 200), (1.0, 1.0)),
        ((300, 200), (600, 300), (2.0, 1.5)),
        ((200, 300), (300, 600), (1.5, 2.0)),
        ((1, 1), (2, 3), (2.0, 3.0)),
        ((0, 0), (0, 0), (0.0, 0.0)),  # minimised
    ],
)
def test_imgui_is_told_the_window_s_size(
    size: tuple[int, int], pixels: tuple[int, int], scale: tuple[float, float]
) -> None:
    """And its pixels by each side: another one by height than by width would clip panels at wrong rows."""
    input = ImguiInput(Kept())
    input.begin(size, pixels, 0.25)
    assert (input.io.display_size.x, input.io.display_size.y) == size
    assert (input.io.display_framebuffer_scale.x, input.io.display_framebuffer_scale.y) == scale
    assert input.io.delta_time == 0.25
    input.begin(size, pixels, 0.0)
    assert input.io.delta_time == pytest.approx(1e-5, rel=1e-6), "ImGui refuses a frame of no time"


def test_sizes_are_asked_for_once_between_two_looks_at_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    given: dict[str, tuple] = {
        "get_window_size": (300, 200),
        "get_framebuffer_size": (600, 400),
        "get_window_content_scale": (2.0, 1.5),
    }
    for name in given:
        monkeypatch.setattr(glfw, name, lambda _, name=name: asked.append(name) or given[name])
    monkeypatch.setattr(glfw, "poll_events", lambda: None)
    window = Window.__new__(Window)
    window.handle, window._state, window._stopped = "window", {}, None
    for _ in range(3):
        assert (window.size, window.pixels, window.scale) == ((300, 200), (600, 400), 2.0)
    assert sorted(asked) == sorted(given)
    given["get_window_size"] = (310, 200)
    assert window.size == (300, 200)
    window.events(0.0)
    assert window.size == (310, 200) and len(asked) == 4
