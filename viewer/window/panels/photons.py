"""The panel of photon mapping: its options, made from their declarations, and what the map holds."""

from __future__ import annotations

from typing import Any

from imgui_bundle import imgui

from viewer.options.declare import Option
from viewer.options.photons import PHOTONS
from viewer.renderer.photon_map.photon_map import PhotonMaps
from viewer.viewport.context import ViewportContext
from viewer.window.panels.inspector import draw_legend
from viewer.window.panels.options import draw_option
from viewer.window.panels.widgets import fact, grouped, label, press, shares, tip

MANY = 100  # values from which on a slider is logarithmic
# Options -> another option, and its values that have no use for them.
UNUSED = {
    **dict.fromkeys(("nearest", "photon_grid"), ("estimate", ("progressive",))),
    **dict.fromkeys(("footprint", "redistribution", "photon_points"), ("photon_map", ("sort",))),
}


def draw_photons(context: ViewportContext) -> None:
    """Greyed under other programs."""
    renderer = context.view.renderer
    if renderer is None:
        return
    settings = renderer.settings
    mapped = settings.program == "photon"
    if not mapped:
        imgui.text_disabled(f"for program photon, key {context.view.keymap.text('program.photon')}")
    imgui.begin_disabled(not mapped)
    for option in PHOTONS:
        decides, without = UNUSED.get(option.name, ("estimate", ()))
        imgui.begin_disabled(settings[decides] in without)
        _draw(context, option, settings[option.name])
        imgui.end_disabled()
    wide, shown = shares(2), context.debug_views.photons
    press(context, "Points", "photons.points", wide, on=shown.points)
    imgui.same_line()
    press(context, "Cells", "photons.cells", wide, on=shown.cells)
    imgui.end_disabled()
    if mapped and renderer.photon_maps is not None:
        for name, text in figures(renderer.photon_maps):
            fact(name, text)
    if mapped and shown.cells and shown.legend is not None:
        draw_legend(shown.legend)


def figures(maps: PhotonMaps) -> list[tuple[str, str]]:
    """What a photon map holds, by name."""
    grid = maps.grid
    if grid.buckets:
        cells = f"{grouped(grid.buckets)} buckets, edge {grid.cell[0]:.3g}"
    else:
        cells = " x ".join(map(str, grid.resolution))
    return [("stored", f"{grouped(maps.stored)}, {grouped(maps.sent)} traced"), ("cells", cells)]


def _draw(context: ViewportContext, option: Option, current: Any) -> None:
    """A slider for a whole number in a range, what can be dragged for another one; else as everywhere."""
    number = option.low is not None and option.high is not None and not option.choices
    if not number or not isinstance(current, (int, float)) or isinstance(current, bool):
        draw_option(context, option.name, current)
        return
    assert option.low is not None and option.high is not None
    label(option.name.replace("_", " ").removeprefix("photon "))
    flags = imgui.SliderFlags_.always_clamp
    value: int | float
    if isinstance(option.default, int):
        if option.high - option.low > MANY:
            flags |= imgui.SliderFlags_.logarithmic
        low, high = int(option.low), int(option.high)
        changed, value = imgui.slider_int(f"##{option.name}", int(current), low, high, "%d", flags)
    else:
        assert context.view.controller is not None
        step = 1e-3 * context.view.controller.natural_speed
        text = "%.4g" if current else "automatic"
        changed, value = imgui.drag_float(f"##{option.name}", current, step, option.low, option.high, text, flags)
    tip(option.about)
    if changed:
        context.scene_loader.set(**{option.name: value})
