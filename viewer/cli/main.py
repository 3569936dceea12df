"""The command ``raystream``: reads the arguments, runs the command, and alone prints errors and exits.

Exit codes: 0 done; 1 a fault of the program, shaders that do not compile, or pictures beyond ``--limit``; 2 something
that the user can mend; 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by the end of the terminal (SIGHUP); 141 the reader
of the output has gone.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from raystream.base import distributions
from raystream.base.errors import ViewerError, printable
from raystream.base.interrupts import EXIT_SIGNALS, Terminated, exit_now, terminate
from raystream.base.start import finish_loading
from raystream.cli import commands, rendering
from raystream.cli.commands import FAULT, exit_code_and_message
from raystream.cli.dataset import dataset
from raystream.cli.presets import preset
from raystream.cli.thumbnail import thumbnail
from raystream.options.commands import CHECK, COMPARE, DATASET, DOCTOR, GRAPH, MEASURE, REMOTE, THUMBNAIL
from raystream.options.declare import Option, join_words, suggestion
from raystream.options.table import OPTIONS, by_topic, check, suggest_option, viewable_options

FIRST_SCENE, FIRST_PICTURE = "cornell", "cornell.png"
DONE, STOPPED, BROKEN_PIPE = 0, 130, 141
SCREEN_LINES, FLAG_WIDTH = 40, 24  # lines of a screen; characters of an option as typed, in a list of one line each
ALL_TOPICS = "all"  # of the topics of a command's help


@dataclass(frozen=True)
class Positional:
    """A positional argument. many : any number of them. required : told where it is missing; others the command's own
    function checks."""

    name: str
    metavar: str
    help: str
    many: bool = False
    required: bool = False


SCENE = Positional("scene", "SCENE", "a scene file or the name of a built-in scene", required=True)
SCENES = replace(SCENE, many=True)


@dataclass(frozen=True)
class Command:
    """A command: its line of help, its usage, its function, and its arguments. json : it has ``--json``."""

    help: str
    usage: str
    run: Callable[[argparse.Namespace], bool | int]  # whether all is well, or the exit code
    options: tuple[str, ...] = ()
    positionals: tuple[Positional, ...] = ()
    json: bool = False
    specific_options: Mapping[str, Option] = field(default_factory=dict)  # those of this command alone

    def option(self, name: str) -> Option:
        """The declaration of one of its options, as it is registered where programs are its business."""
        return self.specific_options.get(name) or (self._registered if "program" in self.options else OPTIONS)[name]

    @cached_property
    def _registered(self) -> Mapping[str, Option]:
        from raystream.renderer.inputs.settings import registered

        return registered()


def entry() -> NoReturn:
    """The script's entry: run and exit."""
    import warnings

    _open_standard_files()
    if not sys.warnoptions and "--debug" not in sys.argv:
        warnings.simplefilter("ignore")  # remarks for developers, not for whoever renders
    try:
        for signum in EXIT_SIGNALS:
            if signal.getsignal(signum) != signal.SIG_IGN:  # as under nohup
                signal.signal(signum, terminate)
        code = main()
        for signum in EXIT_SIGNALS:  # a second one must not interrupt the interpreter's own end
            signal.signal(signum, signal.SIG_IGN)
    except KeyboardInterrupt as stop:  # between those lines and `main`'s own
        code = _stopped(stop)
        for signum in EXIT_SIGNALS:
            signal.signal(signum, signal.SIG_IGN)
    # Interrupted in a text that is executed (of a dataclass, while modules load), Python remembers that until it
    # executes the next, and would end by the signal instead of with the code.
    exec("")
    exit_now(code)
    sys.exit(code)


