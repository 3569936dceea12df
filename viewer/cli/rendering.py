"""``raystream render``: pictures and frames of motion, by checked arguments, and its results as text."""

from __future__ import annotations

import math
import os
import shlex
import sys
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from raystream.base import part_file
from raystream.base.errors import DriverWarning, ViewerError, ViewerWarning, printable
from raystream.base.interrupts import suppress_interrupt
from raystream.base.start import loaded
from raystream.cli.commands import as_json, at_moment, chosen_options, load_scene, tell
from raystream.cli.rendering import STANDARD_OUTPUT, check_output
from raystream.cli.presets import published_remark
from raystream.film.files.checkpoint import AUTO
from raystream.options.picture import DEFAULT_QUALITY, MOST_SAMPLES
from raystream.options.table import OPTIONS, most_samples

if TYPE_CHECKING:
    from argparse import Namespace

    from raystream.cli.progress import TerminalProgress
    from raystream.film.files.checkpoint import Checkpoint
    from raystream.renderer.renderer import Picture, Renderer
    from raystream.renderer.sequence import Frame
    from raystream.scene.scene import Scene

NOISE_FROM = 8  # samples from which on an estimate of the noise is worth a word


def check_render(arguments: Namespace) -> None:
    """Refuse unwritable outputs before any work, and choose a quality where none is given."""
    if arguments.output is None:
        raise ViewerError("--output", "is missing; it names the picture", "such as -o picture.png")
    check_output(arguments)
    if arguments.stats is not None:
        part_file.check_path(arguments.stats)
    from raystream.film.files.movie import is_movie

    limits = ("quality", "spp", "time", "error", "resume", "sample_range", "cluster")
    if _displayed(arguments) or is_movie(arguments.output):
        if all(getattr(arguments, name) is None for name in limits):
            arguments.quality = DEFAULT_QUALITY
    elif arguments.quality is not None and arguments.denoise == "auto":
        arguments.denoise = "none"


def render(arguments: Namespace) -> bool:
    """``raystream render``: a picture, or frames of motion."""
    check_render(arguments)
    if arguments.frames is not None:
        return _render_frames(arguments)
    from raystream.cli.progress import TerminalProgress

    with TerminalProgress(arguments.quiet) as progress:
        done = rendered(arguments, progress)
    if not arguments.quiet:
        # Where the picture goes to standard output, nothing else does.
        print(done.line, file=sys.stderr if arguments.output == STANDARD_OUTPUT else sys.stdout)
    if arguments.cluster is None:
        _try_options(done.renderer, done.picture, done.seconds["render"], arguments.quiet)
    return True


@dataclass
class Rendered:
    """A picture that is written, and its renderer. seconds : wall time by stage: load, build, render. line : of it all,
    for the terminal."""

    renderer: Renderer
    picture: Picture
    seconds: dict[str, float]
    line: str


def rendered(arguments: Namespace, progress: TerminalProgress, renderer: Renderer | None = None) -> Rendered:
    """Load, render and write one picture. renderer : one that shows it in place of its scene, by the same device."""
    times = [perf_counter()]
    progress(None, f"loading {arguments.scene}")
    from raystream.renderer.empty_view import nothing_seen
    from raystream.renderer.renderer import Renderer

    scene = load_scene(arguments, progress)
    scene = at_moment(scene, arguments, progress)
    loaded()  # the scene stays, too
    times.append(perf_counter())
    progress(None, "building")
    chosen = chosen_options(arguments, "renderer")
    if renderer is None:
        renderer = Renderer(scene, **chosen, progress=progress)
    else:
        renderer.update(scene, **chosen, progress=progress)
    tell([*renderer.notes, *_beyond(renderer, arguments)], arguments, progress)
    tell(_unused(arguments), arguments, progress)
    if arguments.preset is not None:
        tell(published_remark(arguments, renderer.device.software), arguments, progress)
    times.append(perf_counter())
    progress(None, "compiling")
    tell(fill_darkness(renderer, arguments), arguments, progress)
    tell(nothing_seen(renderer, arguments.size), arguments, progress)
    state = None if arguments.output == STANDARD_OUTPUT else renderer.checkpoint(arguments.output)
    tell(_find_state(state, arguments), arguments, progress)
    try:
        with _driver_warnings_told(arguments, progress):
            picture = _picture(renderer, arguments, state, progress)
        times.append(perf_counter())
        tell(picture.remarks(arguments.exposure if _displayed(arguments) else 0.0), arguments, progress)
        progress(None, f"writing {arguments.output}")
        _write(picture, arguments)
    except KeyboardInterrupt as stop:
        stop.args = (_how_to_go_on(state, arguments),)
        raise
    if state is not None:
        state.finish()
    seconds = dict(zip(("load", "build", "render"), (after - before for before, after in pairwise(times)), strict=True))
    if arguments.stats is not None:
        part_file.write(arguments.stats, as_json({**picture.stats.to_json(), "wall_seconds": seconds}))
    line = _summary(arguments, picture, renderer.scene.triangle_count, seconds)
    return Rendered(renderer, picture, seconds, line)


