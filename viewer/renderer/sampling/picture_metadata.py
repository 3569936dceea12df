"""The facts of a picture: how it was made, and everything that its samples depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.version import __version__
from raystream.film.files.checkpoint import CONTENT, DRIVER, fingerprint
from raystream.film.film import Film
from raystream.options.declare import Affects
from raystream.options.table import OPTIONS
from raystream.renderer.device.tuning import tuned
from raystream.renderer.inputs.settings import VIEW
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import Picture
from raystream.scene.edits.materials import culls
from raystream.scene.exposure import key_count
from raystream.stream.machines.counters import Stats


def picture(
    renderer: RendererParts, linear: NDArray[np.float32], film: Film | None, stats: Stats, reason: str, seconds: float
) -> Picture:
    """A picture (H, W, 3) with its film, if it has one, and all facts of how it was made.

    reason : the rule that has ended it. seconds : that it took.
    """
    facts: dict[str, Any] = {"size": f"{linear.shape[1]}x{linear.shape[0]}", **picture_facts(renderer)}
    if film is None:
        facts["samples"] = 1  # at the pixels' centres, whatever --spp says
    else:
        facts |= {"samples": _samples(film), "stopped by": reason or "nothing yet"}
        if np.isfinite(error := film.error()):
            facts["estimated error"] = f"{error:.3g}"
    stats.facts = {**facts, "seconds": seconds}
    result = Picture(linear, {}, stats, {key: str(value) for key, value in facts.items()}, film)
    if film is not None:
        result.depends = sample_settings(renderer)
        result.photon_remark = renderer.photon_map.remark(renderer.settings)
        result.own_lights = renderer.settings.environment is None and renderer.prepared.lighting.own_alone
    return result


def _samples(film: Film) -> int | str:
    """The samples of every pixel; of an adaptive picture the mean of all pixels, and from where to where."""
    fewest, most = int(film.count.min()), int(film.count.max())
    if film.sample_budget is None or fewest == most:
        return fewest
    return f"{film.count.mean(dtype=np.float64):.1f} ({fewest} to {most})"


def _keys(renderer: RendererParts) -> int:
    """Number of motion keys while the shutter is open; 1: nothing moves."""
    return max(key_count(renderer.prepared.scene), len(renderer.camera.motion))


def sampling_facts(renderer: RendererParts) -> dict[str, str]:
    """The settings that samples depend on, as texts: all of the program that affect samples, but for the view."""
    settings = renderer.settings
    decided = {
        **settings.decided,
        "offsets": "sample" if renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared else "pixel",
        "light_candidates": renderer.prepared.light_candidates(settings),
        "light_sampler": "tree" if renderer.prepared.light_tree(settings) else "power",
    }
    facts = {}
    for name, value in settings.items():
        option = OPTIONS[name]
        shapes = option.affects in (Affects.UNIFORMS, Affects.PROGRAM) and name not in (*VIEW, "program")
        if shapes and settings.picture_program.uses(name):
            if (name, decided.get(name)) in (("light_candidates", 1), ("light_sampler", "power")):
                continue  # as before it was an option
            if option.scope.added and value == option.value.default:
                continue
            facts[name] = str(decided.get(name, value))
    lighting = renderer.prepared.lighting
    background = {} if lighting.backdrop is None else {"background": lighting.backdrop.text}
    return {**facts, "environment": lighting.environment.name, **background}


def sample_settings(renderer: RendererParts) -> dict[str, str]:
    """Everything that a sample depends on, beside pixel and number: a resumed picture must agree in it."""
    camera, built = renderer.camera, renderer.prepared.structure_options
    return {
        "scene": renderer.prepared.scene.name,
        "program": renderer.settings.program,
        "camera": camera.text(),
        "fov": str(camera.fov),
        "lens": f"{camera.aperture} {camera.focus_distance}" if camera.aperture > 0 else "pinhole",
        **camera.facts,
        **({"camera motion": fingerprint(camera.motion)} if camera.motion else {}),
        **sampling_facts(renderer),
        "intersection": built.intersection + (f" {built.plane_slack}" if built.intersection == "planes" else ""),
        "levels": str(renderer.prepared.structure.levels),
        **({"back_faces": built.back_faces} if any(map(culls, renderer.prepared.scene.materials)) else {}),
        CONTENT: renderer.prepared.fingerprint,  # last: what a user has set is named first
    }


def picture_facts(renderer: RendererParts) -> dict[str, Any]:
    """A picture's metadata on its making; of a progressive program with all settings."""
    return {
        "raystream": __version__,
        "scene": renderer.prepared.scene.name,
        "triangles": int(renderer.prepared.starts[-1]),
        **tuned(renderer.settings, renderer.device.driver, renderer.device.software_form).facts(),
        "first_hits": renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode,
        "accel": renderer.prepared.structure.name,
        **renderer.prepared.structure.facts,
        "intersection": renderer.prepared.structure_options.intersection,
        "camera": renderer.camera.text(),
        "fov": renderer.camera.fov,
        **renderer.camera.facts,
        **({"motion keys": keys} if (keys := _keys(renderer)) > 1 else {}),
        "renderer": renderer.device.name,
        DRIVER: renderer.device.driver,
        **(sampling_facts(renderer) if renderer.progressive else {}),
    }
