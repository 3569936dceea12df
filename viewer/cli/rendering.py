"""``raystream render``: pictures and frames of motion, of one scene or of several, and its results as text."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from raystream.base import part_file
from raystream.base.errors import DriverWarning, ViewerError, ViewerWarning, printable
from raystream.base.interrupts import suppress_interrupt
from raystream.base.part_file import STANDARD_OUTPUT
from raystream.base.start import finish_loading
from raystream.cli.commands import (
    FAULT,
    as_json,
    chosen_options,
    exit_code_and_message,
    load_scene,
    print_notes,
    scene_at_moment,
)
from raystream.cli.presets import published_remark
from raystream.cli.workers import results
from raystream.options.picture import BEST_STATE, DEFAULT_QUALITY, MAX_SAMPLES
from raystream.options.table import OPTIONS, sample_limit

if TYPE_CHECKING:
    from raystream.cli.progress import TerminalProgress
    from raystream.film.files.checkpoint import Checkpoint
    from raystream.renderer.renderer import Picture, Renderer
    from raystream.renderer.sequence import Frame
    from raystream.scene.scene import Scene

MIN_NOISE_SAMPLES = 8  # samples from which on an estimate of the noise is worth a word


def check_render(arguments: Namespace) -> None:
    """Refuse unwritable outputs before any work, and choose a quality where none is given."""
    if arguments.output is None:
        raise ViewerError("--output", "is missing; it names the picture", "such as -o picture.png")
    check_output(arguments)
    if arguments.stats is not None:
        part_file.check_path(arguments.stats)
    from raystream.film.files.movie import is_movie

    limits = ("quality", "spp", "time", "error", "resume", "sample_range", "cluster")
    if _is_displayed(arguments) or is_movie(arguments.output):
        if all(getattr(arguments, name) is None for name in limits):
            arguments.quality = DEFAULT_QUALITY
    elif arguments.quality is not None and arguments.denoise == "auto":
        arguments.denoise = "none"


def render_scene(arguments: Namespace) -> bool:
    """A picture of a scene, or frames of motion."""
    check_render(arguments)
    if arguments.frames is not None:
        return _render_frames(arguments)
    from raystream.cli.progress import TerminalProgress

    with TerminalProgress(arguments.quiet) as progress:
        done = render_picture(arguments, progress)
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


def render_picture(arguments: Namespace, progress: TerminalProgress, renderer: Renderer | None = None) -> Rendered:
    """Load, render and write one picture. renderer : one that shows it in place of its scene, by the same device."""
    times = [perf_counter()]
    progress(None, f"loading {arguments.scene}")
    from raystream.renderer.empty_view import model_out_of_view
    from raystream.renderer.renderer import Renderer

    scene = load_scene(arguments, progress)
    scene = scene_at_moment(scene, arguments, progress)
    finish_loading()  # the scene stays, too
    times.append(perf_counter())
    progress(None, "building")
    chosen = chosen_options(arguments, "renderer")
    if renderer is None:
        renderer = Renderer(scene, **chosen, progress=progress)
    else:
        renderer.update(scene, **chosen, progress=progress)
    print_notes([*renderer.notes, *_limit_remarks(renderer, arguments)], arguments, progress)
    print_notes(_unused_options(arguments), arguments, progress)
    if arguments.preset is not None:
        print_notes(published_remark(arguments, renderer.device.software), arguments, progress)
    times.append(perf_counter())
    progress(None, "compiling")
    print_notes(fill_darkness(renderer, arguments), arguments, progress)
    print_notes(model_out_of_view(renderer, arguments.size), arguments, progress)
    state = None if arguments.output == STANDARD_OUTPUT else renderer.checkpoint(arguments.output)
    print_notes(_find_state(state, arguments), arguments, progress)
    try:
        with _driver_warnings_as_notes(arguments, progress):
            picture = _rendered_picture(renderer, arguments, state, progress)
        times.append(perf_counter())
        print_notes(picture.remarks(arguments.exposure if _is_displayed(arguments) else 0.0), arguments, progress)
        progress(None, f"writing {arguments.output}")
        _write(picture, arguments)
    except KeyboardInterrupt as stop:
        stop.args = (_resume_message(state, arguments),)
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


def _rendered_picture(
    renderer: Renderer, arguments: Namespace, state: Checkpoint | None, progress: TerminalProgress
) -> Picture:
    """The picture, by this process or by a cluster."""
    options = {**chosen_options(arguments, "render"), "progress": progress, "state": state}
    if arguments.cluster is None:
        return renderer.render(**options, stats=arguments.stats is not None)
    from raystream.farm.pictures import render_on

    def notify(line: str) -> None:
        print_notes([line], arguments, progress)

    return render_on(renderer, arguments.cluster, arguments.unit, arguments.mix_builds, notify=notify, **options)


def _is_displayed(arguments: Namespace) -> bool:
    """Whether the picture is exposed and tone mapped, to be looked at; else it is linear."""
    from raystream.film.files.image import DISPLAYED

    return arguments.output == STANDARD_OUTPUT or arguments.output.lower().endswith(tuple(DISPLAYED))


def fill_darkness(renderer: Renderer, arguments: Namespace) -> list[str]:
    """Put a scene under the sky, or a lamp at its camera, where a small picture by its own lights is black; returns
    notes. Only where that is left to Raystream: without an environment, and with an exposure that no picture can be
    shown at."""
    requested = arguments.environment, arguments.sun, arguments.exposure
    automatic = requested == (None, None, "auto") and _is_displayed(arguments)
    if not automatic:
        return []
    from raystream.renderer.empty_view import add_camera_lamp, add_default_sky

    return [*add_default_sky(renderer, arguments.size), *add_camera_lamp(renderer, arguments.size)]


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
    phrases = [f"{width} x {height}"]
    facts = picture.stats.facts
    if "samples" in facts:
        stop_reason = facts.get("stopped by", "spp")
        rule = f"--quality {arguments.quality}" if arguments.quality and arguments.error is None else "--error"
        stop_rule = {"spp": "", "error": f" ({rule} met)"}.get(stop_reason, f" (--{stop_reason} met)")
        samples = facts["samples"]
        samples_text = _counted(samples, "sample") if isinstance(samples, int) else f"{samples} samples"
        phrases.append(f"{samples_text} a pixel{stop_rule}")
    if "estimated error" in facts and not (isinstance(facts["samples"], int) and facts["samples"] < MIN_NOISE_SAMPLES):
        from raystream.renderer.session.session import percent

        denoiser = f" before --denoise {facts['denoised']}" if "denoised" in facts else ""
        phrases.append(f"noise {percent(float(facts['estimated error']))}{denoiser}{_noise_remark(arguments, facts)}")
    phrases += [_counted(triangles, "triangle"), _counted(picture.stats.kernel_passes, "pass", "passes")]
    return (
        f"{printable(arguments.output)}: {', '.join(phrases)}; load {seconds['load']:.2f} s, "
        f"build {seconds['build']:.2f} s, compile and render {seconds['render']:.2f} s"
    )


def _noise_remark(arguments: Namespace, facts: dict[str, Any]) -> str:
    """A remark on a render that has ended above its limit of noise, with the option by which another one would reach
    it; empty where it has none, or has ended below."""
    from raystream.film.error import MIN_ERROR_SAMPLES
    from raystream.renderer.sampling.denoising import noise_limit
    from raystream.renderer.session.session import percent

    samples, error = facts["samples"], float(facts["estimated error"])
    if arguments.error is not None:
        limit, rule, quality_flag = arguments.error, f"--error {arguments.error:g}", ""
    elif arguments.quality is not None:
        limit = noise_limit(arguments.quality, facts.get("denoised", "none"))
        rule = quality_flag = f"--quality {arguments.quality}"
    else:
        return ""
    if error <= limit or (isinstance(samples, int) and samples < MIN_ERROR_SAMPLES):
        return ""
    if facts.get("stopped by") == "time":
        remedy = "a longer --time"
    elif isinstance(samples, int):
        needed = samples * (error / limit) ** 2
        digits = 10 ** max(0, math.floor(math.log10(needed)) - 1)
        remedy = f"{quality_flag} --spp {min(math.ceil(needed / digits) * digits, MAX_SAMPLES)}".strip()
    else:
        remedy = "a larger --spp"
    return f", above the {percent(limit)} of {rule} ({remedy} gets there)"


def _find_state(state: Checkpoint | None, arguments: Namespace) -> list[str]:
    """Choose the file that ``--resume auto`` goes on from; without, mention the state of a stopped render."""
    automatic = arguments.resume == BEST_STATE
    if state is None or not (automatic or arguments.resume is None):
        return []
    path, samples, wrong = state.find(arguments.size, pictures=automatic)
    if not automatic:
        remark = f"{path} holds {_counted(samples, 'sample')} of this picture; --resume auto goes on from there"
        return [] if path is None else [remark]
    arguments.resume = None if path is None else os.fspath(path)
    if path is None:
        return [*(f"not resumed: {reason}" for reason in wrong), "--resume auto: no state to go on from; starts anew"]
    return [f"goes on from {path}, {_counted(samples, 'sample')}"]


def _resume_message(state: Checkpoint | None, arguments: Namespace) -> str:
    """The message for a render ended by Ctrl-C or SIGTERM."""
    if state is None or not (state.saved or state.used):
        return "stopped"
    path = shlex.quote(os.fspath(state.path))
    if not state.saved:
        return f"stopped; go on with --resume {path}"
    goal = sample_limit(arguments.spp, arguments.time, arguments.error, arguments.quality)
    return f"stopped after {state.samples} of {_counted(goal, 'sample')}; go on with --resume {path}"


def _unused_options(arguments: Namespace) -> list[str]:
    """A remark on options that do not serve the chosen program."""
    from raystream.renderer.inputs.settings import unused

    typed = (name for name in OPTIONS if name in arguments.typed)
    return unused(
        arguments.program, (name for name in typed if getattr(arguments, name) != OPTIONS[name].value.default)
    )


def _limit_remarks(renderer: Renderer, arguments: Namespace) -> list[str]:
    """A remark on kernels that are too long for ``--limits``."""
    if arguments.limits == "none" or arguments.quiet:
        return []
    from raystream.stream.analysis.instructions import remarks

    return remarks(
        renderer.gpu_scene.bind(renderer.program(), renderer.settings), arguments.limits, renderer.gpu_scene.resources
    )


@contextmanager
def _driver_warnings_as_notes(arguments: Namespace, progress: TerminalProgress) -> Iterator[None]:
    """Say a DriverWarning as a note, whatever the filters for developers' warnings are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DriverWarning)
        warnings.simplefilter("ignore", ViewerWarning)  # told already
        warnings.showwarning = lambda message, *rest, **more: print_notes([str(message)], arguments, progress)
        yield


