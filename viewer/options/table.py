"""Every option, once: the table that argument parser, keywords, panels, pages and the check of resumed files are made
from.

`check` is the one place where a value is read, from a text of the command line or from a Python keyword. The
names that higher floors register (programs, layers) are handed in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from viewer.base.errors import KEYWORDS, ViewerError
from viewer.options import photons, picture, processor, scene, tracing
from viewer.options.declare import Option, Scope, suggestion
from viewer.options.picture import FEW_SAMPLES, MOST_SAMPLES, QUALITIES

OPTIONS: dict[str, Option] = {
    entry.name: entry
    for theme in (
        picture.WHOLE,
        tracing.PROGRAM,
        tracing.PATHS,
        tracing.CAMERA_RAYS,
        tracing.ESTIMATE,
        photons.PHOTONS,
        processor.MACHINE,
        scene.STRUCTURE,
        scene.SCENE,
        scene.CAMERA,
        scene.FILTER,
        scene.LIGHT,
        picture.SHOWN,
        picture.MOTION,
        processor.DEVICE,
        picture.COMMAND,
    )
    for entry in theme
}

KEYWORDS.update({entry.flag: entry.keyword for entry in OPTIONS.values() if entry.scope != "command"})

# What other renderers call these options.
ELSEWHERE = {
    "accel": ("acceleration", "structure"),
    "aperture": ("dof", "lens_radius"),
    "background": ("backdrop", "bg", "film_transparent"),
    "camera": ("eye", "position", "view", "viewpoint"),
    "clamp": ("firefly", "max_radiance"),
    "depth": ("bounces", "max_bounces", "num_bounces"),
    "device": ("gpu",),
    "environment": ("env", "envmap", "hdri", "ibl", "skybox", "world"),
    "error": ("noise", "threshold"),
    "exposure": ("brightness", "ev"),
    "focus": ("focal_distance", "focus_distance"),
    "fov": ("angle", "field_of_view"),
    "ground": ("floor", "plane"),
    "layers": ("aov", "aovs", "passes"),
    "output": ("file", "filename", "out", "path"),
    "photon_radius": ("radius",),
    "program": ("algorithm", "integrator", "method", "mode"),
    "size": ("dimensions", "height", "res", "resolution", "shape", "width"),
    "spp": ("n_samples", "num_samples", "sample_count", "samples", "samples_per_pixel"),
    "time": ("limit", "time_limit", "timeout"),
    "tonemap": ("tone_mapping", "view_transform"),
}
_MEANT = {word: name for name, words in ELSEWHERE.items() for word in words}


def meant(word: str, known: Iterable[str]) -> str:
    """``did you mean 'spp'?`` for another renderer's word, as typed or as a keyword, else for a close one; of ``known``
    alone."""
    names = list(known)
    bare = word.lstrip("-").lower().replace("-", "_")
    if bare in _MEANT:
        typed = OPTIONS[_MEANT[bare]].flag if word.startswith("-") else _MEANT[bare]
        if typed in names:
            return f"did you mean '{typed}'?"
    return suggestion(word, names)


def option(name: str) -> Option:
    """The option of that name; raises ViewerError for an unknown one, with the closest known."""
    try:
        return OPTIONS[name]
    except KeyError:
        raise ViewerError(f"option '{name}'", "unknown", meant(name, OPTIONS)) from None


def check(name: str, value: Any, choices: Collection[str] = ()) -> Any:
    """The checked value of an option, from a text of the command line or a Python value; a checked value stays itself.

    choices : the words that higher floors know, for ``program`` and ``layers``.

    Returns by name: size (width, height); policy `PolicyChoice`; unroll `Unroll`; grid int or ``"auto"``; layers a
    tuple of names, each once; camera the text or object as it is, or None; fov and device a number or None.
    Raises ViewerError that names the option, the value and the expected ones.
    """
    found = option(name)
    if choices:
        found = with_choices(found, tuple(choices))
    return found.read(found, value)


def most_samples(spp: int | None, time: float | None, error: float | None, quality: str | None = None) -> int:
    """The maximum of samples of a pixel that these checked values mean: without ``spp`` that of the quality; without
    this few, but where a time or an error is given, enough for these to decide."""
    if spp is not None:
        return spp
    if quality is not None:
        return QUALITIES[quality][1]
    return FEW_SAMPLES if time is None and error is None else MOST_SAMPLES


@cache
def with_choices(given: Option, choices: tuple[str, ...]) -> Option:
    """The option with the words that a higher floor knows."""
    return replace(given, choices=choices)


def keywords(scope: Scope) -> list[str]:
    """The names of the options that the ``Renderer`` (scope ``renderer``), its ``render`` or
    `viewer.renderer.inputs.prepared.prepare` takes as keywords; the renderer takes those of ``prepare`` too."""
    scopes = (scope, "prepare") if scope == "renderer" else (scope,)
    return [name for name, found in OPTIONS.items() if found.scope in scopes]


def part(*parts: str) -> list[str]:
    """The names of the options of these parts."""
    return [name for name, found in OPTIONS.items() if found.part in parts]
