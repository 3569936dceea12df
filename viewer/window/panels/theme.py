"""How the panels look: one dark theme with one accent colour, and its fonts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from raystream.window.bundle import FOLDER, ImVec2, ImVec4, imgui, implot
from raystream.window.window import GROUND

Color = tuple[float, float, float, float]  # sRGB, straight alpha

ACCENT = (0.36, 0.66, 0.93)
TEXT = (0.86, 0.88, 0.90)
DIM = (0.54, 0.58, 0.63)
WARNING = (0.93, 0.73, 0.38)
ERROR = (0.97, 0.45, 0.42)
RAISED = (0.150, 0.165, 0.190)
WHITE = (1.0, 1.0, 1.0)

# Lengths are in units of the window on a plain screen.
ROOM = 10.0  # between panels and the window's edge
SIDE_WIDTH = 300.0  # of the panel at the left
INSPECTOR_WIDTH = 400.0  # of the one at the right, at first
STATUS = 24.0  # height of the line at the bottom
MIN_FREE = 220.0  # a narrower gap between panels is none
MIN_WINDOW = (220.0, 140.0)  # below this the panels would hide the whole picture
MIN_SCALE = 0.5
FIXED = (  # windows that stay where they are
    imgui.WindowFlags_.no_title_bar
    | imgui.WindowFlags_.no_resize
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
)
SIZES = {"text": 15.0, "strong": 18.0, "numbers": 14.0}  # of the fonts

# Shipped with imgui-bundle: Roboto (Apache License 2.0) and Inconsolata (SIL Open Font License 1.1).
_FONTS = {"text": "Roboto/Roboto-Regular.ttf", "strong": "Roboto/Roboto-Bold.ttf", "numbers": "Inconsolata-Medium.ttf"}


_COLORS: dict[str, Color] = {  # of widgets, by the names of `imgui.Col_`
    "text": (*TEXT, 1.0),
    "text_disabled": (*DIM, 1.0),
    "text_link": (*ACCENT, 1.0),
    "text_selected_bg": (*ACCENT, 0.35),
    "window_bg": (*GROUND, 0.93),
    "child_bg": (*WHITE, 0.0),
    "popup_bg": (*GROUND, 0.98),
    "border": (*WHITE, 0.09),
    "border_shadow": (*WHITE, 0.0),
    "frame_bg": (*RAISED, 1.0),
    "frame_bg_hovered": (0.195, 0.215, 0.245, 1.0),
    "frame_bg_active": (0.225, 0.250, 0.285, 1.0),
    "title_bg": (*GROUND, 0.98),
    "title_bg_active": (0.115, 0.127, 0.148, 1.0),
    "title_bg_collapsed": (*GROUND, 0.85),
    "button": (0.185, 0.205, 0.235, 1.0),
    "button_hovered": (0.235, 0.260, 0.295, 1.0),
    "button_active": (*ACCENT, 0.75),
    "header": (*WHITE, 0.055),
    "header_hovered": (*WHITE, 0.10),
    "header_active": (*ACCENT, 0.45),
    "check_mark": (*ACCENT, 1.0),
    "slider_grab": (*ACCENT, 0.65),
    "slider_grab_active": (*ACCENT, 1.0),
    "separator": (*WHITE, 0.09),
    "separator_hovered": (*ACCENT, 0.5),
    "separator_active": (*ACCENT, 0.8),
    "scrollbar_bg": (*WHITE, 0.0),
    "scrollbar_grab": (*WHITE, 0.13),
    "scrollbar_grab_hovered": (*WHITE, 0.20),
    "scrollbar_grab_active": (*ACCENT, 0.7),
    "resize_grip": (*WHITE, 0.05),
    "resize_grip_hovered": (*ACCENT, 0.5),
    "resize_grip_active": (*ACCENT, 0.8),
    "plot_histogram": (*ACCENT, 1.0),
    "table_header_bg": (0.135, 0.148, 0.172, 1.0),
    "table_border_light": (*WHITE, 0.05),
    "table_border_strong": (*WHITE, 0.09),
    "table_row_bg_alt": (*WHITE, 0.025),
    "nav_cursor": (*ACCENT, 0.6),
}


def apply(scale: float) -> None:
    """Set style and fonts of the current context, once and again whenever the screen's ``scale`` changes.

    To be called where no panel is open. scale : size of text and widgets against a plain screen, 2 on a dense one.
    """
    fresh = imgui.get_io().font_default is None
    if fresh:
        _load()
        if implot.get_current_context() is None:
            implot.create_context()
    if fresh or imgui.get_style().font_scale_dpi != np.float32(scale):
        _style(scale)


def units(length: float) -> float:
    """A length on a plain screen, in this one's units."""
    return length * imgui.get_style().font_scale_dpi


def _load() -> None:
    """The fonts, in their order; ImGui's own for one that is not there."""
    folder, fonts = FOLDER / "assets" / "fonts", imgui.get_io().fonts
    for name, file in _FONTS.items():
        path = folder / file
        fonts.add_font_from_file_ttf(str(path), SIZES[name]) if path.exists() else fonts.add_font_default()
    imgui.get_io().font_default = _face("text")


