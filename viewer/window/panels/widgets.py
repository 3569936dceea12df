"""The few widgets that all panels share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from raystream.viewport.host import ViewerHost
from raystream.viewport.keymap import BY_NAME
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels.theme import ACCENT, color, font, styled, units
from raystream.window.window import GROUND

LABELS = 92.0  # width of the column of labels
MIN_LOGARITHMIC = 100  # whole numbers from which on a slider is logarithmic


def about(context: ViewerHost, action: str) -> tuple[str, str]:
    """An action's effect, and its hotkey; empty for an unknown one."""
    return (BY_NAME[action].help, context.view.keymap.text(action)) if action in BY_NAME else ("", "")


def press(
    context: ViewerHost, text: str, action: str, width: float = 0.0, on: bool = False, enabled: bool = True
) -> None:
    """A button that performs an action."""
    imgui.begin_disabled(not (enabled and context.view.actions.available(BY_NAME[action])))
    if button(f"{text}##{action}", on, width):
        context.view.actions.perform(action)
    imgui.end_disabled()
    tip(*about(context, action))


def row(context: ViewerHost, *buttons: tuple[Any, ...]) -> None:
    """Buttons of one width in a line, each (text, action, whether it is on, whether it is enabled), as of `press`."""
    width = shares(len(buttons))
    for index, (text, action, *state) in enumerate(buttons):
        if index:
            imgui.same_line()
        press(context, text, action, width, *state)


def slide(
    text: str, value: float, ends: tuple[float, float], form: str, about: str = "", name: str = "", *flags: int
) -> float | None:
    """A labelled slider; the value that it was moved to. about : its tooltip. name : of the item; empty: the text."""
    label(text)
    changed, value = imgui.slider_float(f"##{name or text}", value, *ends, form, *flags)
    tip(about)
    return value if changed else None


def drag(
    text: str,
    value: float,
    step: float,
    ends: tuple[float, float],
    form: str,
    about: str = "",
    name: str = "",
    *flags: int,
) -> float | None:
    """A labelled number that is dragged, ``step`` a pixel; as `slide`."""
    label(text)
    changed, value = imgui.drag_float(f"##{name or text}", value, step, *ends, form, *flags)
    tip(about)
    return value if changed else None


def whole(text: str, value: int, ends: tuple[int, int], about: str = "", name: str = "", form: str = "") -> int | None:
    """A labelled whole number on a slider, logarithmic where there are many; as `slide`."""
    label(text)
    many = imgui.SliderFlags_.logarithmic if ends[1] - ends[0] > MIN_LOGARITHMIC else 0
    flags = imgui.SliderFlags_.always_clamp | many
    changed, value = imgui.slider_int(f"##{name or text}", min(value, ends[1]), *ends, form or "%d", flags)
    tip(about)
    return value if changed else None


def folded(name: str, values: list[str], current: str) -> str | None:
    """A list that folds out; the value that was chosen."""
    chosen = None
    if imgui.begin_combo(f"##{name}", current):
        for value in values:
            if imgui.selectable(value, value == current)[0]:
                chosen = value
        imgui.end_combo()
    return chosen


def combo(text: str, values: list[str], current: str, about: str = "", key: str = "", name: str = "") -> str | None:
    """A labelled list that folds out, with its tooltip and hotkey; as `folded`."""
    label(text)
    chosen = folded(name or text, values, current)
    tip(about, key)
    return chosen


def choose(text: str, names: list[str], index: int, current: str, about: str = "", key: str = "") -> int | None:
    """As `combo`, of names that need not differ: the index of the one that was chosen. ``index``: of the one on show,
    -1 for none, where ``current`` is shown."""
    labels = [f"{item}##{k}" for k, item in enumerate(names)]
    chosen = combo(text, labels, labels[index] if index >= 0 else current, about, key)
    return None if chosen is None else labels.index(chosen)


def shares(count: int) -> float:
    """The width of each of ``count`` buttons in a row."""
    gap = imgui.get_style().item_spacing.x
    return max(1.0, (imgui.get_content_region_avail().x - gap * (count - 1)) / count)


