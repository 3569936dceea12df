"""The commands of ``raystream`` but ``render``, by their checked arguments, and the parts that all of them share.

Faults are exceptions, which the command line tells by `exit_code_and_message`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError, brief, printable
from raystream.base.part_file import STANDARD_OUTPUT
from raystream.base.start import finish_loading
from raystream.cli.presets import preset
from raystream.options.table import OPTIONS, keywords, names_of_part, viewable_options

if TYPE_CHECKING:
    from argparse import Namespace

    from raystream.cli.progress import TerminalProgress
    from raystream.scene.scene import Scene

FAULT, USER_ERROR = 1, 2  # exit codes: an error of the program, one of the user


def view(arguments: Namespace) -> bool:
    """``raystream view``: the window. Bad scenes are reported before it opens."""
    from raystream.formats import recognise
    from raystream.formats.named import is_builtin

    if not is_builtin(arguments.scene):
        recognise(arguments.scene)
    chosen = view_options(arguments)
    if arguments.remote is not None:
        from raystream.remote.serve import serve

        finish_loading()
        serve(arguments.scene, arguments.remote, arguments.remote_host, **chosen)
        return True
    from raystream.window.opening import opened

    opened(arguments.scene, **chosen).run()
    return True


def view_options(arguments: Namespace) -> dict[str, Any]:
    """The options of a view as keywords: those that are typed, and those of a preset. The size and the samples that it
    has are a file's: a picture on show goes on until the window's own rules end it."""
    chosen = set(arguments.typed)
    if arguments.preset is not None:
        chosen |= preset(arguments.preset, arguments.scene, arguments.program).keys() - set(keywords("render"))
    return {
        name: getattr(arguments, name)
        for name in viewable_options()
        if name in chosen and OPTIONS[name].scope.part != "command"
    }


def info(arguments: Namespace) -> bool:
    """``raystream info``: a scene's contents."""
    from raystream.cli.progress import TerminalProgress
    from raystream.cli.report import describe, lines

    with TerminalProgress(arguments.json) as progress:
        progress(None, f"loading {arguments.scene}")
        from raystream.base import jit
        from raystream.formats.named import load

        if not arguments.json:
            note = "raystream: note: compiling what reads scenes and builds their trees, once on this machine"
            jit.on_compile[:] = [lambda: progress.note(note)]
        scene = load(arguments.scene, lenient=arguments.lenient, max_texture=arguments.max_texture)
        progress(None, "building")
        structure = {
            name: getattr(arguments, name)
            for name in names_of_part("structure")
            if "info" in OPTIONS[name].scope.offered
        }
        data = describe(scene, arguments.program, arguments.max_texture, structure)
    print_report(data, lines, arguments.json)
    return True


def graph(arguments: Namespace) -> bool:
    """``raystream graph``: a program as a diagram."""
    from raystream.cli.graph import write_graph

    if arguments.output == STANDARD_OUTPUT and sys.stdout is None:
        raise ViewerError("-o -", "standard output is closed", "send it to a file or a program")
    write_graph(arguments.program, arguments.output)
    return True


def check_shaders(arguments: Namespace) -> bool:
    """``raystream check-shaders``: whether all compile, or those of one program."""
    from raystream.cli.progress import TerminalProgress
    from raystream.cli.shader_check import check_shaders as check
    from raystream.renderer.inputs.program_file import read_program

    program = None if arguments.program is None else read_program(arguments.program)
    with TerminalProgress() as progress:
        return not check(progress.print_line, program=program, progress=progress)


def devices(arguments: Namespace) -> bool:
    """``raystream devices``: the GPUs, and the values of ``auto`` there."""
    from raystream.cli.report import device_lines
    from raystream.renderer.device.tuning import load_tuning, tuning
    from raystream.stream.gl.device import devices as found
    from raystream.stream.gl.device import driver_name

    if arguments.measure is not None:
        _measure(arguments)
    listed, measured = found(), load_tuning()
    for device in listed:
        if "error" not in device:
            driver = driver_name(device["renderer"], device["version"])
            device |= {"auto": dict(tuning(driver, device["software"])), "measured": driver in measured}
            if driver in measured:
                results = measured[driver]
                outcomes = {
                    name: [outcome._asdict() for outcome in getattr(results, name)] for name in ("trials", "skipped")
                }
                device |= {"since": results.since, **outcomes, "note": results.note}
    print_report(listed, device_lines, arguments.json)
    return True