def _try_options(renderer: Renderer, picture: Picture, seconds: float, quiet: bool) -> None:
    """After a long render, once written: trials of ``auto`` on a new GPU."""
    from raystream.cli.progress import TerminalProgress
    from raystream.renderer.session import trials

    if seconds < trials.LONG or picture.film is None:
        return
    samples = int(picture.film.count.sum())
    with suppress_interrupt(), TerminalProgress(quiet) as progress:
        trials.measure_after(renderer, samples, seconds, lambda: progress(None, "measuring machine options, once"))


def _picture(renderer: Renderer, arguments: Namespace, state: Checkpoint | None, progress: TerminalProgress) -> Picture:
    """The picture, by this process or by a cluster."""
    options = {**chosen_options(arguments, "render"), "progress": progress, "state": state}
    if arguments.cluster is None:
        return renderer.render(**options, stats=arguments.stats is not None)
    from raystream.farm.pictures import render_on

    def notify(line: str) -> None:
        tell([line], arguments, progress)

    return render_on(renderer, arguments.cluster, arguments.unit, arguments.mix_builds, notify=notify, **options)


def _displayed(arguments: Namespace) -> bool:
    """Whether the picture is exposed and tone mapped, to be looked at; else it is linear."""
    from raystream.film.files.image import DISPLAYED

    return arguments.output == STANDARD_OUTPUT or arguments.output.lower().endswith(tuple(DISPLAYED))


def fill_darkness(renderer: Renderer, arguments: Namespace) -> list[str]:
    """Put a scene under the sky whose own lights show nothing to its camera, as a small picture tells; a note on it.

    Only where that is left to Raystream: without an environment, and with an exposure that no picture can be shown at.
    """
    requested = arguments.environment, arguments.sun, arguments.exposure
    automatic = requested == (None, None, "auto") and _displayed(arguments)
    if not automatic:
        return []
    from raystream.renderer.empty_view import brightened, lit_from_within

    return [*brightened(renderer, arguments.size), *lit_from_within(renderer, arguments.size)]


def _write(picture: Picture, arguments: Namespace) -> None:
    """The picture into its file, or as PNG to standard output."""
    if arguments.output != STANDARD_OUTPUT:
        picture.save(arguments.output, arguments.exposure, arguments.tonemap)
        return
    sys.stdout.buffer.write(picture.png(arguments.exposure, arguments.tonemap))
    sys.stdout.flush()


def _summary(arguments: Namespace, picture: Picture, triangles: int, seconds: dict[str, float]) -> str:
    """The line that ends a render."""
    width, height = arguments.size
    parts = [f"{width} x {height}"]
    facts = picture.stats.facts
    if "samples" in facts:
        why = facts.get("stopped by", "spp")
        rule = f"--quality {arguments.quality}" if arguments.quality and arguments.error is None else "--error"
        stop_rule = {"spp": "", "error": f" ({rule} met)"}.get(why, f" (--{why} met)")
        samples = facts["samples"]
        samples_text = _count(samples, "sample") if isinstance(samples, int) else f"{samples} samples"
        parts.append(f"{samples_text} a pixel{stop_rule}")
    if "estimated error" in facts and not (isinstance(facts["samples"], int) and facts["samples"] < NOISE_FROM):
        from raystream.renderer.session.session import percent

        before = f" before --denoise {facts['denoised']}" if "denoised" in facts else ""
        parts.append(f"noise {percent(float(facts['estimated error']))}{before}{_above_goal(arguments, facts)}")
    parts += [_count(triangles, "triangle"), _count(picture.stats.kernel_passes, "pass", "passes")]
    return (
        f"{printable(arguments.output)}: {', '.join(parts)}; load {seconds['load']:.2f} s, "
        f"build {seconds['build']:.2f} s, compile and render {seconds['render']:.2f} s"
    )


def _above_goal(arguments: Namespace, facts: dict[str, Any]) -> str:
    """A remark on a render that has ended above its limit of noise, with the option by which another one would reach
    it; empty where it has none, or has ended below."""
    from raystream.film.error import FIRST_LOOK
    from raystream.renderer.sampling.denoising import noise_limit
    from raystream.renderer.session.session import percent

    samples, error = facts["samples"], float(facts["estimated error"])
    if arguments.error is not None:
        limit, rule, again = arguments.error, f"--error {arguments.error:g}", ""
    elif arguments.quality is not None:
        limit = noise_limit(arguments.quality, facts.get("denoised", "none"))
        rule = again = f"--quality {arguments.quality}"
    else:
        return ""
    if error <= limit or (isinstance(samples, int) and samples < FIRST_LOOK):
        return ""
    if facts.get("stopped by") == "time":
        remedy = "a longer --time"
    elif isinstance(samples, int):
        needed = samples * (error / limit) ** 2
        digits = 10 ** max(0, math.floor(math.log10(needed)) - 1)
        remedy = f"{again} --spp {min(math.ceil(needed / digits) * digits, MOST_SAMPLES)}".strip()
    else:
        remedy = "a larger --spp"
    return f", above the {percent(limit)} of {rule} ({remedy} gets there)"


