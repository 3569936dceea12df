"""Instructions of the kernels of photon mapping, one iteration: table 6.2 of Purcell 2004 (Purcell et al. 2003, 2)."""

from __future__ import annotations

import raystream
from raystream.kernels.photons import ENTRY
from raystream.photons.grid import point_sources, sort_sources
from raystream.renderer.renderer import Renderer
from raystream.stream.analysis.instructions import Instructions, count, plain_source
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.gl.device import Device

MAPS = ("sort", "stencil")
ESTIMATE = ("shell", "cell", "photon")  # the states that are the published radiance estimate together
# The listing of figure 3 of Purcell et al. 2003 (figure 6.3 of Purcell 2004), by its names; what finds the partner's
# texel is in functions that are counted as addresses.
LISTED_SORT = """#version 330
uniform sampler2D list;
uniform float width, stage, offset, stepno;
out vec4 color;

float place_of(vec2 at) { return at.y * width + at.x; }
float place_of_sign(float elem1d) { return mod(elem1d, stage) < offset ? 1.0 : -1.0; }
float place_of_partner(float elem1d, float csign) { return elem1d + csign * offset; }
vec2 texel_of(float place) { return vec2(mod(place, width), floor(place / width)); }

void main() {
    vec2 at = floor(gl_FragCoord.xy);
    float elem1d = place_of(at);
    float csign = place_of_sign(elem1d);
    float cdir = mod(floor(elem1d / stepno), 2.0) == 0.0 ? 1.0 : -1.0;
    vec4 val0 = texelFetch(list, ivec2(at), 0);
    vec4 val1 = texelFetch(list, ivec2(texel_of(place_of_partner(elem1d, csign))), 0);
    vec4 cmin = val0.y < val1.y ? val0 : val1;
    vec4 cmax = val0.y > val1.y ? val0 : val1;
    color = csign == cdir ? cmin : cmax;
}
"""
FOOTPRINT = 4  # texels along the side of a cell's, of the published setting


def listed_sort() -> Instructions:
    """Of the published listing of a step of the sort, by our rules. Raises `NoCompiler`."""
    return count(LISTED_SORT)


def photon_instructions(device: Device) -> dict[str, Instructions]:
    """By the names of table 6.2; the parts of the estimates beside, as ``shell (sort)``: the next shell of cells, the
    next cell of it, the next photon.

    Raises `NoCompiler` without glslangValidator.
    """
    sources = dict(sort_sources())
    found = {
        "Bitonic Sort": count(plain_source(sources["sort"]).text),
        "Binary Search": count(plain_source(sources["search"]).text),
        "Stencil Routing": count(plain_source(point_sources("route_fragment", ENTRY, FOOTPRINT)[0]).text, "vert"),
    }
    for kind in MAPS:
        renderer = Renderer(
            raystream.load("glass_ball"), device=device, program="photon", estimate="published", photon_map=kind
        )
        linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings, True)
        whole = Instructions()
        for step in linked.steps("none"):
            if step.name in ESTIMATE:
                source = plain_source(fragment(linked, step, Form(scheduled=True), renderer.gpu_scene.resources))
                kernel = linked.program.by_name[step.name].kernel.name
                found[f"{step.name} ({kind})"] = each = count(source.text, "frag", kernel)
                whole = whole + each
        found[f"Rad. Estimate ({kind})"] = whole
        renderer.release()
    return found
