"""What each command of ``raystream`` does with its checked arguments: calls the library and prints what it found.

Faults are exceptions, which the command line tells.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from viewer.base import textfile
from viewer.base.errors import ViewerError
from viewer.options.table import OPTIONS, keywords, most_samples

if TYPE_CHECKING:
    from argparse import Namespace

    from viewer.cli.progress import Progress
    from viewer.film.checkpoint import Checkpoint
    from viewer.renderer.renderer import Picture
    from viewer.scene.scene import Scene

# What the window takes of the options; the rest is the file's or the panels' business.
VIEWED = (
    *("program", "machine", "policy", "unroll", "fuse", "mask", "count", *keywords("prepare"), "camera", "fov"),
    *("barrier", "memory", "debug"),
)
# What `--preset` puts in place of options that are not given.
# 2002: the path tracer of Purcell et al., one path a sample, two bounces, random numbers from a texture.
PRESETS: dict[str, dict[str, Any]] = {
    "2002": {"program": "path", "size": (256, 256), "spp": 64, "depth": 3, "sampler": "table", "seed": 0},
}
# What programs leave alone that add no samples.
SAMPLED = (
    *("spp", "time", "error", "depth", "strategy", "roulette", "clamp", "sampler", "seed", "pixel_filter"),
    *("aperture", "focus", "environment", "environment_rotation", "light"),
)


def printable(text: str) -> str:
    """The text with control characters and broken encodings escaped: a scene's names go to the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def render(arguments: Namespace) -> bool:
    """``raystream render``: a picture, or frames of motion."""
    if arguments.output is None:
        raise ViewerError("--output", "is missing; it names the picture", "such as -o picture.png")
    _check_output(arguments)
    if arguments.stats is not None:
        textfile.check_path(arguments.stats)
    if arguments.frames is not None:
        return _render_frames(arguments)
    from viewer.cli.progress import Progress

    times = [perf_counter()]
    with Progress(arguments.quiet) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        from viewer.renderer.renderer import Renderer

        scene = _load(arguments, progress)
        if arguments.moment is not None:
            scene = scene.posed(arguments.moment)
        times.append(perf_counter())
        progress(None, "building")
        renderer = Renderer(scene, **_named(arguments, "renderer"), progress=progress)
        _tell(renderer.notes, arguments, progress)
        if not renderer.progressive:
            _tell(_unused(arguments), arguments, progress)
        times.append(perf_counter())
        progress(None, "compiling")
        state = renderer.checkpoint(arguments.output)
        try:
            picture = renderer.render(
                **_named(arguments, "render"), stats=arguments.stats is not None, progress=progress, state=state
            )
            times.append(perf_counter())
            progress(None, f"writing {printable(arguments.output)}")
            picture.save(arguments.output, arguments.exposure, arguments.tonemap)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_how_to_go_on(state, arguments)) from None
        if state is not None:
            state.finish(arguments.resume)
    seconds = dict(zip(("load", "build", "render"), (after - before for before, after in pairwise(times)), strict=True))
    if arguments.stats is not None:
        textfile.write(arguments.stats, _json({**picture.stats.to_json(), "wall_seconds": seconds}))
    if not arguments.quiet:
        print(_summary(arguments, picture, scene.triangle_count, seconds))
    return True


def _summary(arguments: Namespace, picture: Picture, triangles: int, seconds: dict[str, float]) -> str:
    """The line that ends a render."""
    width, height = arguments.size
    parts = [f"{width} x {height}"]
    facts = picture.stats.facts
    if "samples" in facts:
        why = facts.get("stopped by", "spp")
        parts.append(f"{_count(facts['samples'], 'sample')} a pixel" + ("" if why == "spp" else f" (--{why} met)"))
    parts += [_count(triangles, "triangle"), _count(picture.stats.kernel_passes, "pass", "passes")]
    return (
        f"{printable(arguments.output)}: {', '.join(parts)}; load {seconds['load']:.2f} s, "
        f"build {seconds['build']:.2f} s, compile and render {seconds['render']:.2f} s"
    )


def _how_to_go_on(state: Checkpoint | None, arguments: Namespace) -> str:
    """What to say of a render that Ctrl-C has ended."""
    if state is None or not state.saved:
        return "stopped"
    path = shlex.quote(os.fspath(state.path))
    wanted = most_samples(arguments.spp, arguments.time, arguments.error)
    return f"stopped after {state.samples} of {_count(wanted, 'sample')}; go on with --resume {path}"


