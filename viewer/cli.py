"""The command ``raystream``: reads the arguments, calls the library, and alone prints errors and exits.

Exit codes: 0 done; 1 a fault of the program, or shaders that do not compile; 2 something that the user can mend;
130 stopped by Ctrl-C; 141 the reader of the output has gone.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from viewer.errors import ViewerError
from viewer.options import OPTIONS, check, keywords, suggestion, with_choices

if TYPE_CHECKING:
    from viewer.progress import Progress
    from viewer.scene.scene import Scene

FIRST_SCENE, FIRST_PICTURE = "cornell", "cornell.png"
# What the window takes of the options; the rest is the file's or the panels' business.
VIEWED = (
    *("program", "machine", "policy", "unroll", "fuse", "mask", *keywords("prepare"), "camera", "fov"),
    *("barrier", "memory", "debug"),
)
DONE, FAULT, USER_ERROR, STOPPED, BROKEN_PIPE = 0, 1, 2, 130, 141


@dataclass(frozen=True)
class Command:
    """A command: its line of help, what stands after it, its options, whether it takes a scene, and what it does."""

    help: str
    usage: str
    run: Callable[[argparse.Namespace], int]
    options: tuple[str, ...] = ()
    scene: bool = False
    json: bool = False


def entry() -> NoReturn:
    """The script's entry: run and exit."""
    import signal
    import warnings

    if not sys.warnoptions and "--debug" not in sys.argv:
        warnings.simplefilter("ignore")  # remarks for developers, not for whoever renders
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the interpreter's own end
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (the process's own without) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            code = _dispatch(arguments)
        except SystemExit:  # argparse, after --help
            code = DONE
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _complain("stopped", STOPPED, kind="")
    except BrokenPipeError:
        _abandon_output()
        return BROKEN_PIPE
    except BaseException as error:
        code, line = _explain(error)
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        if isinstance(error, OSError):
            _abandon_output()
        return _complain(line, code)


def _explain(error: BaseException) -> tuple[int, str]:
    """Exit code and line for an exception."""
    if isinstance(error, ViewerError):
        return USER_ERROR, str(error)
    if isinstance(error, MemoryError):
        return USER_ERROR, "not enough memory (choose a smaller scene or --size)"
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
        return USER_ERROR, what
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return FAULT, f"{text} (this is a bug in raystream; --debug shows where)"


def _complain(line: str, code: int, kind: str = "error: ") -> int:
    print(f"raystream: {kind}{printable(line)}", file=sys.stderr)
    return code


def _abandon_output() -> None:
    """Send what is still buffered nowhere, or Python complains once more when it ends."""
    with suppress(OSError, ValueError):  # standard output may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printable(text: str) -> str:
    """The text with control characters and broken encodings escaped: a scene's names go to the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        return _first()
    first, rest = arguments[0], arguments[1:]
    if first in COMMANDS:
        return COMMANDS[first].run(_parse(first, rest))
    if first in ("-h", "--help"):
        print(_overview())
        return DONE
    if first == "--version":
        from viewer.version import __version__

        print(f"raystream {__version__}")
        return DONE
    if first.startswith("-"):
        raise ViewerError(f"option '{first}'", "expected a command before any option", _commands())
    hint = suggestion(first, COMMANDS)
    if not hint and (os.path.exists(first) or first.isidentifier()):
        hint = f"to see a scene: raystream view {first}; to render it: raystream render {first} -o picture.png"
    raise ViewerError(f"command '{first}'", "unknown", hint or _commands())


def _commands() -> str:
    return f"commands: {', '.join(COMMANDS)}"


def _overview() -> str:
    from viewer.scene.builtin import SCENES

    width = max(len(f"{name} {command.usage}") for name, command in COMMANDS.items()) + 2
    lines = [
        "usage: raystream COMMAND ...",
        "",
        "Ray tracing as stream programs on the fragment processor of an OpenGL 3.3 GPU.",
        f"Without arguments it shows the {FIRST_SCENE} scene in a window, or where there is no display renders it to",
        f"./{FIRST_PICTURE}.",
        "",
        "commands:",
        *(f"  {f'{name} {command.usage}':{width}}{command.help}" for name, command in COMMANDS.items()),
        "",
        "  -h, --help  after a command: its options        --version  the version",
        "",
        "SCENE is a file (.gltf .glb .ply .obj .stl) or, where there is none of that name,",
        f"a built-in scene ({', '.join(SCENES)}).",
    ]
    return "\n".join(lines)


class _Parser(argparse.ArgumentParser):
    """Tells its errors as every other error is told."""

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file)  # argparse's own swallows a full disk

    def error(self, message: str) -> NoReturn:
        found = re.fullmatch(r"argument (?:-\w/)?--([\w-]+): (.*)", message)
        if found and found[1] in OPTIONS:
            option, what = OPTIONS[found[1]], found[2]
            if "expected one argument" in what:
                what = f"the value is missing; expected {option.expected() or option.metavar}"
            elif option.switch:
                what = "takes no value"
            raise ViewerError(option.flag, what)
        raise ViewerError(self.prog.removeprefix("raystream "), message, f"see {self.prog} --help")


def _parser(name: str, choices: dict[str, Collection[str]]) -> _Parser:
    command = COMMANDS[name]
    parser = _Parser(
        prog=f"raystream {name}",
        usage=f"raystream {name} {command.usage}",
        description=f"{command.help[0].upper()}{command.help[1:]}.",
        allow_abbrev=False,
    )
    if command.scene:
        parser.add_argument("scene", nargs="?", metavar="SCENE", help="a scene file or the name of a built-in scene")
    if command.json:
        parser.add_argument("--json", action="store_true", help="the same as data")
    for each in command.options:
        option = OPTIONS[each]
        if each in choices:
            option = with_choices(option, tuple(choices[each]))
        flags = [option.short, option.flag] if option.short else [option.flag]
        if option.switch:
            parser.add_argument(*flags, action="store_true", help=option.help)
            continue
        words, default = option.expected(), option.default_words()
        text = option.help + (f"; {words}" if words else "") + (f" (default: {default})" if default else "")
        # argparse reads % in a help text as a format.
        action = "append" if option.repeats else "store"
        parser.add_argument(*flags, action=action, metavar=option.metavar, help=text.replace("%", "%%"))
    return parser


def _choices() -> dict[str, Collection[str]]:
    """What higher floors register, by option."""
    from viewer.film.layers import LAYERS
    from viewer.film.tonemap import TONE_MAPS
    from viewer.programs import PICTURES

    return {"program": tuple(PICTURES), "layers": tuple(LAYERS), "tonemap": tuple(TONE_MAPS)}


def options_table() -> str:
    """The README's table of options, with what this installation registers."""
    from viewer.options import markdown_table

    return markdown_table(_choices())


def _parse(name: str, arguments: list[str]) -> argparse.Namespace:
    """The command's arguments, every option checked. Raises ViewerError with one line that says what is wrong."""
    command = COMMANDS[name]
    choices = _choices() if "program" in command.options else {}
    parser = _parser(name, choices)
    found, unknown = parser.parse_known_args(arguments)
    known = [flag for action in parser._actions for flag in action.option_strings]
    for word in unknown:
        if word.startswith("-") and word != "-":
            typed = word.partition("=")[0]
            raise ViewerError(f"option '{typed}'", "unknown", suggestion(typed, known) or f"see {parser.prog} --help")
    if unknown:
        raise ViewerError(f"'{unknown[0]}'", "one argument too many", f"usage: {parser.usage}")
    if command.scene and not found.scene:
        raise ViewerError(name, "the scene is missing", f"usage: {parser.usage}")
    for each in command.options:
        value = getattr(found, each)
        setattr(found, each, OPTIONS[each].default if value is None else check(each, value, choices.get(each, ())))
    return found


def _first() -> int:
    """Without arguments: the first scene in a window, or where there is no display in a picture."""
    if _has_display():
        return _view(_parse("view", [FIRST_SCENE]))
    arguments = _parse("render", [FIRST_SCENE, "-o", os.path.abspath(FIRST_PICTURE)])
    code = _render(arguments)
    print("raystream --help shows what else it can do", file=sys.stderr)
    return code


def _render(arguments: argparse.Namespace) -> int:
    from time import perf_counter

    if arguments.output is None:
        raise ViewerError("--output", "is missing; it names the picture", "such as -o picture.png")
    _check_motion(arguments)
    if arguments.stats is not None:
        _check_text_path(arguments.stats)
    if arguments.frames is not None:
        return _render_frames(arguments)
    from viewer.progress import Progress

    times = [perf_counter()]
    with Progress(arguments.quiet) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        from viewer.render import Renderer

        scene = _load(arguments, progress)
        if arguments.moment is not None:
            scene = scene.posed(arguments.moment)
        times.append(perf_counter())
        progress(None, "building")
        renderer = Renderer(scene, **{name: getattr(arguments, name) for name in keywords("renderer")})
        _tell(renderer.notes, arguments, progress)
        times.append(perf_counter())
        state = renderer.checkpoint(arguments.output)
        picture = renderer.render(
            **{name: getattr(arguments, name) for name in keywords("render")},
            stats=arguments.stats is not None,
            progress=progress,
            state=state,
        )
        times.append(perf_counter())
        picture.save(arguments.output, arguments.exposure, arguments.tonemap)
        if state is not None:
            state.finish()
    load, build, render = (after - before for before, after in pairwise(times))
    if arguments.stats is not None:
        seconds = {"load": load, "build": build, "render": render}
        _write_text(arguments.stats, _json({**picture.stats.to_json(), "wall_seconds": seconds}))
    if not arguments.quiet:
        width, height = arguments.size
        samples = picture.stats.facts.get("samples")
        counted = "" if samples is None else f", {_count(samples, 'sample')} a pixel"
        print(
            f"{printable(arguments.output)}: {width} x {height}{counted}, {_count(scene.triangle_count, 'triangle')}, "
            f"{_count(picture.stats.kernel_passes, 'pass', 'passes')}; load {load:.2f} s, build {build:.2f} s, "
            f"compile and render {render:.2f} s"
        )
    return DONE


def _check_motion(arguments: argparse.Namespace) -> None:
    """Find out before any work whether the picture, or the frames, can be written; refuse options that do nothing."""
    from viewer.film.image import check_path
    from viewer.film.movie import check_output, is_movie

    if arguments.frames is not None:
        if arguments.moment is not None:
            raise ViewerError("--moment", "is for one picture, and --frames for many", "give one of them")
        check_output(arguments.output, arguments.frames, arguments.size, arguments.fps, arguments.layers)
        return
    if is_movie(arguments.output):
        raise ViewerError(arguments.output, "a movie needs --frames", "such as --frames 0-119")
    if arguments.turntable:
        raise ViewerError("--turntable", "needs --frames", "such as --frames 0-119 -o frame_%04d.png")
    if arguments.animation is not None and arguments.moment is None:
        raise ViewerError("--animation", "needs --moment or --frames", "such as --moment 1.5")
    check_path(arguments.output, arguments.layers)


def _load(arguments: argparse.Namespace, progress: Progress) -> Scene:
    """The scene with its notes told and its animation chosen."""
    import viewer

    scene = viewer.load(arguments.scene)
    _tell(scene.warnings, arguments, progress)
    if arguments.animation is not None:
        scene.play(arguments.animation)
    return scene


def _tell(notes: Iterable[str], arguments: argparse.Namespace, progress: Progress) -> None:
    if not arguments.quiet:
        for line in notes:
            progress.note(f"raystream: note: {printable(line)}")


def _render_frames(arguments: argparse.Namespace) -> int:
    """Every frame into a file of its own, or all into a movie."""
    from time import perf_counter

    from viewer.progress import Progress

    begin, counted = perf_counter(), []
    with Progress(arguments.quiet) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        from viewer.sequence import render_frames, save_frames

        scene = _load(arguments, progress)
        frames = render_frames(
            scene,
            arguments.frames,
            arguments.fps,
            arguments.turntable,
            render={name: getattr(arguments, name) for name in keywords("render")}
            | {"stats": arguments.stats is not None},
            progress=progress,
            **{name: getattr(arguments, name) for name in keywords("renderer")},
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
        _write_text(arguments.stats, _json({"frames": counted, "wall_seconds": seconds}))
    if not arguments.quiet:
        width, height = arguments.size
        print(
            f"{printable(arguments.output)}: {_count(len(counted), 'frame')} of {width} x {height}, "
            f"{_count(scene.triangle_count, 'triangle')}; {seconds:.2f} s, {seconds / len(counted):.2f} s a frame"
        )
    return DONE


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _view(arguments: argparse.Namespace) -> int:
    from viewer.window.app import App

    App(arguments.scene, **{name: getattr(arguments, name) for name in VIEWED if name != "debug"}).run()
    return DONE


def _has_display() -> bool:
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _info(arguments: argparse.Namespace) -> int:
    from viewer.progress import Progress
    from viewer.report import describe, lines

    with Progress(arguments.json) as progress:
        progress(None, f"loading {printable(arguments.scene)}")
        import viewer

        scene = viewer.load(arguments.scene)
        progress(None, "building")
        data = describe(scene)
    _emit(data, lines, arguments.json)
    return DONE


def _devices(arguments: argparse.Namespace) -> int:
    from viewer.report import device_lines
    from viewer.stream.device import devices

    _emit(devices(), device_lines, arguments.json)
    return DONE


def _check_shaders(arguments: argparse.Namespace) -> int:
    from viewer.shader_check import check_shaders

    failures = check_shaders(report=lambda line: print(printable(line)))
    return FAULT if failures else DONE


def _emit(data: Any, lines: Callable[[Any], Iterable[str]], json: bool) -> None:
    print(_json(data) if json else "\n".join(printable(line) for line in lines(data)))


def _json(data: Any) -> str:
    import json

    from viewer.report import plain

    return json.dumps(plain(data), indent=2, allow_nan=False)


def _check_text_path(path: str) -> None:
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ViewerError(path, "is a folder", "give a file name")
    if not os.path.isdir(folder):
        raise ViewerError(path, f"there is no folder {folder}", "make it first")
    if not os.access(folder, os.W_OK):
        raise ViewerError(path, "cannot be written: permission denied", "choose another folder")


def _write_text(path: str, text: str) -> None:
    """Write beside the file and rename, so that it is there whole or not at all."""
    import secrets

    target = os.path.realpath(path)
    part = os.path.join(os.path.dirname(target), f".raystream-{secrets.token_hex(6)}.part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(part, target)
    except OSError as error:
        raise ViewerError(path, f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


COMMANDS = {
    "render": Command("render a scene to a picture", "SCENE -o OUT [options]", _render, tuple(OPTIONS), scene=True),
    "view": Command("fly through a scene in a window", "SCENE [options]", _view, VIEWED, scene=True),
    "info": Command(
        "tell what a scene holds and what it takes", "SCENE [--json]", _info, ("debug",), scene=True, json=True
    ),
    "devices": Command("list the GPUs and what their OpenGL can do", "[--json]", _devices, ("debug",), json=True),
    "check-shaders": Command("assemble and compile every program", "", _check_shaders, ("debug",)),
}
