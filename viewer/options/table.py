"""Every option, once: the table that argument parser, keywords, panels, pages and the check of resumed files are made
from.

`check` is the one place where a value is read, from a text of the command line or from a Python keyword. The
names that higher floors register (programs, layers) are handed in. Below: the options as text, for pages, docstrings
and signatures.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from raystream.base.errors import KEYWORDS, ViewerError
from raystream.base.errors import keywords as without_flags
from raystream.options import picture, processor, scene, tracing
from raystream.options.declare import PAPERS, Option, Taker, suggestion, wrong
from raystream.options.picture import DEFAULT_SAMPLES, MAX_SAMPLES, QUALITIES

OPTIONS: dict[str, Option] = {
    entry.name: entry
    for theme in (
        picture.WHOLE,
        tracing.PROGRAM,
        tracing.PATHS,
        tracing.CAMERA_RAYS,
        tracing.ESTIMATE,
        tracing.PHOTONS,
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

KEYWORDS.update({entry.flag: entry.keyword for entry in OPTIONS.values() if entry.scope.taker != "command"})

# What other renderers call these options.
SYNONYMS = {
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
_OPTION_BY_SYNONYM = {word: name for name, words in SYNONYMS.items() for word in words}


def suggest_option(word: str, allowed: Iterable[str]) -> str:
    """``did you mean 'spp'?`` for another renderer's word, as typed or as a keyword, else a close one; of ``allowed``
    alone."""
    names = list(allowed)
    bare = word.lstrip("-").lower().replace("-", "_")
    if bare in _OPTION_BY_SYNONYM:
        typed = OPTIONS[_OPTION_BY_SYNONYM[bare]].flag if word.startswith("-") else _OPTION_BY_SYNONYM[bare]
        if typed in names:
            return f"did you mean '{typed}'?"
    return suggestion(word, names)


def option(name: str) -> Option:
    """The option of that name; raises ViewerError for an unknown one, with the closest known."""
    try:
        return OPTIONS[name]
    except KeyError:
        raise ViewerError(f"option '{name}'", "unknown", suggest_option(name, OPTIONS)) from None


def check(name: str, value: Any, choices: Collection[str] = ()) -> Any:
    """The checked value of an option, from a text of the command line or a Python value; a checked value stays itself.

    choices : the words that higher floors know, for ``program`` and ``layers``.

    Returns by name: size (width, height); policy `PolicyChoice`; unroll `Unroll`; grid int or ``"auto"``; layers a
    tuple of names, each once; camera the text or object as it is, or None; fov and device a number or None.
    Raises ViewerError that names the option, the value and the expected ones.
    """
    declaration = option(name)
    if choices:
        declaration = with_choices(declaration, tuple(choices))
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # NumPy's numbers and arrays of one
        value = value.item()
    try:
        return declaration.read(value)
    except (TypeError, ValueError):  # of arrays that are compared, or objects that cannot be
        raise wrong(declaration, value) from None


def sample_limit(spp: int | None, time: float | None, error: float | None, quality: str | None = None) -> int:
    """The most samples of a pixel by these checked values: ``spp``, else that of the quality, else `DEFAULT_SAMPLES`,
    or with a limit of time or error `MAX_SAMPLES`, so that this one ends the picture."""
    if spp is not None:
        return spp
    if quality is not None:
        return QUALITIES[quality][1]
    return DEFAULT_SAMPLES if time is None and error is None else MAX_SAMPLES


@cache
def with_choices(declaration: Option, choices: tuple[str, ...]) -> Option:
    """The option with the words that a higher floor knows."""
    return declaration.with_value(choices=choices)


def keywords(taker: Taker) -> list[str]:
    """The names of the options that the ``Renderer`` (``renderer``), its ``render`` or
    `raystream.renderer.inputs.prepared.prepare` takes as keywords; the renderer takes those of ``prepare`` too."""
    takers = (taker, "prepare") if taker == "renderer" else (taker,)
    return [name for name, declaration in OPTIONS.items() if declaration.scope.taker in takers]


def viewable_options() -> list[str]:
    """The names of the options that ``raystream view`` takes: of all that a picture on show has."""
    return [name for name, declaration in OPTIONS.items() if declaration.scope.serves == "picture"]


def names_of_part(*parts: str) -> list[str]:
    """The names of the options whose scope has one of these parts."""
    return [name for name, declaration in OPTIONS.items() if declaration.scope.part in parts]


def by_topic(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Options by the topics of help texts and pages, in order; those of the papers' machine last."""
    topics: dict[str, list[Option]] = {}
    for declaration in sorted(options, key=lambda declaration: declaration.topic == PAPERS):
        topics.setdefault(declaration.topic, []).append(declaration)
    return topics


WIDTH, INDENT = 96, " " * 4  # of a docstring's lines, which `help` indents once more

OptionTable = Mapping[str, Option]


def markdown_table(options: OptionTable = OPTIONS) -> str:
    """The tables of options in Markdown, one a topic, for viewer/options/README.md. options : those, as registered."""
    lines: list[str] = []
    for topic, declarations in by_topic(options.values()).items():
        lines += [f"### {topic}", "", "| option | values | default | what it does |", "|---|---|---|---|"]
        for declaration in declarations:
            typed = f"`{declaration.help.short}`, " if declaration.help.short else ""
            typed += f"`{declaration.typed}`"
            cells = [typed, declaration.expected(), declaration.default_words(), declaration.about]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines[:-1])


def docstring(names: Iterable[str], options: OptionTable = OPTIONS) -> str:
    """The text of a docstring that lists these options as keywords, a paragraph for each."""
    lines = []
    for declaration in (options[name] for name in names):
        default = declaration.default_words()
        values = [declaration.expected()] if declaration.expected() else []
        values += [f"default: {default}"] if default else []
        for text, indent in ((f"{declaration.name} : {declaration.about}.", ""), (f"{'; '.join(values)}.", INDENT)):
            if text != ".":
                lines += textwrap.wrap(without_flags(text), WIDTH, initial_indent=indent, subsequent_indent=INDENT)
    return "\n".join(lines)


def signature(template: Signature, names: Iterable[str]) -> Signature:
    """The signature with its ``**`` replaced by a keyword for each of these options, with its default."""
    fixed = [parameter for parameter in template.parameters.values() if parameter.kind != Parameter.VAR_KEYWORD]
    fixed_names = {parameter.name for parameter in fixed}
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=_plain(name)) for name in names if name not in fixed_names]
    return template.replace(parameters=[*fixed, *added])


def _plain(name: str) -> Any:
    """An option's default for a signature: plain Python values as they are, others as text."""
    default = OPTIONS[name].value.default
    return default if default is None or isinstance(default, (bool, int, float, str, tuple)) else str(default)
