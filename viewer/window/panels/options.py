"""Options as widgets, made from their declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raystream.options import table as options
from raystream.options.declare import Option, join_words
from raystream.options.values import PhotonFilter, PolicyChoice, Unroll
from raystream.programs import programs_with
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import PhotonMap
from raystream.viewport.context import ViewportContext
from raystream.window.bundle import imgui
from raystream.window.panels.inspector import draw_legend
from raystream.window.panels.theme import units
from raystream.window.panels.widgets import LABELS, about, fact, grouped, label, press, segments, shares, tip

MANY, MOST_TO_SLIDE = 100, 1 << 24  # values from which on a slider is logarithmic, and from which there is none
UNROLLS = ("auto", "1", "2", "4", "8", "16", "32", "64", "256")


def draw_part(context: ViewportContext, part: str, settings: Settings) -> None:
    """The widgets of a part's options that serve the program; greyed where others leave them nothing to decide."""
    for name in options.part(part):
        if settings.picture_program.uses(name):
            imgui.begin_disabled(not options.option(name).useful(settings))
            draw_option(context, name, settings.decided.get(name, settings[name]))
            imgui.end_disabled()


def draw_option(context: ViewportContext, name: str, current: Any) -> None:
    """The widget for an option by its declaration and its present value; a choice is requested."""
    option = options.option(name)
    if isinstance(current, PolicyChoice):
        _policy(context, current)
    elif isinstance(current, Unroll):
        _unroll(context, current)
    elif isinstance(current, bool):
        checkbox(context, name, current)
    elif option.value.choices:
        choice(context, name, current.name if isinstance(current, PhotonFilter) else current)
    elif option.help.slider is not None or isinstance(option.value.default, (int, float)):
        _number(context, option, current)
    else:
        _typed(context, name, current)


def choice(context: ViewportContext, name: str, current: str) -> None:
    """One of an option's words: side by side, or in a list where there is no room for that."""
    option = options.option(name)
    label(name.replace("_", " "))
    tip(option.about, about(context, f"{name}.next")[1])
    imgui.same_line(units(LABELS))
    needed = sum(imgui.calc_text_size(word).x + units(14) for word in option.value.choices)
    if needed < imgui.get_content_region_avail().x:
        chosen = segments(name, option.value.choices, current)
    else:
        imgui.set_next_item_width(-1)
        chosen = combo(name, list(option.value.choices), current)
    if chosen:
        context.scene_loader.set(**{name: chosen})


def checkbox(context: ViewportContext, name: str, current: bool) -> None:
    """An option that is on or off."""
    changed, on = imgui.checkbox(name, current)
    tip(options.option(name).about, about(context, f"{name}.toggle")[1])
    if changed:
        context.scene_loader.set(**{name: on})


def _number(context: ViewportContext, option: Option, current: float | None) -> None:
    """A number on a slider; of lengths one that is dragged, and of too many to slide over one that is typed."""
    low, high = option.help.slider or (option.value.low, option.value.high)
    label(option.name.replace("_", " "))
    kind, at = f"##{option.name}", current or 0
    shown = option.help.zero if option.help.zero and not at else ""
    if isinstance(option.value.default, float):
        changed, value = _real(context, option, float(at), low, high, shown or "%.4g")
    elif high - low > MOST_TO_SLIDE:
        changed, value = imgui.input_int(kind, int(at))
        changed = changed and low <= value <= high
    else:
        changed, value = whole(kind, int(at), int(low), int(high), shown)
    tip(option.about)
    if changed:  # an option that begins above 0 has none there
        nothing = value == 0 and option.value.low > 0
        context.scene_loader.set(**{option.name: None if nothing else value})


def _real(
    context: ViewportContext, option: Option, current: float, low: float, high: float, shown: str
) -> tuple[bool, float]:
    if option.help.slider is not None:
        return imgui.slider_float(f"##{option.name}", current, low, high, shown, imgui.SliderFlags_.always_clamp)
    assert context.view.controller is not None
    step = 1e-3 * context.view.controller.natural_speed
    return imgui.drag_float(f"##{option.name}", current, step, low, high, shown, imgui.SliderFlags_.always_clamp)


def slider(name: str) -> tuple[float, float]:
    """The ends of an option's slider."""
    ends = options.option(name).help.slider
    assert ends is not None
    return ends


def whole(name: str, current: int, low: int, high: int, shown: str = "") -> tuple[bool, int]:
    """A whole number on a slider, logarithmic where there are many."""
    flags = imgui.SliderFlags_.always_clamp | (imgui.SliderFlags_.logarithmic if high - low > MANY else 0)
    return imgui.slider_int(name, min(current, high), low, high, shown or "%d", flags)


def combo(name: str, values: list[str], current: str) -> str | None:
    """A list that folds out; the value that was chosen."""
    chosen = None
    if imgui.begin_combo(f"##{name}", current):
        for value in values:
            if imgui.selectable(value, value == current)[0]:
                chosen = value
        imgui.end_combo()
    return chosen


def choose(name: str, names: list[str], index: int, text: str) -> int | None:
    """A list that folds out, of names that need not differ; the index of the one that was chosen. ``index``: of the
    one on show, -1 for none, where ``text`` is shown."""
    shown = [f"{each}##{k}" for k, each in enumerate(names)]
    chosen = combo(name, shown, shown[index] if index >= 0 else text)
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
    chosen = combo("policy", list(option.value.choices), current.name)
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
    tip(options.option("unroll").help.text, about(context, "unroll.next")[1])
    if chosen:
        context.scene_loader.set(unroll=chosen)


def draw_photons(context: ViewportContext) -> None:
    """The panel of photon mapping: its options and the map's contents; greyed under programs without a map."""
    renderer = context.view.renderer
    if renderer is None:
        return
    settings = renderer.settings
    mapped = settings.picture_program.maps_photons
    if not mapped:
        there = (context.view.keymap.text(f"program.{name}") for name in programs_with(lambda each: each.maps_photons))
        imgui.text_disabled(f"for programs with a photon map, key {join_words(there)}")
    imgui.begin_disabled(not mapped)
    for name in options.part("photons"):
        imgui.begin_disabled(not options.option(name).useful(settings))
        draw_option(context, name, settings[name])
        imgui.end_disabled()
    wide, shown = shares(2), context.debug_views.photons
    press(context, "Points", "photons.points", wide, on=shown.points)
    imgui.same_line()
    press(context, "Cells", "photons.cells", wide, on=shown.cells)
    imgui.end_disabled()
    if mapped and renderer.photon_map.traced:
        for name, text in figures(renderer.photon_map):
            fact(name, text)
    if mapped and shown.cells and shown.legend is not None:
        draw_legend(shown.legend)


def figures(photon_map: PhotonMap) -> list[tuple[str, str]]:
    """A photon map's contents, by name."""
    grid = photon_map.grid
    if grid.buckets:
        cells = f"{grouped(grid.buckets)} buckets, edge {grid.cell[0]:.3g}"
    else:
        cells = " x ".join(map(str, grid.resolution))
    return [("stored", f"{grouped(photon_map.stored)}, {grouped(photon_map.sent)} traced"), ("cells", cells)]