def _open_standard_files() -> None:
    """Keep standard input, output and error open, or the next file opened takes their place and the prints of
    libraries; and escape characters that their encoding lacks."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:  # print would take that for standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (the process's own without) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            code = _dispatch(arguments)
        except SystemExit:  # argparse, after --help
            code = DONE
        if sys.stdout is not None:
            sys.stdout.flush()
        _print_plugin_faults("--quiet" in arguments)
        return code
    except KeyboardInterrupt as stop:
        return _stopped(stop)
    except BrokenPipeError:
        _abandon_output()
        return BROKEN_PIPE
    except BaseException as error:
        code, line = exit_code_and_message(error)
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        if isinstance(error, OSError):
            _abandon_output()
        _print_plugin_faults("--quiet" in arguments)  # a plug-in that is left out may be the reason
        return _complain(line, code)


def _print_plugin_faults(quiet: bool) -> None:
    """Print the notes on plug-ins that were left out, once."""
    for fault in () if quiet else distributions.faults:
        print(f"raystream: note: {printable(fault)}", file=sys.stderr)
    distributions.faults.clear()


def _stopped(stop: KeyboardInterrupt) -> int:
    code, Terminated.last = stop.code if isinstance(stop, Terminated) else STOPPED, None
    return _complain(str(stop) or "stopped", code, kind="")


def _complain(line: str, code: int, kind: str = "error: ") -> int:
    print(f"raystream: {kind}{printable(line)}", file=sys.stderr)
    return code


def _abandon_output() -> None:
    """Send buffered output nowhere, or Python complains once more when it ends."""
    with suppress(OSError, ValueError, AttributeError):  # standard output may be no file, or closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        return _show_first_scene()
    first, words = arguments[0], arguments[1:]
    if first in COMMANDS:
        parsed = _parse(first, words)
        if not {SCENE, SCENES} & {*COMMANDS[first].positionals}:  # else more modules are to come
            finish_loading()
        result = COMMANDS[first].run(parsed)
        return (DONE if result else FAULT) if isinstance(result, bool) else result
    if first in ("-h", "--help"):
        print(_overview_text())
        return DONE
    if first == "--version":
        from raystream.base.version import __version__

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


def _overview_text() -> str:
    from raystream.formats import suffixes
    from raystream.scene.builtin import SCENES as BUILTIN

    width = max(map(len, COMMANDS)) + 2
    scene = f"SCENE is a file ({' '.join(suffixes())}) or, where there is none of that name, a built-in scene "
    lines = [
        "usage: raystream COMMAND ...",
        "",
        "Ray tracing as stream programs on the fragment processor of an OpenGL 3.3 GPU.",
        f"Without arguments it shows the {FIRST_SCENE} scene in a window, or where there is no",
        f"display renders it to ./{FIRST_PICTURE}.",
        "",
        "commands:",
        *(f"  {name:{width}}{command.help}" for name, command in COMMANDS.items()),
        "",
        "  -h, --help  after a command: its options        --version  the version",
        "",
        *textwrap.wrap(f"{scene}({', '.join(BUILTIN)}).", _text_width()),
    ]
    return "\n".join(lines)


def _text_width() -> int:
    return shutil.get_terminal_size().columns - 2  # as argparse


class _Help(argparse.Action):
    """``--help [TOPIC]``: prints it and ends."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> NoReturn:
        print(parser.help_on(values), end="")  # argparse's own swallows a full disk
        raise SystemExit(DONE)


class _Parser(argparse.ArgumentParser):
    """Tells its errors as every other error is told, and its options by topics."""

    def __init__(self, command: Command, **settings: Any) -> None:
        super().__init__(**settings)
        self.command = command

    def help_on(self, topic: str) -> str:
        """The options of a topic in full, or of all of them; of none: of all where that is a screen, else the first
        ones, a line each. Raises ViewerError for an unknown topic."""
        topics = by_topic(map(self.command.option, self.command.options))
        if topic:
            return self._options_in_full(topic, topics)
        help_text = self.format_help()
        return help_text if help_text.count("\n") <= SCREEN_LINES else self._first_options(topics)

    def _options_in_full(self, topic: str, topics: Mapping[str, list[Option]]) -> str:
        actions = {action.dest: action for action in self._actions}
        sections = {
            name or "options": [actions.pop(option.name) for option in options] for name, options in topics.items()
        }
        if topic == ALL_TOPICS:
            positional = [action for action in actions.values() if not action.option_strings]
            general = [action for action in actions.values() if action.option_strings]
            sections = {"positional arguments": positional, **sections}
            sections["options"] = general + sections.get("options", [])
        elif topic in sections:
            sections = {topic: sections[topic]}
        else:
            names = (ALL_TOPICS, *sections)
            hint = suggestion(topic, names) or f"topics: {', '.join(names)}"
            raise ViewerError(f"--help {topic}", "unknown topic", hint)
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [], [])
        for title, section in sections.items():
            formatter.start_section(title)
            formatter.add_arguments(section)
            formatter.end_section()
        return formatter.format_help()

    def _first_options(self, topics: Mapping[str, list[Option]]) -> str:
        width = _text_width()
        lines = [f"usage: {self.usage}", "", self.description or "", ""]
        lines += [
            f"  {action.metavar:{FLAG_WIDTH}}{action.help}" for action in self._actions if not action.option_strings
        ]
        for topic, options in topics.items():
            first = [option for option in options if option.help.shown == "first"]
            lines += [f"{topic or 'options'}:"] if first else []
            lines += [f"  {_flag_text(option):{FLAG_WIDTH}}{option.brief(width - 2 - FLAG_WIDTH)}" for option in first]
        names = join_words(topic or "options" for topic in topics)
        more = f"--help {ALL_TOPICS}: every option in full; --help TOPIC: those of {names}."
        return "\n".join([*lines, "", *textwrap.wrap(more, width), ""])

    def error(self, message: str) -> NoReturn:
        match = re.fullmatch(r"argument (?:-\w/)?--([\w-]+): (.*)", message)
        if match and match[1].replace("-", "_") in self.command.options:
            option, what = self.command.option(match[1].replace("-", "_")), match[2]
            if "expected one argument" in what:
                what = f"the value is missing; expected {option.expected() or option.value.metavar}"
            elif option.switch:
                what = "takes no value"
            raise ViewerError(option.flag, what)
        raise ViewerError(self.prog.removeprefix("raystream "), message, f"see {self.prog} --help")