def _render_frames(arguments: Namespace) -> bool:
    """Every frame into a file of its own, or all into a movie."""
    from raystream.cli.progress import TerminalProgress

    start_time, counted = perf_counter(), []
    with TerminalProgress(arguments.quiet) as progress:
        progress(None, f"loading {arguments.scene}")
        from raystream.renderer.sequence import save_frames

        finish_loading()
        scene = load_scene(arguments, progress)
        frames = _rendered_frames(scene, arguments, progress)
        remarks: list[list[str]] = []

        def note(frame: Frame) -> None:
            counted.append({"frame": frame.number, "time": frame.seconds, **frame.picture.stats.to_json()})
            remarks.append(frame.picture.remarks(arguments.exposure))

        save_frames(arguments.output, frames, arguments.fps, note, arguments.exposure, arguments.tonemap)
        if all(remarks):  # one that fades to black is meant to
            print_notes(remarks[0], arguments, progress)
    seconds = perf_counter() - start_time
    if arguments.stats is not None:
        part_file.write(arguments.stats, as_json({"frames": counted, "wall_seconds": seconds}))
    if not arguments.quiet:
        width, height = arguments.size
        print(
            f"{printable(arguments.output)}: {_counted(len(counted), 'frame')} of {width} x {height}, "
            f"{_counted(scene.triangle_count, 'triangle')}; {seconds:.2f} s, {seconds / len(counted):.2f} s a frame"
        )
    return True