def _measure(arguments: Namespace) -> None:
    """Measure the values of ``auto`` on the driver's own device."""
    from raystream.cli.progress import TerminalProgress
    from raystream.formats.named import load
    from raystream.renderer.renderer import Renderer
    from raystream.renderer.session.trials import measure

    with TerminalProgress(arguments.json) as progress:
        progress(None, f"loading {arguments.measure}")
        renderer = Renderer(load(arguments.measure), program="path", memory="buffer")
        progress(None, "compiling and measuring")
        measure(renderer)


def load_scene(arguments: Namespace, progress: TerminalProgress) -> Scene:
    """Load the scene of the arguments, print its notes, and choose its animation."""
    from raystream.formats.named import load
    from raystream.scene.edits.framed import FRAMED

    variant, lenient, max_texture = arguments.variant, arguments.lenient, arguments.max_texture
    scene = load(arguments.scene, variant=variant, lenient=lenient, max_texture=max_texture)
    has_camera = getattr(arguments, "camera", None) is not None  # then none stands in for the first one
    print_notes([note for note in scene.warnings if not (has_camera and FRAMED in note)], arguments, progress)
    if arguments.animation is not None:
        scene.play(arguments.animation)
    return scene


def scene_at_moment(scene: Scene, arguments: Namespace, progress: TerminalProgress) -> Scene:
    """The scene at the time of --moment, or while the shutter of a frame is open that begins there."""
    if arguments.moment is None:
        return scene
    from raystream.renderer.sequence import moment_remarks, scene_at

    print_notes(moment_remarks(scene, arguments.moment), arguments, progress)
    return scene_at(scene, arguments.moment, arguments.fps, arguments.shutter, arguments.motion_keys)


def chosen_options(arguments: Namespace, taker: Any) -> dict[str, Any]:
    """The values, by name, of the options that one taker has as keywords. taker : see `Scope`."""
    return {name: getattr(arguments, name) for name in keywords(taker)}


def print_notes(notes: Iterable[str], arguments: Namespace, progress: TerminalProgress) -> None:
    """Print notes on standard error, above the bar, unless ``--quiet``; of one of several scenes with its name."""
    scene = f"{arguments.scene}: " if len(getattr(arguments, "scenes", ())) > 1 else ""
    if not arguments.quiet:
        for line in notes:
            progress.note(f"raystream: note: {scene}{line}")


def print_report(data: Any, lines: Callable[[Any], Iterable[str]], json: bool) -> None:
    """Print a report on standard output, as JSON or in lines. Raises ViewerError where that is closed."""
    if sys.stdout is None:
        raise ViewerError("standard output", "is closed", "give it a file or a terminal")
    print(as_json(data) if json else "\n".join(brief(printable(line)) for line in lines(data)))


def as_json(data: Any) -> str:
    """The JSON text of a report; NaN and infinities as null."""
    import json

    from raystream.cli.report import json_value

    return json.dumps(json_value(data), indent=2, allow_nan=False)


def doctor(arguments: Namespace) -> bool:
    """``raystream doctor``: examine a device and write the report; False where a check fails."""
    from time import perf_counter

    from raystream.base import part_file
    from raystream.cli.doctor import examination, report_data, report_lines, verdicts
    from raystream.cli.progress import TerminalProgress
    from raystream.stream.selftest.check import FAIL

    path, start_time = arguments.output, perf_counter()
    if path != STANDARD_OUTPUT:
        part_file.check_path(path)
    with TerminalProgress(arguments.quiet) as progress:
        progress(0.0, "examining the device")
        findings = examination(arguments.device, progress)
    report = report_data(findings, perf_counter() - start_time)
    if path == STANDARD_OUTPUT:
        print(as_json(report))
    else:
        part_file.write(path, as_json(report))
    if not arguments.quiet:
        # Where the report goes to standard output, nothing else does.
        stream = sys.stderr if path == STANDARD_OUTPUT else sys.stdout
        for line in report_lines(report, path):
            print(printable(line), file=stream)
    return not verdicts(report)[FAIL]


def exit_code_and_message(error: BaseException) -> tuple[int, str]:
    """(exit code, message in one line) of a command that an exception ends."""
    if isinstance(error, ViewerError):
        return USER_ERROR, error.typed
    if isinstance(error, MemoryError):
        return USER_ERROR, "not enough memory (choose a smaller scene or --size)"
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
        return USER_ERROR, what
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return FAULT, f"{text} (this is a bug in raystream; --debug shows where, `raystream doctor` what the driver does)"
