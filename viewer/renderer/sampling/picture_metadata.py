"""The facts of a picture: how it was made, and everything that its samples depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.base.version import __version__
from viewer.film.files.checkpoint import CONTENT, DRIVER
from viewer.film.film import Film
from viewer.options.declare import Affects
from viewer.options.photons import PHOTONS
from viewer.options.table import OPTIONS
from viewer.renderer.inputs.settings import VIEW
from viewer.renderer.sampling.picture import Picture
from viewer.renderer.sampling.sampler import Tracer
from viewer.scene.edits.culling import culls
from viewer.stream.machines.counters import Stats

MAPPED = tuple(option.name for option in PHOTONS)  # of no meaning to other programs
# Options that older files do not tell of.
LATER = (
    *("environment_rotation", "eye_rays", "light_samples", "photon_map", "photon_grid", "footprint", "redistribution"),
    *("photon_filter", "final_gather"),
)


def picture(
    tracer: Tracer, linear: NDArray[np.float32], film: Film | None, stats: Stats, reason: str, seconds: float
) -> Picture:
    """A picture (H, W, 3) with its film, if it has one, and all facts of how it was made.

    reason : the rule that has ended it. seconds : that it took.
    """
    facts: dict[str, Any] = {"size": f"{linear.shape[1]}x{linear.shape[0]}", **picture_facts(tracer)}
    if film is None:
        facts["samples"] = 1  # at the pixels' centres, whatever --spp says
    else:
        facts |= {"samples": _samples(film), "stopped by": reason or "nothing yet"}
        if np.isfinite(error := film.error()):
            facts["estimated error"] = f"{error:.3g}"
    stats.facts = {**facts, "seconds": seconds}
    made = Picture(linear, {}, stats, {key: str(value) for key, value in facts.items()}, film)
    if film is not None:
        made.depends = sample_settings(tracer)
        made.photon_remark = tracer.photon_remark()
        made.own_lights = tracer.settings.environment is None and tracer.prepared.lighting.listed.lit
    return made


def _samples(film: Film) -> int | str:
    """Of every pixel; of an adaptive picture the mean of all pixels, and from where to where."""
    fewest, most = int(film.count.min()), int(film.count.max())
    if film.sample_budget is None or fewest == most:
        return fewest
    return f"{film.count.mean(dtype=np.float64):.1f} ({fewest} to {most})"


def sampling_facts(tracer: Tracer) -> dict[str, str]:
    """The settings that samples depend on, as texts: all options that affect what a sample is, but for the view."""
    settings = tracer.settings
    decided = {
        "depth": settings.max_depth,
        "roulette": settings.roulette_from,
        "offsets": "sample" if tracer.first_hits.shared else "pixel",
        "light_candidates": tracer.prepared.light_candidates(settings),
        "light_sampler": "tree" if tracer.prepared.light_tree(settings) else "power",
    }
    found = {}
    for name, value in settings.items():
        option = OPTIONS[name]
        if option.affects in (Affects.UNIFORMS, Affects.PROGRAM) and name not in (*VIEW, "program"):
            if (name, decided.get(name)) in (("light_candidates", 1), ("light_sampler", "power")):
                continue  # as before it was an option
            if name in LATER and value == option.default:
                continue  # files from before it was told apart
            if name in MAPPED and settings.program != "photon":
                continue
            found[name] = str(decided.get(name, value))
    return {**found, "environment": tracer.prepared.lighting.environment.name}


def sample_settings(tracer: Tracer) -> dict[str, str]:
    """Everything that a sample depends on, beside pixel and number: what a picture to be resumed must agree in."""
    camera, recipe = tracer.camera, tracer.prepared.recipe
    return {
        "scene": tracer.scene.name,
        "program": tracer.settings.program,
        "camera": camera.text(),
        "fov": str(camera.fov),
        "lens": f"{camera.aperture} {camera.focus_distance}" if camera.aperture > 0 else "pinhole",
        **sampling_facts(tracer),
        "intersection": recipe.intersection + (f" {recipe.plane_slack}" if recipe.intersection == "planes" else ""),
        "levels": str(tracer.structure.levels),
        **({"back_faces": recipe.back_faces} if any(map(culls, tracer.scene.materials)) else {}),
        CONTENT: tracer.prepared.fingerprint,  # last: what a user has set is named first
    }


def picture_facts(tracer: Tracer) -> dict[str, Any]:
    """What a picture says of how it was made; of a progressive program with all settings."""
    return {
        "raystream": __version__,
        "scene": tracer.scene.name,
        "triangles": int(tracer.prepared.starts[-1]),
        **tracer.settings.facts(),
        "first_hits": tracer.first_hits.mode,
        "accel": tracer.structure.name,
        **tracer.structure.facts,
        "intersection": tracer.prepared.recipe.intersection,
        "camera": tracer.camera.text(),
        "fov": tracer.camera.fov,
        "renderer": tracer.device.name,
        DRIVER: tracer.device.driver,
        **(sampling_facts(tracer) if tracer.progressive else {}),
    }
