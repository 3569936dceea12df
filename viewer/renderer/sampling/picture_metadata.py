"""The metadata of a picture: how it was rendered, and all that its samples depend on."""

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
    """The picture of pixels ``linear`` (H, W, 3) with metadata. film : of progressive programs. reason : the rule that
    has ended the render. seconds : that it took."""
    facts: dict[str, Any] = {"size": f"{linear.shape[1]}x{linear.shape[0]}", **picture_facts(renderer)}
    if film is None:
        facts["samples"] = 1  # at the pixels' centres, whatever --spp says
    else:
        facts |= {"samples": _samples_text(film), "stopped by": reason or "nothing yet"}
        if np.isfinite(error := film.error()):
            facts["estimated error"] = f"{error:.3g}"
    stats.facts = {**facts, "seconds": seconds}
    result = Picture(linear, {}, stats, {key: str(value) for key, value in facts.items()}, film)
    if film is not None:
        result.depends = sample_settings(renderer)
        result.photon_remark = renderer.photon_map.remark(renderer.settings)
        result.own_lights = renderer.settings.environment is None and renderer.prepared.lighting.only_own_lights
    return result


def _samples_text(film: Film) -> int | str:
    """The number of samples of every pixel; of an adaptive picture a text with mean, minimum and maximum."""
    minimum, maximum = int(film.count.min()), int(film.count.max())
    if film.sample_budget is None or minimum == maximum:
        return minimum
    return f"{film.count.mean(dtype=np.float64):.1f} ({minimum} to {maximum})"


def _motion_key_count(renderer: RendererParts) -> int:
    """Number of motion keys while the shutter is open; 1: nothing moves."""
    return max(key_count(renderer.prepared.scene), len(renderer.camera.motion))


def sampling_settings(renderer: RendererParts) -> dict[str, str]:
    """The settings, as texts, that the program's samples depend on, without those of the view."""
    settings = renderer.settings
    resolved = {
        **settings.resolved_values,
        "offsets": "sample" if renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared else "pixel",
        "light_candidates": renderer.prepared.light_candidates(settings),
        "light_sampler": "tree" if renderer.prepared.light_tree(settings) else "power",
    }
    facts = {}
    for name, value in settings.items():
        option = OPTIONS[name]
        affects_samples = option.affects in (Affects.UNIFORMS, Affects.PROGRAM) and name not in (*VIEW, "program")
        if affects_samples and settings.picture_program.uses(name):
            if (name, resolved.get(name)) in (("light_candidates", 1), ("light_sampler", "power")):
                continue  # so that films from before the option was added can be resumed
            if option.scope.added and value == option.value.default:
                continue
            facts[name] = str(resolved.get(name, value))
    lighting = renderer.prepared.lighting
    background = {} if lighting.backdrop is None else {"background": lighting.backdrop.text}
    return {**facts, "environment": lighting.environment.name, **background}


def sample_settings(renderer: RendererParts) -> dict[str, str]:
    """All facts that a sample depends on but pixel and index: those of a resumed film must be equal."""
    camera, structure = renderer.camera, renderer.prepared.structure_options
    return {
        "scene": renderer.prepared.scene.name,
        "program": renderer.settings.program,
        "camera": camera.text(),
        "fov": str(camera.fov),
        "lens": f"{camera.aperture} {camera.focus_distance}" if camera.aperture > 0 else "pinhole",
        **camera.facts,
        **({"camera motion": fingerprint(camera.motion)} if camera.motion else {}),
        **sampling_settings(renderer),
        "intersection": structure.intersection
        + (f" {structure.plane_slack}" if structure.intersection == "planes" else ""),
        "levels": str(renderer.prepared.structure.levels),
        **({"back_faces": structure.back_faces} if any(map(culls, renderer.prepared.scene.materials)) else {}),
        CONTENT: renderer.prepared.fingerprint,  # last: of several differences an error names the first
    }


def picture_facts(renderer: RendererParts) -> dict[str, Any]:
    """The metadata of a renderer's pictures; for progressive programs with all settings of the samples."""
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
        **({"motion keys": keys} if (keys := _motion_key_count(renderer)) > 1 else {}),
        "renderer": renderer.device.name,
        DRIVER: renderer.device.driver,
        **(sampling_settings(renderer) if renderer.progressive else {}),
    }