def _rendered_frames(scene: Scene, arguments: Namespace, progress: TerminalProgress) -> Generator[Frame, None, None]:
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
    from raystream.farm.pictures import render_frames as farm_frames

    options |= {"cluster": arguments.cluster, "mix_builds": arguments.mix_builds}
    return farm_frames(
        **options,
        films=arguments.output.lower().endswith(".exr"),
        notify=lambda line: print_notes([line], arguments, progress),
    )


def _counted(count: int, singular: str, plural: str = "") -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


# -- several scenes: one picture each, by one renderer or by several processes; a scene that fails is told at the end --

PLACEHOLDER = re.compile(r"\{(stem|name|index)\}")
EXAMPLE = "such as -o {stem}.png; there are {stem}, {name} and {index}"
RENDERER = "raystream.cli.rendering:SceneRenderer"  # of workers
SINGLE_SCENE_OPTIONS = ("frames", "resume", "stats")  # options of one picture, or of one scene


def render(arguments: Namespace) -> bool | int:
    """Render every scene of ``arguments.scenes`` to a file of its own; whether all is well, or the exit code that each
    failed picture would have by itself."""
    arguments.scenes = scenes = [name for word in arguments.scenes for name in _expand_pattern(word)]
    if len(scenes) == 1:
        arguments.scene = scenes[0]
        if arguments.output is not None and PLACEHOLDER.search(arguments.output):
            arguments.output = output_path(arguments.output, scenes[0], 0, 1)
            with _folders([arguments.output]):
                check_render(arguments)
        return render_scene(arguments)
    from raystream.cli.progress import TerminalProgress

    tasks, start_time, failed = _scene_tasks(arguments, scenes), perf_counter(), list[tuple[str, int]]()
    jobs = min(arguments.jobs, len(tasks))
    with TerminalProgress(arguments.quiet) as progress:
        try:
            outcomes = _by_processes(tasks, jobs, progress) if jobs > 1 else _by_this_process(tasks, progress)
            for result, fault in outcomes:
                if fault:
                    failed.append((fault, result if isinstance(result, int) else FAULT))
                elif not arguments.quiet:
                    progress.print_line(str(result))
        except KeyboardInterrupt as stop:
            stop.args = ("stopped; the pictures that are written are whole",)
            raise
    for fault, _ in failed:
        print(f"raystream: error: {printable(fault)}", file=sys.stderr)
    if not arguments.quiet:
        done, seconds = len(tasks) - len(failed), perf_counter() - start_time
        print(f"{done} of {len(tasks)} pictures; {seconds:.2f} s, {seconds / len(tasks):.2f} s a picture")
    return min(code for _, code in failed) if failed else True


