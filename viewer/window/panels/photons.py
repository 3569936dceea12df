"""The panel of photon mapping: its options, made from their declarations, and the map's contents."""

from __future__ import annotations

from viewer.options import table as options
from viewer.options.declare import listed
from viewer.programs import programs_with
from viewer.renderer.photon_map.photon_map import PhotonMap
from viewer.viewport.context import ViewportContext
from viewer.window.bundle import imgui
from viewer.window.panels.inspector import draw_legend
from viewer.window.panels.options import draw_option
from viewer.window.panels.widgets import fact, grouped, press, shares


def draw_photons(context: ViewportContext) -> None:
    """Greyed under other programs."""
    renderer = context.view.renderer
    if renderer is None:
        return
    settings = renderer.settings
    mapped = settings.picture_program.maps_photons
    if not mapped:
        there = (context.view.keymap.text(f"program.{name}") for name in programs_with(lambda each: each.maps_photons))
        imgui.text_disabled(f"for programs with a photon map, key {listed(there)}")
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


def figures(made: PhotonMap) -> list[tuple[str, str]]:
    """A photon map's contents, by name."""
    grid = made.grid
    if grid.buckets:
        cells = f"{grouped(grid.buckets)} buckets, edge {grid.cell[0]:.3g}"
    else:
        cells = " x ".join(map(str, grid.resolution))
    return [("stored", f"{grouped(made.stored)}, {grouped(made.sent)} traced"), ("cells", cells)]
