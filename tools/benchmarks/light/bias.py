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
    for name, picture in list(SCENES.items())[: 1 if options.quick else None]:
        try:
            reference, scene, depth = reference_picture(picture)
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        rows = {}
        for title, chosen in ESTIMATES.items():
            say(f"{name}: {title}")
            common: dict[str, Any] = {"program": "photon", "depth": depth, "photon_bounces": depth - 1}
            renderer = raystream.Renderer(scene, device=device, machine="singlepass", **common, **chosen)
            row: dict[str, list[float]] = {"samples": [], "errors": [], "bias": []}
            for samples in SAMPLES[: 2 if options.quick else None]:
                linear = renderer.render(reference.size, spp=samples).linear
                row["samples"].append(samples)
                row["errors"].append(reference.error(linear, EDGE))
                row["bias"].append(reference.mean_error(linear))
            rows[title] = row
            renderer.release()
        data["scenes"][name] = {"size": reference.size, "floor": reference.floor(EDGE), "estimates": rows}
    return Result(data, [_table(name, scene) for name, scene in data["scenes"].items()])


def _table(name: str, scene: dict[str, Any]) -> Table:
    rows = [
        (title, *(100 * error for error in row["errors"]), 100 * row["bias"][-1])
        for title, row in scene["estimates"].items()
    ]
    samples = next(iter(scene["estimates"].values()))["samples"]
    note = (
        f"{scene['size'][0]} x {scene['size'][1]}: relative RMS error in luminance of the means of {EDGE} x {EDGE} "
        "pixels, each by the reference's or a tenth of the picture's mean; last the error of the picture's mean. The "
        f"reference's own noise, {100 * scene['floor']:.2g} %, is taken off."
    )
    return Table(f"{name}: errors in %", ("estimate", *(f"{n} samples" for n in samples), "mean"), rows, note)
