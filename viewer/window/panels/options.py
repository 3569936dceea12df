"""Options as widgets, made from their declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from imgui_bundle import imgui

from viewer.options import table as options
from viewer.options.values import PhotonFilter, PolicyChoice, Unroll
from viewer.viewport.context import ViewportContext
from viewer.window.panels.theme import units
from viewer.window.panels.widgets import LABELS, about, label, segments, tip

UNROLLS = ("auto", "1", "2", "4", "8", "16", "32", "64", "256")


def draw_option(context: ViewportContext, name: str, current: Any) -> None:
    """The widget for an option by its declaration and its present value; what is chosen is asked for."""
    if isinstance(current, PolicyChoice):
        _policy(context, current)
    elif isinstance(current, Unroll):
        _unroll(context, current)
    elif isinstance(current, bool):
        checkbox(context, name, current)
    elif options.option(name).choices:
        choice(context, name, current.name if isinstance(current, PhotonFilter) else current)
    else:
        _typed(context, name, current)


def choice(context: ViewportContext, name: str, current: str, fold: bool = True) -> None:
    """One of an option's words: side by side, or with ``fold`` in a list where there is no room for that."""
    option = options.option(name)
    label(name.replace("_", " "))
    tip(option.about, about(context, f"{name}.next")[1])
    imgui.same_line(units(LABELS))
    room = imgui.get_content_region_avail().x / len(option.choices) - units(8)
    if not fold or all(imgui.calc_text_size(word).x < room for word in option.choices):
        chosen = segments(name, option.choices, current)
    else:
        imgui.set_next_item_width(-1)
        chosen = combo(name, list(option.choices), current)
    if chosen:
        context.scene_loader.set(**{name: chosen})


def checkbox(context: ViewportContext, name: str, current: bool) -> None:
    """An option that is on or off."""
    changed, on = imgui.checkbox(name, current)
    tip(options.option(name).about, about(context, f"{name}.toggle")[1])
    if changed:
        context.scene_loader.set(**{name: on})


def slider(
    context: ViewportContext, name: str, current: int, low: int, high: int, text: str = "", none: str = ""
) -> int | None:
    """A whole number on a slider; logarithmic where there are many. The number that was chosen, if one was.

    text : the tooltip, else the help of the option of that name. none : stands for 0.
    """
    label(name)
    flags = imgui.SliderFlags_.always_clamp | (imgui.SliderFlags_.logarithmic if high > 1000 else 0)
    shown = none if none and not current else "%d"
    changed, value = imgui.slider_int(f"##{name}", min(current, high), low, high, shown, flags)
    tip(text or options.option(name).about)
    if changed:
        context.view.wake()
    return value if changed else None


def combo(name: str, values: list[str], current: str) -> str | None:
    """A list that folds out; the value that was chosen."""
    chosen = None
    if imgui.begin_combo(f"##{name}", current):
        for value in values:
            if imgui.selectable(value, value == current)[0]:
                chosen = value
        imgui.end_combo()
    return chosen


def choose(name: str, names: list[str], number: int, text: str) -> int | None:
    """A list that folds out, of names that need not differ; the number of the one that was chosen. ``number``: of the
    one on show, -1 for none, where ``text`` is shown."""
    shown = [f"{each}##{k}" for k, each in enumerate(names)]
    chosen = combo(name, shown, shown[number] if number >= 0 else text)
    return None if chosen is None else shown.index(chosen)


def _typed(context: ViewportContext, name: str, current: Any) -> None:
    """An option that is typed; Enter takes it."""
    option = options.option(name)
    label(name.replace("_", " "))
    flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
    entered, text = imgui.input_text(f"##{name}", str(current), flags)
    tip(f"{option.about}: {option.expected()}", about(context, f"{name}.next")[1])
    if entered:
        context.scene_loader.set(**{name: text.strip()})


def _policy(context: ViewportContext, current: PolicyChoice) -> None:
    option = options.option("policy")
    label("policy")
    chosen = combo("policy", list(option.choices), current.name)
    tip(option.about, about(context, "policy.next")[1])
    if chosen:
        context.scene_loader.set(policy=replace(current, name=chosen))
    if current.name != "threshold":
        return
    label("share")
    changed, percent = imgui.slider_float("##share", 100 * current.share, 1, 100, "%.0f %%")
    if changed:
        context.scene_loader.set(policy=replace(current, share=min(1.0, max(0.01, round(percent) / 100))))
    label("of the rays")
    chosen = segments("of", ("active", "all"), current.of, ("in the loop", "all"))
    if chosen:
        context.scene_loader.set(policy=replace(current, of=chosen))


def _unroll(context: ViewportContext, current: Unroll) -> None:
    label("unroll")
    chosen = combo("unroll", list(UNROLLS), str(current))
    tip(options.option("unroll").help, about(context, "unroll.next")[1])
    if chosen:
        context.scene_loader.set(unroll=chosen)
