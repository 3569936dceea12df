"""Assembles every fragment program of every program, machine and fusion; compiles and, where it is installed,
validates each with glslangValidator."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator

from viewer.accel import bvh, grid
from viewer.accel.top import TOPS
from viewer.accel.triangles import TESTS
from viewer.errors import ShaderError, WiringError
from viewer.programs import LEVELS, PICTURES, Walking, trace
from viewer.programs.primary import PRIMARY
from viewer.render import Renderer
from viewer.scene.scene import Scene
from viewer.stream.bound import Bound, Step
from viewer.stream.device import Device, shared_device
from viewer.stream.draw import tiles_source
from viewer.stream.generate import Form, count_textures, fragment
from viewer.stream.mask import stream_sources
from viewer.stream.memory import layouts
from viewer.stream.program import Program
from viewer.stream.source import Source

VALIDATOR = "glslangValidator"
# Every module of structures and triangle tests is in one of these.
_RECIPES = (
    *({"accel": "bvh", "intersection": test} for test in TESTS),
    *({"accel": "bvh", "walk": walk} for walk in bvh.WALKS),
    *({"accel": "grid", "walk": walk} for walk in grid.WALKS),
    *({"accel": f"two-level-{inner}", "top": top} for inner in TOPS for top in TOPS),
    *({"accel": "two-level-bvh", "walk": walk} for walk in bvh.WALKS),
)
_TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def check_shaders(report: Callable[[str], None] = print, device: Device | None = None) -> int:
    """Check all shaders; ``report`` gets a line for each program. Returns the number of failures."""
    device = device or shared_device()
    validator = shutil.which(VALIDATOR)
    failures = checked = 0
    seen: set[str] = set()
    for name, source in _sources(device):
        if source.text in seen:
            continue
        seen.add(source.text)
        checked += 1
        try:
            with device.current():
                device.program(tiles_source(), source).release()
            if validator:
                _validate(validator, source)
        except ShaderError as error:
            failures += 1
            report(f"{name}: {error}")
            for line in error.log.splitlines():
                report(f"    {line}")
        else:
            report(f"{name}: ok, {len(source.lines)} lines")
    how = f"compiled by {device.name}"
    how += f" and validated by {VALIDATOR}" if validator else f" ({VALIDATOR} is not installed, so not validated by it)"
    report(f"{checked} programs {how}, {failures} failed")
    return failures


def _sources(device: Device) -> Iterator[tuple[str, Source]]:
    """Name and source of every fragment program that any choice of options can lead to."""
    for recipe in _RECIPES:
        renderer = Renderer(Scene.from_triangles(*_TRIANGLE), **recipe, device=device)
        mark = " ".join(recipe.values())
        for program in _programs(LEVELS[renderer.structure.levels]):
            whole, stepwise = renderer.bind(program, False), renderer.bind(program, True)
            yield from _forms(device, whole, mark, [("single pass", whole.single(), Form(scheduled=False))])
            for fuse in ("none", *program.groups):
                bound = stepwise if fuse == "none" else whole
                steps = [
                    (f"{fuse}/{step.name}", step, Form(True, discards))
                    for step in bound.steps(fuse)
                    for discards in (False, True)
                ]
                yield from _forms(device, bound, mark, steps)
                for name, source in stream_sources(bound, bound.steps(fuse)):
                    yield f"{program.name} {fuse}: {name}", source


def _forms(
    device: Device, bound: Bound, mark: str, steps: list[tuple[str, Step, Form]]
) -> Iterator[tuple[str, Source]]:
    for name, step, form in steps:
        for counting in (False, True):
            made = Form(form.scheduled, form.discards, counting)
            try:
                bound.check(step, int(form.scheduled), len(count_textures(bound, step)) if counting else 0)
            except WiringError:  # too many attachments with the counts: machines say so, and compile nothing
                continue
            source = fragment(bound, step, made, layouts(device))
            marks = [mark, *(["without mask"] if form.discards else []), *(["counting"] if counting else [])]
            yield f"{bound.program.name} {name} ({', '.join(marks)})", source


def _programs(walking: Walking) -> Iterator[Program]:
    for name, make in PICTURES.items():
        for primary in PRIMARY:
            yield make(walking, primary=primary)
        if name == "cast":
            yield make(walking, layers=True)
    yield trace(walking)


def _validate(validator: str, source: Source) -> None:
    """Raises ShaderError with what the validator says."""
    done = subprocess.run(
        [validator, "--stdin", "-S", "frag"], input=source.text, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        log = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("stdin"))
        raise source.error(VALIDATOR, log)
