"""Instructions of the kernels of photon mapping, one iteration: table 6.2 of Purcell 2004 (Purcell et al. 2003, 2)."""

from __future__ import annotations

import viewer
from viewer.kernels.photons import ENTRY
from viewer.photons.routing import point_sources
from viewer.photons.sort import sort_sources
from viewer.renderer.renderer import Renderer
from viewer.stream.analysis.instructions import Instructions, count, plain
from viewer.stream.compile.form import Form
from viewer.stream.compile.generate import fragment
from viewer.stream.gl.device import Device

MAPS = ("sort", "stencil")
ESTIMATE = ("shell", "cell", "photon")  # the states that are the published radiance estimate together
FOOTPRINT = 4  # texels along the side of a cell's, of the published setting


def photon_instructions(device: Device) -> dict[str, Instructions]:
    """By the names of table 6.2; the parts of the estimates beside, as ``shell (sort)``: the next shell of cells, the
    next cell of it, the next photon.

    Raises `NoCompiler` without glslangValidator.
    """
    sources = dict(sort_sources())
    found = {
        "Bitonic Sort": count(plain(sources["sort"]).text),
        "Binary Search": count(plain(sources["search"]).text),
        "Stencil Routing": count(plain(point_sources("route_fragment", ENTRY, FOOTPRINT)[0]).text, "vert"),
    }
    for kind in MAPS:
        renderer = Renderer(
            viewer.load("glass_ball"), device=device, program="photon", estimate="published", photon_map=kind
        )
        linked = renderer.bind(renderer.program(), True)
        whole = Instructions()
        for step in linked.steps("none"):
            if step.name in ESTIMATE:
                source = plain(fragment(linked, step, Form(scheduled=True), renderer.resources))
                kernel = linked.program.by_name[step.name].kernel.name
                found[f"{step.name} ({kind})"] = each = count(source.text, "frag", kernel)
                whole = whole + each
        found[f"Rad. Estimate ({kind})"] = whole
        renderer.release()
    return found