def _expand_pattern(word: str) -> list[str]:
    """The files of a pattern, where the shell has left one; any other word itself."""
    files = sorted(glob(word)) if "*" in word and not os.path.exists(word) else []
    return files or [word]


def output_path(pattern: str, scene: str, index: int, count: int) -> str:
    """The file of the scene of that index among ``count``: placeholders in the pattern are replaced."""
    path = Path(scene)
    values = {"stem": path.stem, "name": path.name, "index": str(index).zfill(len(str(count - 1)))}
    return PLACEHOLDER.sub(lambda match: values[match[1]], pattern)


def _scene_tasks(arguments: Namespace, scenes: Sequence[str]) -> list[Namespace]:
    """The arguments of each picture. Raises ViewerError, before any work, for an unwritable file and for two pictures
    in one file."""
    if arguments.output is None or not PLACEHOLDER.search(arguments.output):
        where = "--output" if arguments.output is None else arguments.output
        named = f"'{scenes[0]}', '{scenes[1]}'{' ...' if len(scenes) > 2 else ''}"
        raise ViewerError(where, f"one file cannot hold the pictures of {len(scenes)} scenes, {named}", EXAMPLE)
    for name in SINGLE_SCENE_OPTIONS:
        if name in arguments.typed:
            raise ViewerError(f"--{name}", f"is for one scene, and there are {len(scenes)}", "render them one by one")
    owners: dict[str, int] = {}
    tasks = []
    for index, scene in enumerate(scenes):
        output = output_path(arguments.output, scene, index, len(scenes))
        first = owners.setdefault(os.path.realpath(output), index)
        if first != index:
            raise ViewerError(output, f"both {scenes[first]} and {scene} would go there", "add {index} to -o")
        tasks.append(Namespace(**{**vars(arguments), "scene": scene, "output": output}))
    with _folders([task.output for task in tasks]):
        for task in tasks:
            check_render(task)
    return tasks


@contextmanager
def _folders(outputs: Sequence[str]) -> Iterator[None]:
    """Create the missing folders of these files, whose parents exist; remove them after an error in the block."""
    created: list[Path] = []
    try:
        for folder in dict.fromkeys(Path(output).parent for output in outputs):
            with suppress(OSError, ValueError):  # the check tells why
                if not folder.exists():
                    folder.mkdir()
                    created.append(folder)
        yield
    except BaseException:
        for folder in created:
            with suppress(OSError):
                folder.rmdir()
        raise


class SceneRenderer:
    """Pictures one after the other by one renderer: device and compiled programs stay."""

    def __init__(self) -> None:
        self._renderer: Renderer | None = None

    def render(self, task: Namespace, progress: TerminalProgress) -> tuple[str | int, str]:
        """Render and write a task's picture: (its summary line, ""), or (exit code, fault)."""
        try:
            done = render_picture(task, progress, self._renderer)
        except Exception as error:
            if task.debug:
                traceback.print_exc()
            if not isinstance(error, ViewerError):  # after which the renderer is as it was
                self._renderer = None
            code, fault = exit_code_and_message(error)
            return code, fault if fault.startswith(task.scene) else f"{task.scene}: {fault}"
        self._renderer = done.renderer
        return done.line, ""