def _flag_text(option: Option) -> str:
    """An option as it is typed, of many forms of its value the first alone where there is no room for them."""
    typed = f"{option.help.short}, {option.typed}" if option.help.short else option.typed
    if len(typed) < FLAG_WIDTH - 1:
        return typed
    return f"{typed.partition('|')[0]}|...{']' if option.value.bare else ''}"


def _parser(name: str) -> _Parser:
    command = COMMANDS[name]
    parser = _Parser(
        command,
        prog=f"raystream {name}",
        usage=f"raystream {name} {command.usage}",
        description=f"{command.help[0].upper()}{command.help[1:]}.",
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument(
        *("-h", "--help"),
        action=_Help,
        nargs="?",
        const="",
        default=argparse.SUPPRESS,
        metavar="TOPIC",
        help=f"this help; or of a topic, or of {ALL_TOPICS}, the options in full",
    )
    for positional in command.positionals:
        nargs = "*" if positional.many else "?"
        parser.add_argument(positional.name, nargs=nargs, metavar=positional.metavar, help=positional.help)
    if command.json:
        parser.add_argument("--json", action="store_true", help="the same as data")
    for option_name in command.options:
        option = command.option(option_name)
        flags = [option.help.short, option.flag] if option.help.short else [option.flag]
        if option.switch:
            parser.add_argument(*flags, action="store_true", help=option.about)
            continue
        words, default = option.expected(), option.default_words()
        text = option.about + (f"; {words}" if words else "") + (f" (default: {default})" if default else "")
        # argparse reads % in a help text as a format.
        action, value = "append" if option.value.repeats else "store", option.value
        bare: dict[str, Any] = {"nargs": "?", "const": value.bare} if value.bare else {}
        parser.add_argument(*flags, action=action, **bare, metavar=value.metavar, help=text.replace("%", "%%"))
    return parser


def _join_values(arguments: Sequence[str], parser: _Parser) -> list[str]:
    """The arguments with values that begin like negative numbers tied to their options (``--at -1,0,0`` becomes
    ``--at=-1,0,0``, which argparse would take for two options), and an option that may stand alone tied to its default
    where the next argument is no value of it."""
    value_flags = {flag for action in parser._actions if action.nargs is None for flag in action.option_strings}
    optional_value_flags = {
        flag: action
        for action in parser._actions
        if action.nargs == "?" and action.dest in parser.command.options
        for flag in action.option_strings
    }
    words: list[str] = []
    for word in arguments:
        if words and (action := optional_value_flags.get(words[-1])):
            is_value = _is_value(parser.command.option(action.dest), word)
            words[-1] += f"={word if is_value else action.const}"
            words += [] if is_value else [word]
        elif words and words[-1] in value_flags and words[-1].startswith("--") and re.match(r"-[\d.]", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _is_value(option: Option, word: str) -> bool:
    """Whether a word, behind an option that may stand alone, is its value, if perhaps a wrong one."""
    try:
        option.read(word)
    except ViewerError:
        return bool(re.fullmatch(r"-?([\d.]+([eE][+-]?\d+)?|nan|inf)|[\d.]+[xX].*", word))
    return True


def options_table() -> str:
    """The tables of options in Markdown, with the names that this installation registers."""
    from raystream.options.table import markdown_table
    from raystream.renderer.inputs.settings import registered

    return markdown_table(registered())


def _parse(name: str, arguments: list[str]) -> argparse.Namespace:
    """The command's arguments, every option checked. Raises ViewerError, in one line."""
    command = COMMANDS[name]
    parser = _parser(name)
    words = _join_values(arguments, parser)
    many = any(positional.many for positional in command.positionals)
    read = parser.parse_known_intermixed_args if many else parser.parse_known_args
    namespace, unknown = read(words)
    flags = [flag for action in parser._actions for flag in action.option_strings]
    for word in unknown:
        if word.startswith("-") and word != "-":
            typed = word.partition("=")[0]
            raise ViewerError(
                f"option '{typed}'", "unknown", suggest_option(typed, flags) or f"see {parser.prog} --help"
            )
    if unknown:
        raise ViewerError(f"'{unknown[0]}'", "one argument too many", f"usage: {parser.usage}")
    for positional in command.positionals:
        if positional.required and not getattr(namespace, positional.name):
            raise ViewerError(name, f"the {positional.name} is missing", f"usage: {parser.usage}")
    if SCENES in command.positionals:
        namespace.scenes, namespace.scene = namespace.scene, namespace.scene[0]
    preset_values: dict[str, Any] = {}
    if getattr(namespace, "preset", None) is not None:
        preset_values |= preset(check("preset", namespace.preset), namespace.scene, namespace.program)
    namespace.typed = frozenset(key for key in command.options if getattr(namespace, key) not in (None, False))
    for key in command.options:
        value = getattr(namespace, key)
        option = command.option(key)
        setattr(namespace, key, preset_values.get(key, option.value.default) if value is None else option.read(value))
    return namespace


def _show_first_scene() -> int:
    """Without arguments: the first scene in a window, or where there is no display in a picture."""
    if _has_display():
        commands.view(_parse("view", [FIRST_SCENE]))
        return DONE
    rendering.render(_parse("render", [FIRST_SCENE, "-o", os.path.abspath(FIRST_PICTURE)]))
    print("raystream --help shows what else it can do", file=sys.stderr)
    return DONE


def _diff(arguments: argparse.Namespace) -> bool:
    """``raystream diff``: scenes to render are read as by ``raystream render``, before any work."""
    from raystream.cli.compare import diff, split_words

    return diff(arguments, [_parse("render", split_words(text)) for text in arguments.render or ()])


def _has_display() -> bool:
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


COMMANDS = {
    "render": Command(
        "render scenes to pictures", "SCENE ... -o OUT [options]", rendering.render, tuple(OPTIONS), (SCENES,)
    ),
    "view": Command(
        "fly through a scene in a window, or in a browser",
        "SCENE [options]",
        commands.view,
        (*viewable_options(), *REMOTE),
        (SCENE,),
        specific_options=REMOTE,
    ),
    "info": Command(
        "tell what a scene holds and what it takes",
        "SCENE [--json]",
        commands.info,
        tuple(name for name, option in OPTIONS.items() if "info" in option.scope.offered),
        (SCENE,),
        json=True,
    ),
    "thumbnail": Command(
        "render a file to a small PNG, as file managers ask for it",
        "INPUT OUTPUT SIZE, or --entry",
        thumbnail,
        (*THUMBNAIL, "debug"),
        (
            Positional("input", "INPUT", "a file, or its URI"),
            Positional("output", "OUTPUT", "a PNG, whatever its name"),
            Positional("size", "SIZE", "width and height, pixels"),
        ),
        specific_options=THUMBNAIL,
    ),
    "dataset": Command(
        "render annotated pictures of models by recipe: COCO, BOP, NeRF",
        "RECIPE.toml [-o FOLDER] [options]",
        dataset,
        (*DATASET, "cluster", "mix_builds", "quiet", "debug"),
        (Positional("recipe", "RECIPE", "a TOML file of models, poses, cameras, lights and formats"),),
        specific_options=DATASET,
    ),
    "diff": Command(
        "tell how far two pictures, or what two renders give, are apart",
        "A B [options], or A --render 'SCENE [options]'",
        _diff,
        (*COMPARE, "quiet", "debug"),
        (Positional("pictures", "PICTURE", "a file: PNG, JPEG, EXR, HDR or NPZ", many=True),),
        json=True,
        specific_options=COMPARE,
    ),
    "devices": Command(
        "list GPUs, what their OpenGL can do, and what auto means there",
        "[--measure SCENE] [--json]",
        commands.devices,
        (*MEASURE, "debug"),
        json=True,
        specific_options=MEASURE,
    ),
    "doctor": Command(
        "test what OpenGL does here, and how fast; a report for an issue",
        "[-o REPORT.json] [options]",
        commands.doctor,
        ("output", "device", "quiet", "debug"),
        specific_options=DOCTOR,
    ),
    "graph": Command(
        "draw a program's states, kernels, exits and streams",
        "PROGRAM [-o OUT.svg]",
        commands.graph,
        (*GRAPH, "debug"),
        (Positional("program", "PROGRAM", "a program's name, or a Python file of your own", required=True),),
        specific_options=GRAPH,
    ),
    "check-shaders": Command(
        "assemble and compile every program, or all forms of one",
        "[--program NAME]",
        commands.check_shaders,
        (*CHECK, "debug"),
        specific_options=CHECK,
    ),
}