def _check_output(arguments: Namespace) -> None:
    """Find out before any work whether the picture, or the frames, can be written; refuse options that do nothing."""
    from viewer.film.image import check_path
    from viewer.film.movie import check_output, is_movie

    if arguments.frames is not None:
        if arguments.moment is not None:
            raise ViewerError("--moment", "is for one picture, and --frames for many", "give one of them")
        if arguments.resume is not None:
            raise ViewerError("--resume", "is for one picture, and --frames for many", "give one of them")
        check_output(arguments.output, arguments.frames, arguments.size, arguments.fps, arguments.layers)
        return
    if is_movie(arguments.output):
        raise ViewerError(arguments.output, "a movie needs --frames", "such as --frames 0-119")
    if arguments.turntable:
        raise ViewerError("--turntable", "needs --frames", "such as --frames 0-119 -o frame_%04d.png")
    if arguments.animation is not None and arguments.moment is None:
        raise ViewerError("--animation", "needs --moment or --frames", "such as --moment 1.5")
    if arguments.resume is not None and not os.path.isfile(arguments.resume):
        raise ViewerError(arguments.resume, "there is no such file to go on from", "an EXR that a render has left")
    check_path(arguments.output, arguments.layers)


def _unused(arguments: Namespace) -> list[str]:
    """A remark on options that the chosen program, which adds no samples, has no use for."""
    given = [OPTIONS[name].flag for name in SAMPLED if getattr(arguments, name) != OPTIONS[name].default]
    return [f"program {arguments.program} makes no use of {', '.join(given)}"] if given else []


def _load(arguments: Namespace, progress: Progress) -> Scene:
    """The scene with its notes told and its animation chosen."""
    import viewer

    scene = viewer.load(arguments.scene)
    _tell(scene.warnings, arguments, progress)
    if arguments.animation is not None:
        scene.play(arguments.animation)
    return scene


def _named(arguments: Namespace, scope: Any) -> dict[str, Any]:
    """The options of a scope as keywords."""
    return {name: getattr(arguments, name) for name in keywords(scope)}


def _tell(notes: Iterable[str], arguments: Namespace, progress: Progress) -> None:
    if not arguments.quiet:
        for line in notes:
            progress.note(f"raystream: note: {printable(line)}")


def _render_frames(arguments: Namespace) -> bool:
    """Every frame into a file of its own, or all into a movie."""
    from viewer.cli.progress import Progress

    begin, counted = perf_counter(), []
    with Progress(arguments.quiet) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        from viewer.renderer.sequence import render_frames, save_frames

        scene = _load(arguments, progress)
        frames = render_frames(
            scene,
            arguments.frames,
            arguments.fps,
            arguments.turntable,
            render=_named(arguments, "render") | {"stats": arguments.stats is not None},
            progress=progress,
            **_named(arguments, "renderer"),
        )
        save_frames(
            arguments.output,
            frames,
            arguments.fps,
            lambda frame: counted.append(
                {"frame": frame.number, "time": frame.seconds, **frame.picture.stats.to_json()}
            ),
            arguments.exposure,
            arguments.tonemap,
        )
    seconds = perf_counter() - begin
    if arguments.stats is not None:
        textfile.write(arguments.stats, _json({"frames": counted, "wall_seconds": seconds}))
    if not arguments.quiet:
        width, height = arguments.size
        print(
            f"{printable(arguments.output)}: {_count(len(counted), 'frame')} of {width} x {height}, "
            f"{_count(scene.triangle_count, 'triangle')}; {seconds:.2f} s, {seconds / len(counted):.2f} s a frame"
        )
    return True


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def view(arguments: Namespace) -> bool:
    """``raystream view``: the window. What is no scene is told before it opens."""
    import viewer
    from viewer.formats import recognise

    if not viewer.is_builtin(arguments.scene):
        recognise(arguments.scene)
    from viewer.window.app import App

    App(arguments.scene, **{name: getattr(arguments, name) for name in VIEWED if name != "debug"}).run()
    return True


def info(arguments: Namespace) -> bool:
    """``raystream info``: what a scene holds."""
    from viewer.cli.progress import Progress
    from viewer.cli.report import describe, lines

    with Progress(arguments.json) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        import viewer

        scene = viewer.load(arguments.scene)
        progress(None, "building")
        data = describe(scene, arguments.program)
    _emit(data, lines, arguments.json)
    return True


def devices(arguments: Namespace) -> bool:
    """``raystream devices``: the GPUs."""
    from viewer.cli.report import device_lines
    from viewer.stream.gl.device import devices as found

    _emit(found(), device_lines, arguments.json)
    return True


def check_shaders(arguments: Namespace) -> bool:
    """``raystream check-shaders``: whether all compile."""
    from viewer.cli.shader_check import check_shaders as check

    return not check(report=lambda line: print(printable(line)))


def _emit(data: Any, lines: Callable[[Any], Iterable[str]], json: bool) -> None:
    print(_json(data) if json else "\n".join(printable(line) for line in lines(data)))


def _json(data: Any) -> str:
    import json

    from viewer.cli.report import plain

    return json.dumps(plain(data), indent=2, allow_nan=False)
