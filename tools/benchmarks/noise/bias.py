"""Blur and bias of photon maps: errors against references by the number of samples.

Nearest-photon estimates share one map among all samples, as published (Purcell et al. 2003): samples remove the noise
of shadow rays and pixels, and leave the map's own noise and the blur of its discs. Progressive estimates have new
photons for every sample and smaller discs, so that their error keeps falling. For errors see `errors`; the bias is of
the whole picture's mean. Photons are those of ``--photons``; caustic photons are 16,384 in all cases, so that in the
ring, without others, the last two coincide. Radii are the defaults.
"""

from __future__ import annotations

from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.scenes import Absent, reference_picture

ABOUT = "photon mapping: errors of published and progressive estimates, by the number of samples"

SCENES = {"cornell": "cornell_gi_128", "metal_ring": "metal_ring_256"}
ESTIMATES: dict[str, dict[str, Any]] = {
    "progressive": {"estimate": "progressive"},
    "published, k = 50, 32,768 photons": {"estimate": "published"},
    "nearest, k = 50, 32,768 photons": {"estimate": "nearest"},
    "nearest, k = 500, 32,768 photons": {"estimate": "nearest", "nearest": 500},
    "nearest, k = 500, 262,144 photons": {"estimate": "nearest", "nearest": 500, "photons": 1 << 18},
}
SAMPLES = (1, 4, 16)
EDGE = 8  # pixels of a block


def run(options: Options) -> Result:
    """Measure everything."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": [], "scenes": {}}
    tables, counts = [], SAMPLES[: 2 if options.quick else None]
    for name, picture in list(SCENES.items())[: 1 if options.quick else None]:
        try:
            reference, scene, depth, _ = reference_picture(picture)
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        estimates: dict[str, dict[str, list[float]]] = {}
        for title, chosen in ESTIMATES.items():
            say(f"{name}: {title}")
            common: dict[str, Any] = {"program": "photon", "depth": depth, "photon_bounces": depth - 1}
            renderer = raystream.Renderer(scene, device=device, machine="singlepass", **common, **chosen)
            pictures = [renderer.render(reference.size, spp=samples).linear for samples in counts]
            estimates[title] = {"errors": [reference.error(linear, EDGE) for linear in pictures]}
            estimates[title]["bias"] = [reference.mean_error(linear) for linear in pictures]
            renderer.release()
        floor = reference.floor(EDGE)
        data["scenes"][name] = {"size": reference.size, "floor": floor, "samples": counts, "estimates": estimates}
        rows = [(n, *(100 * error for error in row["errors"]), 100 * row["bias"][-1]) for n, row in estimates.items()]
        note = (
            f"{reference.size[0]} x {reference.size[1]}: relative RMS error in luminance of the means of {EDGE} x "
            f"{EDGE} pixels, each by the reference's or a tenth of the picture's mean; last the error of the picture's "
            f"mean. The reference's own noise, {100 * floor:.2g} %, is taken off."
        )
        columns = ("estimate", *(f"{n} samples" for n in counts), "mean")
        tables.append(Table(f"{name}: errors in %", columns, rows, note))
    return Result(data, tables)
