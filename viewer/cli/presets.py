"""Settings of the papers, by year: the defaults of ``--preset`` for options that are not given."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from raystream.base.errors import duration
from raystream.options.table import OPTIONS
from raystream.options.values import PolicyChoice, Unroll

# The published machine, and the path tracer as it ran there: T. J. Purcell, I. Buck, W. R. Mark, P. Hanrahan, "Ray
# Tracing on Programmable Graphics Hardware" (2002), sections 3.1.4, 3.2 and table 3; T. J. Purcell, *Ray Tracing on a
# Stream Processor* (2004), sections 3.3 and 4.1.2, figure 3.3. One eye ray for each pixel, whose hit its 64 samples
# share; from there on light is found by scattering alone, with random numbers from a texture.
_MACHINE: dict[str, Any] = {
    **{"first_hits": "rays", "sampler": "table", "seed": 0, "accel": "grid", "intersection": "moller-trumbore"},
    **{"machine": "multipass", "fuse": "none", "unroll": Unroll((1,)), "mask": "depth", "count": "query"},
    **{"roulette": None, "exposure": 0.0, "tonemap": "none", "denoise": "none"},
}
_PUBLISHED: dict[str, Any] = {
    **_MACHINE,
    **{"program": "path", "size": (256, 256), "spp": 64, "eye_rays": "shared", "strategy": "bsdf"},
    "policy": PolicyChoice("threshold", 0.2, "active"),
}
# Photon mapping as published: T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003), and
# chapter 6 of 2004. One eye ray for each pixel; kernels are drawn as tiles, each to its end by its queries (section
# 6.2.3). What scenes of the paper have of their own is beside them.
_PHOTONS: dict[str, Any] = {
    **{**_MACHINE, "mask": "tiles"},
    **{"program": "photon", "estimate": "published", "photon_map": "sort", "photons": 1 << 16, "nearest": 64},
    **{"size": (512, 512), "spp": 1, "pixel_filter": "point", "light_samples": 4},
}
# What `--preset` puts in place of options that are not given.
# 2002: "2 bounces" are two scattered rays behind the eye ray. (The arithmetic of table 3 counts one: that is --depth 1.
# Its figures are for the branching machine: --machine singlepass.) The stencil holds the rays' states (section 3.2).
# 2004: the depth buffer holds them (section 4.1.2). Scattered until a light is hit, the way leads out of the scene, or
# the path is as long as any may be.
PRESETS: dict[str, dict[str, Any]] = {
    "2002": {**_PUBLISHED, "depth": 2, "mask": "stencil"},
    "2003": _PHOTONS,
    "2004": {**_PUBLISHED, "depth": OPTIONS["depth"].value.high},
}

PATH_OPTIONS = "spp", "eye_rays", "strategy", "depth", "roulette"  # what only path tracing has of these

# Seconds of two cores under a software driver, kernel by kernel. Photons: for a map, and for a sample of a pixel;
# ``ring`` takes 45 for 512 x 384. Paths: for the passes of a sample, whatever the size, and for a pixel of it; a sample
# of the bunny takes 14 for 256 x 256. Both measured on a machine with little other work.
PHOTON_SECONDS, PIXEL_SECONDS = 5.0, 2.03e-4
PATH_SECONDS, PATH_PIXEL_SECONDS = 1.0, 1.94e-4
MIN_REMARK_SECONDS = 10.0


def preset(name: str, scene: str, program: str | None = None) -> dict[str, Any]:
    """A preset's values of options that are not typed, for a scene by its name. program : if that is another than the
    preset's, it runs on the published machine with defaults of its own."""
    from raystream.scene.builtin.caustics import PUBLISHED

    values = {**PRESETS[name], **(PUBLISHED.get(scene, {}) if name == "2003" else {})}
    paths = program in (None, "path") or values["program"] != "path"
    return values if paths else {option: value for option, value in values.items() if option not in PATH_OPTIONS}


def published_remark(arguments: Namespace, software: bool) -> list[str]:
    """A note before a picture of preset 2003 or 2004 is rendered kernel by kernel: about how long it takes where the
    driver is ``software``, and the machine that gives the same picture sooner. Of 2004 where that is long."""
    if (arguments.machine, arguments.fuse) != ("multipass", "none") or arguments.preset not in ("2003", "2004"):
        return []
    (width, height), samples = arguments.size, arguments.spp or 1
    size = f"{width} x {height}"
    if arguments.preset == "2003":
        seconds = PHOTON_SECONDS + PIXEL_SECONDS * width * height * samples
    else:
        seconds = (PATH_SECONDS + PATH_PIXEL_SECONDS * width * height) * samples
        if not software or seconds < MIN_REMARK_SECONDS:
            return []
        size += f" with {samples} samples"
    estimate = f", about {duration(seconds * 2 / (os.cpu_count() or 2))} for {size}" if software else ""
    what = f"preset {arguments.preset} is the published machine, one kernel in a pass{estimate}"
    return [f"{what}: --machine singlepass gives the same picture in a small part of that time"]