def _style(scale: float) -> None:
    style, plain = imgui.get_style(), imgui.Style()
    for name in dir(plain):  # an earlier scale goes
        if not callable(getattr(plain, name)) and not name.startswith("__"):
            setattr(style, name, getattr(plain, name))
    for name in ("window", "frame", "grab", "popup", "child", "tab", "scrollbar", "image", "selectable", "menu_item"):
        setattr(style, f"{name}_rounding", 4.0)
    style.window_rounding = style.popup_rounding = 8.0
    style.window_padding, style.frame_padding = ImVec2(12, 10), ImVec2(8, 3)
    style.item_spacing, style.item_inner_spacing = ImVec2(8, 5), ImVec2(6, 4)
    style.cell_padding, style.indent_spacing = ImVec2(6, 2), 12.0
    style.scrollbar_size, style.grab_min_size = 10.0, 10.0
    style.window_border_size, style.popup_border_size, style.frame_border_size = 1.0, 1.0, 0.0
    style.separator_text_border_size, style.separator_text_padding = 1.0, ImVec2(0, 4)
    style.separator_size, style.tree_lines_size = 1.0, 1.0
    style.hover_delay_normal, style.disabled_alpha = 0.35, 0.42
    style.font_size_base, style.font_scale_dpi = SIZES["text"], scale
    for name, color in _COLORS.items():
        style.set_color_(imgui.Col_[name], ImVec4(*color))
    style.scale_all_sizes(scale)
    plot = implot.get_style()
    plot.plot_padding = ImVec2(6 * scale, 6 * scale)
    plot.label_padding = ImVec2(4 * scale, 4 * scale)


@contextmanager
def styled(**values: ImVec4 | ImVec2 | float) -> Iterator[None]:
    """Items in another style: colours, by the names of `imgui.Col_`, and variables, by those of `imgui.StyleVar_`."""
    colors = {name: value for name, value in values.items() if isinstance(value, ImVec4)}
    variables = {name: value for name, value in values.items() if not isinstance(value, ImVec4)}
    for name, value in colors.items():
        imgui.push_style_color(imgui.Col_[name], value)
    for name, variable in variables.items():
        imgui.push_style_var(imgui.StyleVar_[name], variable)
    yield
    imgui.pop_style_color(len(colors))
    imgui.pop_style_var(len(variables))


@contextmanager
def window(
    name: str,
    position: ImVec2,
    size: ImVec2 | None = None,
    pivot: tuple[float, float] = (0.0, 0.0),
    alpha: float | None = None,
    flags: int = FIXED,
) -> Iterator[bool]:
    """A window that the user does not move; gives whether its contents are drawn. pivot : the point of it, from 0 to 1,
    that is at the position. alpha : of its ground."""
    imgui.set_next_window_pos(position, imgui.Cond_.always, pivot)
    if size is not None:
        imgui.set_next_window_size(size)
    if alpha is not None:
        imgui.set_next_window_bg_alpha(alpha)
    yield bool(imgui.begin(name, None, flags)[0])
    imgui.end()


def _face(name: str) -> imgui.ImFont:
    """One of the fonts of the current ImGui context; it may have one of its own before them."""
    fonts = imgui.get_io().fonts.fonts
    return fonts[len(fonts) - len(_FONTS) + list(_FONTS).index(name)]


@contextmanager
def font(name: str) -> Iterator[None]:
    """Text in another face: text, strong or numbers."""
    imgui.push_font(_face(name), SIZES[name])
    yield
    imgui.pop_font()


def scale_of(content: float, framebuffer: float) -> float:
    """Size of text and widgets against a plain screen, from that of the window's content and pixels per unit."""
    return max(MIN_SCALE, content / max(1.0, framebuffer))


def panels_fit() -> bool:
    """Whether the window has room for panels."""
    size = imgui.get_io().display_size
    return bool(size.x >= units(MIN_WINDOW[0]) and size.y >= units(MIN_WINDOW[1]))


def free(left: bool, right: bool, wide: float | None = None) -> tuple[float, float]:
    """Where a window, ``wide`` or as drawn, is free of panels: the left and right end, for those that are open."""
    wide = imgui.get_io().display_size.x if wide is None else wide
    start = units(ROOM + SIDE_WIDTH) if left else 0.0
    end = wide - (units(ROOM + INSPECTOR_WIDTH) if right else 0.0)
    return (start, end) if end - start >= units(MIN_FREE) else (0.0, wide)


def narrow(wide: float) -> bool:
    """Whether a window is too narrow for a panel and a picture beside it: then panels cover the picture, one at a time,
    and messages stand below them."""
    return free(True, False, wide) == (0.0, wide)


def legible(rgb: tuple[int, int, int]) -> ImVec4:
    """An 8-bit colour, lightened where it is too dark for text on the ground (WCAG 2.1, 1.4.3: 4.5 to 1)."""
    values = [channel / 255 for channel in rgb]
    while _luminance(values) < 4.5 * (_luminance(list(GROUND)) + 0.05) - 0.05:
        values = [value + 0.1 * (1 - value) for value in values]
    red, green, blue = values
    return ImVec4(red, green, blue, 1.0)


def _luminance(values: list[float]) -> float:
    """Relative luminance of sRGB (WCAG 2.1)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def color(rgb: tuple[float, float, float], alpha: float = 1.0) -> ImVec4:
    """A colour for ImGui."""
    return ImVec4(*rgb, alpha)