def _find_state(state: Checkpoint | None, arguments: Namespace) -> list[str]:
    """Choose the file that ``--resume auto`` goes on from; without, mention the state of a stopped render."""
    automatic = arguments.resume == AUTO
    if state is None or not (automatic or arguments.resume is None):
        return []
    path, samples, wrong = state.find(arguments.size, pictures=automatic)
    if not automatic:
        remark = f"{path} holds {_count(samples, 'sample')} of this picture; --resume auto goes on from there"
        return [] if path is None else [remark]
    arguments.resume = None if path is None else os.fspath(path)
    if path is None:
        return [*(f"not resumed: {reason}" for reason in wrong), "--resume auto: no state to go on from; starts anew"]
    return [f"goes on from {path}, {_count(samples, 'sample')}"]


def _how_to_go_on(state: Checkpoint | None, arguments: Namespace) -> str:
    """The message for a render ended by Ctrl-C or SIGTERM."""
    if state is None or not (state.saved or state.used):
        return "stopped"
    path = shlex.quote(os.fspath(state.path))
    if not state.saved:
        return f"stopped; go on with --resume {path}"
    goal = most_samples(arguments.spp, arguments.time, arguments.error, arguments.quality)
    return f"stopped after {state.samples} of {_count(goal, 'sample')}; go on with --resume {path}"


def _unused(arguments: Namespace) -> list[str]:
    """A remark on options that do not serve the chosen program."""
    from raystream.renderer.inputs.settings import unused

    typed = (name for name in OPTIONS if name in arguments.typed)
    return unused(
        arguments.program, (name for name in typed if getattr(arguments, name) != OPTIONS[name].value.default)
    )


def _beyond(renderer: Renderer, arguments: Namespace) -> list[str]:
    """A remark on kernels that are too long for ``--limits``."""
    if arguments.limits == "none" or arguments.quiet:
        return []
    from raystream.stream.analysis.instructions import remarks

    return remarks(
        renderer.gpu_scene.bind(renderer.program(), renderer.settings), arguments.limits, renderer.gpu_scene.resources
    )


@contextmanager
def _driver_warnings_told(arguments: Namespace, progress: TerminalProgress) -> Iterator[None]:
    """Say a DriverWarning as a note, whatever the filters for developers' warnings are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DriverWarning)
        warnings.simplefilter("ignore", ViewerWarning)  # told already
        warnings.showwarning = lambda message, *rest, **more: tell([str(message)], arguments, progress)
        yield


def _render_frames(arguments: Namespace) -> bool:
    """Every frame into a file of its own, or all into a movie."""
    from raystream.cli.progress import TerminalProgress

    start_time, counted = perf_counter(), []
    with TerminalProgress(arguments.quiet) as progress:
        progress(None, f"loading {arguments.scene}")
        from raystream.renderer.sequence import save_frames

        loaded()
        scene = load_scene(arguments, progress)
        frames = _frames(scene, arguments, progress)
        remarks: list[list[str]] = []

        def note(frame: Frame) -> None:
            counted.append({"frame": frame.number, "time": frame.seconds, **frame.picture.stats.to_json()})
            remarks.append(frame.picture.remarks(arguments.exposure))

        save_frames(arguments.output, frames, arguments.fps, note, arguments.exposure, arguments.tonemap)
        if all(remarks):  # one that fades to black is meant to
            tell(remarks[0], arguments, progress)
    seconds = perf_counter() - start_time
    if arguments.stats is not None:
        part_file.write(arguments.stats, as_json({"frames": counted, "wall_seconds": seconds}))
    if not arguments.quiet:
        width, height = arguments.size
        print(
            f"{printable(arguments.output)}: {_count(len(counted), 'frame')} of {width} x {height}, "
            f"{_count(scene.triangle_count, 'triangle')}; {seconds:.2f} s, {seconds / len(counted):.2f} s a frame"
        )
    return True


def _frames(scene: Scene, arguments: Namespace, progress: TerminalProgress) -> Generator[Frame, None, None]:
    """The frames, by this process or by a cluster."""
    options: dict[str, Any] = {
        "scene": scene,
        **{name: getattr(arguments, name) for name in ("frames", "fps", "turntable", "shutter", "motion_keys")},
        "render": chosen_options(arguments, "render") | {"stats": arguments.stats is not None},
        "progress": progress,
        **chosen_options(arguments, "renderer"),
    }
    if arguments.cluster is None:
        from raystream.renderer.sequence import render_frames

        return render_frames(**options)
    from raystream.farm.pictures import render_frames as farmed

    options |= {"cluster": arguments.cluster, "mix_builds": arguments.mix_builds}
    return farmed(
        **options,
        films=arguments.output.lower().endswith(".exr"),
        notify=lambda line: tell([line], arguments, progress),
    )


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
