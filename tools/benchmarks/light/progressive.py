"""Progressive photon mapping: seconds until a picture's blocks are within an error of the reference, beside path
tracing. As in `converge`: pictures of 1, 2, 4 ... samples, each rendered from nothing; see `errors` for the error."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import Reference, middle
from benchmarks.noise.converge import FIRST_SEED, SEEDS, Climb, Limit
from benchmarks.noise.peers import Shot
from benchmarks.scenes import Absent, reference_picture
from raystream.renderer.renderer import Renderer

# Scene and reference, of `shared`/refs.
SCENES = {"glass_sphere": "glass_sphere_256", "metal_ring": "metal_ring_256", "cornell": "cornell_gi_128"}
EDGE = 8  # pixels of a block
LIMITS = (Limit(EDGE, 0.05), Limit(EDGE, 0.02))
BOUNCES = 12  # surfaces that a photon comes to
RENDERERS: dict[str, dict[str, Any]] = {
    "progressive photon mapping": {"program": "photon", "photon_bounces": BOUNCES},
    "path tracing": {"program": "path"},
}
ABOUT = "progressive photon mapping: seconds to an error of blocks, beside path tracing"
MOST_SAMPLES, MOST_SECONDS = 4096, 15.0


def run(options: Options) -> Result:
    """All scenes, with a line on missing ones."""
    data: dict[str, Any] = {"facts": facts(options.open()), "missing": [], "scenes": {}}
    rows: list[tuple[Any, ...]] = []
    for name, picture in list(SCENES.items())[: 1 if options.quick else None]:
        try:
            reference, scene, depth = reference_picture(picture)
        except Absent as error:
            data["missing"].append(str(error))
            continue
        found: dict[str, Any] = {}
        data["scenes"][name] = {"reference": picture, "floor": reference.floor(EDGE), "renderers": found}
        for title, choices in RENDERERS.items():
            common: dict[str, Any] = {"depth": depth, "machine": "multipass", "environment": "none"}
            renderer = Renderer(scene, device=options.open(), **common, **choices)
            renderer.render(reference.size, spp=1)
            climbs = []
            for seed in range(1 if options.quick else SEEDS):
                say(f"{name}: {title}, seed {seed + 1}")
                renderer.update(seed=FIRST_SEED + seed)
                climbs.append(_climb(renderer, reference, 2 if options.quick else MOST_SAMPLES))
            renderer.release()
            found[title] = [{**vars(climb), "mean": mean} for climb, mean in climbs]
            at = [[climb.at(limit) for climb, _ in climbs] for limit in LIMITS]
            reached = [middle([each[key] for each in limit]) for limit in at for key in ("seconds", "samples")]
            last, mean = climbs[0]
            rows.append((f"{name}: {title}", *reached, last.samples[-1], 100 * last.errors[EDGE][-1], 100 * mean))
    heads = [f"{what} {100 * limit.error:g} %" for limit in LIMITS for what in ("s to", "samples to")]
    note = (
        f"Relative RMS error in luminance of the means of {EDGE} x {EDGE} pixels, median of the seeds, machine "
        "multipass; the last columns are of the first seed's last picture, the error of its mean with its sign. -: not "
        f"reached by a picture of {MOST_SECONDS:g} s or {MOST_SAMPLES} samples."
    )
    columns = ("scene", *heads, "samples", "error %", "mean %")
    return Result(data, [Table("seconds to an error of blocks", columns, rows, note)])


def _climb(renderer: Renderer, reference: Reference, most: int) -> tuple[Climb, float]:
    """Double the samples until all limits are met, or the time is up; and the signed error of the last mean."""
    climb, samples, mean = Climb(), 1, 0.0
    while samples <= most and not (climb.seconds and (climb.within(LIMITS) or climb.seconds[-1] > MOST_SECONDS)):
        wall, cpu = time.perf_counter(), time.process_time()
        picture = renderer.render(reference.size, spp=samples).linear
        climb.add(Shot(picture, samples, time.perf_counter() - wall, time.process_time() - cpu), reference)
        mean = reference.mean_error(picture)
        samples *= 2
    return climb, mean