def _by_this_process(tasks: Sequence[Namespace], progress: TerminalProgress) -> Iterator[tuple[str | int, str]]:
    """Every picture by this process."""
    renderer = SceneRenderer()
    for index, task in enumerate(tasks):
        progress.begin_part(index, len(tasks), os.path.basename(task.scene))
        yield renderer.render(task, progress)


def _by_processes(tasks: Sequence[Namespace], jobs: int, progress: TerminalProgress) -> Iterator[tuple[str | int, str]]:
    """Every picture by one of ``jobs`` processes, in the order in which they are done."""
    for done, (notes, line, fault) in enumerate(results(tasks, jobs, RENDERER), 1):
        for note in notes:
            progress.note(note)
        progress(done / len(tasks), f"{done} of {len(tasks)} pictures, {jobs} processes")
        yield line, fault


# -- whether a picture, or frames, can be written: found out before any work -------------------------------------------


def check_output(arguments: Namespace) -> None:
    """Find out before any work whether the picture, or the frames, can be written; refuse options that do nothing."""
    from raystream.film.files.image import check_alpha, check_path
    from raystream.film.files.movie import check_output as check_movie
    from raystream.film.files.movie import is_movie
    from raystream.renderer.device.footprint import check_memory

    _check_cluster(arguments)
    if "motion_keys" in arguments.typed and arguments.shutter is None:
        raise ViewerError("--motion-keys", "needs --shutter", "such as --shutter 0,0.5")
    # As little as any program takes: the renderer, which knows more, looks again.
    check_memory(arguments.size, progressive=False, layers=arguments.layers)
    if arguments.frames is not None:
        if arguments.moment is not None:
            raise ViewerError("--moment", "is for one picture, and --frames for many", "give one of them")
        if arguments.resume is not None:
            raise ViewerError("--resume", "is for one picture, and --frames for many", "give one of them")
        if arguments.output == STANDARD_OUTPUT:
            raise ViewerError("--output -", "is for one picture, and --frames for many", "such as -o frame_%04d.png")
        check_movie(arguments.output, arguments.frames, arguments.size, arguments.fps, arguments.layers)
        if arguments.background == "transparent" and is_movie(arguments.output):
            raise ViewerError(arguments.output, "a movie has no alpha channel", "such as -o frame_%04d.png")
        return
    if arguments.output == STANDARD_OUTPUT:
        _check_standard_output(arguments)
    elif is_movie(arguments.output):
        raise ViewerError(arguments.output, "a movie needs --frames", "such as --frames 0-119")
    if arguments.turntable:
        raise ViewerError("--turntable", "needs --frames", "such as --frames 0-119 -o frame_%04d.png")
    if arguments.shutter is not None and arguments.moment is None:
        raise ViewerError("--shutter", "needs --moment or --frames", "such as --moment 1.5")
    if arguments.animation is not None and arguments.moment is None:
        raise ViewerError("--animation", "needs --moment or --frames", "such as --moment 1.5")
    if arguments.resume not in (None, BEST_STATE) and not os.path.isfile(arguments.resume):
        raise ViewerError(arguments.resume, "there is no such file to go on from", "an EXR that a render has left")
    if arguments.output != STANDARD_OUTPUT:
        check_path(arguments.output, arguments.layers)
        if arguments.background == "transparent":
            check_alpha(arguments.output)


def _check_cluster(arguments: Namespace) -> None:
    if arguments.cluster is not None:
        from raystream.farm.cluster import check_cluster

        check_cluster(arguments.cluster)
        if arguments.frames is not None and "unit" in arguments.typed:
            raise ViewerError("--unit", "is for one picture: of many, a frame is the unit", "leave it out")
        return
    for name, option in OPTIONS.items():  # a switch that is off is typed, too
        if option.scope.needs == "cluster" and name in arguments.typed and getattr(arguments, name):
            raise ViewerError(option.flag, "needs --cluster", "such as --cluster local")


def _check_standard_output(arguments: Namespace) -> None:
    if sys.stdout is None or sys.stdout.isatty():
        what = "standard output is closed" if sys.stdout is None else "standard output is a terminal"
        raise ViewerError("--output -", what, "send it to a file or a program: -o - > picture.png")
    if arguments.layers:
        raise ViewerError("--output -", f"a PNG cannot hold the layers {', '.join(arguments.layers)}", "save as .exr")
