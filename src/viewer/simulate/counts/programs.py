"""The papers' programs over a uniform grid, linked as their machines run them, without OpenGL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import viewer
from viewer.programs import LEVELS, PICTURES
from viewer.renderer.prepared import prepare
from viewer.renderer.settings import Settings
from viewer.scene.scene import Scene
from viewer.stream.compile.addresses import WIDEST, Addresses, PlannedAddresses
from viewer.stream.compile.generate import Form, fragment
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.compile.source import Source

# The kernels of table 5.1, and the states of each program that do their work: what is one kernel there may be several
# here, of which a surface's shading runs each once. The tracers' shadow caster goes through lights one by one, where
# the published one makes a single shadow ray; the ray that finds its light blocked is resolved by a state of its own.
ALL = ("cast", "shadow", "whitted", "path")
SHADING = ("shadow", "whitted", "path")
PUBLISHED_KERNELS: dict[str, dict[str, tuple[str, ...]]] = {
    "Generate Eye Ray": {"cast": ("eye",), **dict.fromkeys(SHADING, ("begin",))},
    "Traverse: Setup": dict.fromkeys(ALL, ("setup",)),
    "Traverse: Step": dict.fromkeys(ALL, ("traverse",)),
    "Intersect": dict.fromkeys(ALL, ("intersect",)),
    "Shade: Color": {"cast": ("shade",), **dict.fromkeys(SHADING, ("arrive",))},
    "Shade: Shadow": dict.fromkeys(SHADING, ("light", "resolve")),
    "Shade: Reflected": {"whitted": ("reflect",)},
    "Shade: Path": {"path": ("scatter",)},
}
# As the papers have them: a grid, the published intersection test, random numbers from a texture.
RECIPE = {"accel": "grid", "intersection": "moller-trumbore", "sampler": "table"}

_TURN = re.compile(r"^ *(int turn = 0|\+\+turn);$")
_ENTERS = re.compile(r"^    (while|if) \((turn < unroll && )?state == STATE_\w+\) (do )?\{$")
_LEAVES = re.compile(r"^    \} while \(turn < unroll && state == STATE_\w+\);$")
_ONCE = re.compile(r"^\w+ once_(\w+) = gl_FragCoord\.x < 0\.0 \? .*;$|^#define (\w+) once_\2$")


def published_program(name: str = "cast", scene: Scene | str = "cornell", **options: Any) -> LinkedProgram:
    """A program of pictures (``cast``, ``shadow``, ``whitted``, ``path``) or ``trace``'s, by a pass for every kernel.

    options : of `viewer.renderer.settings.Settings`, over a grid, the published test and random numbers of a table.
    Raises ViewerError.
    """
    settings = Settings().replace(**{**RECIPE, "program": name, **options})
    prepared = prepare(viewer.load(scene) if isinstance(scene, str) else scene, settings)
    program = PICTURES[name](LEVELS[prepared.structure.levels])
    parts = prepared.modules(True, "film" in program.inputs, settings.sampler)
    return LinkedProgram(program, parts)


def step_sources(linked: LinkedProgram, addresses: Addresses | None = None) -> Iterator[tuple[str, Source]]:
    """The fragment program of each state, a kernel in each, without what drivers alone need (`plain`)."""
    for step in linked.steps("none"):
        source = fragment(linked, step, Form(scheduled=True), addresses or PlannedAddresses(WIDEST))
        yield step.name, plain(source)


def plain(source: Source) -> Source:
    """A program without what drivers and schedulers want of it: copies of uniforms for llvmpipe (`viewer.stream.
    compile.generate.uniform_glsl`), and the loop and test of its state, of which a mask and ``unroll`` 1 leave nothing.
    """
    return replace(source, lines=[(_plain_line(text), origin) for text, origin in source.lines])


def _plain_line(text: str) -> str:
    if _ONCE.match(text) or _TURN.match(text):
        return ""
    return "    {" if _ENTERS.match(text) else "    }" if _LEAVES.match(text) else text
