"""Progressive photon mapping: seconds until a picture's blocks are within an error of the reference, beside path
tracing. As in `converge`: pictures of 1, 2, 4 ... samples, each rendered from nothing; see `errors` for the error."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import Reference, crossing, middle
from benchmarks.scenes import Absent, reference_picture
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device

# Scene and reference, of `shared`/refs.
SCENES = {"glass_sphere": "glass_sphere_256", "metal_ring": "metal_ring_256", "cornell": "cornell_gi_128"}
EDGE, LIMITS = 8, (0.05, 0.02)  # pixels of a block; relative errors
BOUNCES = 12  # surfaces that a photon comes to
RENDERERS: dict[str, dict[str, Any]] = {
    "progressive photon mapping": {"program": "photon", "photon_bounces": BOUNCES},
    "path tracing": {"program": "path"},
}
ABOUT = "progressive photon mapping: seconds to an error of blocks, beside path tracing"
SEEDS, FIRST_SEED = 3, 1000  # references have small seeds
MOST_SAMPLES, MOST_SECONDS = 4096, 15.0


@dataclass
class Climb:
    """One seed: pictures of increasing sample counts. means : the signed error of the whole picture's mean."""

    samples: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)


def run(options: Options) -> Result:
    """All scenes, with a line on missing ones."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": []}
    try:
        data["errors"] = measure(device, options.quick)
    except Absent as error:
        data["missing"].append(str(error))
        data["errors"] = {}
    return Result(data, tables(data["errors"]))


def measure(device: Device, quick: bool) -> dict[str, Any]:
    """By scene and renderer. Raises Absent for a missing scene or reference."""
    out: dict[str, Any] = {}
    for name, picture in SCENES.items():
        if quick and name != "glass_sphere":
            continue
        reference, scene, depth = reference_picture(picture)
        out[name] = {"reference": picture, "size": reference.size, "floor": reference.floor(EDGE), "renderers": {}}
        for title, choices in RENDERERS.items():
            renderer = Renderer(scene, device=device, depth=depth, machine="multipass", environment="none", **choices)
            renderer.render(reference.size, spp=1)
            climbs = []
            for seed in range(1 if quick else SEEDS):
                say(f"{name}: {title}, seed {seed + 1}")
                renderer.update(seed=FIRST_SEED + seed)
                climbs.append(_climb(renderer, reference, 2 if quick else MOST_SAMPLES))
            out[name]["renderers"][title] = {
                "limits": {
                    str(limit): {
                        "seconds": middle([crossing(c.seconds, c.errors, limit) for c in climbs]),
                        "samples": middle([crossing(c.samples, c.errors, limit) for c in climbs]),
                    }
                    for limit in LIMITS
                },
                "climbs": [vars(climb) for climb in climbs],
            }
            renderer.release()
    return out


def _climb(renderer: Renderer, reference: Reference, most: int) -> Climb:
    """Double the samples until the last limit is met, or the time is up."""
    climb, samples = Climb(), 1
    while samples <= most:
        if climb.seconds and (climb.errors[-1] <= LIMITS[-1] or climb.seconds[-1] > MOST_SECONDS):
            break
        began = perf_counter()
        picture = renderer.render(reference.size, spp=samples).linear
        climb.seconds.append(perf_counter() - began)
        climb.samples.append(samples)
        climb.errors.append(reference.error(picture, EDGE))
        climb.means.append(reference.mean_error(picture))
        samples *= 2
    return climb


def tables(data: dict[str, Any]) -> list[Table]:
    """One table: seconds and samples to the errors, and the final errors."""
    rows = []
    for name, scene in data.items():
        for title, row in scene["renderers"].items():
            last = row["climbs"][0]
            reached = [row["limits"][str(limit)][key] for limit in LIMITS for key in ("seconds", "samples")]
            final = (last["samples"][-1], 100 * last["errors"][-1], 100 * last["means"][-1])
            rows.append((f"{name}: {title}", *reached, *final))
    heads = [f"{what} {100 * limit:g} %" for limit in LIMITS for what in ("s to", "samples to")]
    note = (
        f"Relative RMS error in luminance of the means of {EDGE} x {EDGE} pixels, median of the seeds, machine "
        "multipass; the last columns are of the first seed's last picture, the error of its mean with its sign. -: not "
        f"reached by a picture of {MOST_SECONDS:g} s or {MOST_SAMPLES} samples."
    )
    columns = ("scene", *heads, "samples", "error %", "mean %")
    return [Table("seconds to an error of blocks", columns, rows, note)] if rows else []