def tip(text: str, key: str = "") -> None:
    """A tooltip for the last item, greyed ones too, with its hotkey."""
    flags = imgui.HoveredFlags_.for_tooltip | imgui.HoveredFlags_.allow_when_disabled
    if not text or not imgui.is_item_hovered(flags) or not imgui.begin_tooltip():
        return
    imgui.push_text_wrap_pos(units(340))
    imgui.text_unformatted(text)
    imgui.pop_text_wrap_pos()
    if key:
        imgui.text_colored(color(ACCENT), key)
    imgui.end_tooltip()


def label(text: str, width: float = LABELS) -> None:
    """A label in the left column; the next item fills the rest of the line, and gives way to a long label."""
    imgui.align_text_to_frame_padding()
    end = imgui.get_cursor_pos_x() + imgui.calc_text_size(text).x + imgui.get_style().item_inner_spacing.x
    imgui.text_disabled(text)
    imgui.same_line(max(units(width), end))
    imgui.set_next_item_width(-1)


def fact(name: str, value: str) -> None:
    """A line with a name at the left and a value at the right."""
    right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
    imgui.text_disabled(name)
    imgui.same_line()
    with font("numbers"):
        imgui.set_cursor_pos_x(max(imgui.get_cursor_pos_x(), right - imgui.calc_text_size(value).x))
        imgui.text_unformatted(value)


def segments(
    name: str,
    values: Sequence[str],
    current: str,
    texts: Sequence[str] = (),
    describe: Callable[[str], tuple[str, str]] = lambda value: ("", ""),
) -> str | None:
    """A row of buttons of which one is on, over the width that is left; the value that was clicked.

    describe : the tooltip of a value, and its hotkey.
    """
    chosen = None
    gap = units(2)
    all_wide = imgui.get_content_region_avail().x - gap * (len(values) - 1)
    wide = _widths([imgui.calc_text_size(text).x for text in texts or values], all_wide)
    imgui.push_id(name)
    # Texts are in the middle: padding would cut those that just fit.
    with styled(frame_padding=ImVec2(0, imgui.get_style().frame_padding.y)):
        for k, (value, text) in enumerate(zip(values, texts or values, strict=True)):
            if k:
                imgui.same_line(0, gap)
            if button(f"{text}##{value}", value == current, wide[k]):
                chosen = value
            tip(*describe(value))
    imgui.pop_id()
    return chosen


def _widths(needed: Sequence[float], room: float) -> list[float]:
    """Widths of buttons for texts of these widths: all alike, or where one would be cut and there is room for all,
    more for the longer."""
    alike = room / max(1, len(needed))
    spare = alike - sum(needed) / max(1, len(needed))
    if max(needed, default=0.0) <= alike or spare < 0:
        return [alike] * len(needed)
    return [width + spare for width in needed]


def button(text: str, on: bool = False, width: float = 0.0) -> bool:
    """A button; ``on`` shows it in the accent colour."""
    accent = {"button": color(ACCENT, 0.88), "button_hovered": color(ACCENT), "text": color(GROUND)} if on else {}
    with styled(**accent):
        return imgui.button(text, ImVec2(width, 0))


def grouped(number: float) -> str:
    """12345678 as 12 345 678."""
    return f"{round(number):,}".replace(",", " ")


def rate(per_second: float) -> str:
    """A number of samples, of one pixel each, per second."""
    return f"{per_second / 1e6:.2f} M samples/s" if per_second >= 1e4 else f"{per_second:.0f} samples/s"


def duration(seconds: float) -> str:
    """A time, as long as it needs."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h" if minutes >= 60 else f"{minutes}:{rest:02} min"


def noise(error: float) -> str:
    """An estimated relative error: a word where it is no number, of fewer than two samples, and where no sample
    differs from another, as in a black picture."""
    if not math.isfinite(error):
        return "unknown"
    return f"{100 * error:.3g} %" if error > 0 else "none"


def memory(size: float) -> str:
    """A number of bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} B"
