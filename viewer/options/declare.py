"""How an option is declared: its name, unit, range, default, help, who takes it, and its effect."""

from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, Literal

from raystream.base.errors import ViewerError

MAX_ECHO_LENGTH = 60  # characters of a wrong value that a message repeats
_TYPED = re.compile(r"(?!nan$|-?inf$)[^\s'\"()\[\]{}<>]+")  # a word of the command line, not the text of a Python value

Taker = Literal["renderer", "prepare", "render", "save", "call", "command"]
Reader = Callable[["Option", Any], Any]
PAPERS = "papers"  # the topic of the papers' machine


class Affects(IntEnum):
    """The work that a change of an option's value takes, from nothing to everything. Up to ``MACHINE`` every sample
    keeps its bits, so that a film goes on; from ``UNIFORMS`` on samples are others."""

    NOTHING = 0  # the host's own: files, messages, the order of passes; the machines stay as they are
    SAMPLES = 1  # which samples are taken: size, number, layers; those that there are stay
    MACHINE = 2  # other passes run the same program
    UNIFORMS = 3  # numbers that shaders read; nothing is compiled
    PROGRAM = 4  # other states or modules are linked
    LIGHTING = 5  # the environment's tables and the lights' are made anew
    STRUCTURE = 6  # the acceleration structure is built anew
    SCENE = 7  # the scene itself
    DEVICE = 8  # the OpenGL context: fixed when a renderer is made

    @property
    def compiles(self) -> bool:
        """Whether other shaders may be needed."""
        return self == Affects.MACHINE or self >= Affects.PROGRAM


@dataclass(frozen=True)
class Value:
    """The value of an option; `raystream.options.values` has common ones.

    read     : (option, value) -> the checked value; see `raystream.options.table.check`.
    default  : a checked value.
    metavar  : stands for the value in a help text; empty for a switch.
    expected : a right value in words, where range and choices do not say it; may hold {low}, {high}, {choices}.
    low, high : the range of a number.
    choices  : the words that are known; empty where higher floors hand them in.
    words    : known words among its values, where it takes others, too.
    bare     : the value of an option that is typed without one, where it may be.
    repeats  : may be typed several times; the reader gets a list.
    """

    read: Reader
    default: Any = None
    metavar: str = ""
    expected: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    bare: str = ""
    repeats: bool = False


@dataclass(frozen=True)
class Help:
    """The words on an option, and where they are shown.

    text    : one line, without range and default, which are added where it is shown.
    default : the default in words, where the value's own text does not say it.
    short   : its short form on the command line.
    shown   : by ``--help`` already, ``first``; by ``--help`` and its ``topic``; or as one of the ``papers``, those of
              the published machines.
    slider  : the ends of its slider on a panel, where they are not those of the range.
    zero    : stands for 0 on its slider, where 0 is no value of it or a special one.
    """

    text: str
    default: str = ""
    short: str = ""
    shown: Literal["first", "topic", "papers"] = "topic"
    slider: tuple[float, float] | None = None
    zero: str = ""


@dataclass(frozen=True)
class Scope:
    """Where an option is taken, and where it has an effect.

    taker    : ``renderer``, ``prepare`` (for building structures, also the renderer's), ``render`` and ``save`` (of a
               picture) take it as a Python keyword, ``call`` is other functions, such as `load`; ``command`` is the
               command line alone.
    serves   : any ``picture``, so that ``raystream view`` takes it, too; a ``batch``, of work that nobody watches; or
               the ``file`` that a render writes or goes on from: without effect where pictures are only compared.
    offered  : elsewhere, too: by ``raystream info``, or on the ``page`` of ``raystream view --remote``.
    part     : its theme, see `options_of_part`: panels, remarks and topics of help go by it.
    programs : the programs that it serves; empty: all. A program may ask for more, see `raystream.programs.registry`.
    sampled  : it serves programs that add samples alone.
    unless   : another option, and values of it with which this one has no effect.
    needs    : another option, without which this one has no effect.
    emission : photons leave the lights, and go on, by it: another value traces them once more.
    added    : files of pictures from before it was an option do not tell of it: nor do others that have its default.
    """

    taker: Taker = "renderer"
    serves: Literal["picture", "batch", "file"] = "picture"
    offered: tuple[Literal["info", "page"], ...] = ()
    part: str = ""
    programs: tuple[str, ...] = ()
    sampled: bool = False
    unless: tuple[str, tuple[str, ...]] | None = None
    needs: str = ""
    emission: bool = False
    added: bool = False


@dataclass(frozen=True)
class Option:
    """One option: its name, as in ``--name`` and as a Python keyword; its value; its help; the work that its change
    takes; and its scope."""

    name: str
    value: Value
    help: Help
    affects: Affects
    scope: Scope = Scope()

    def read(self, value: Any) -> Any:
        """The checked value. Raises ViewerError that names the option, the value and the expected ones."""
        return self.value.read(self, value)

    def with_value(self, **changes: Any) -> Option:
        """The option with other fields of its value."""
        return replace(self, value=replace(self.value, **changes))

    def with_help(self, **changes: Any) -> Option:
        """The option with other fields of its help."""
        return replace(self, help=replace(self.help, **changes))

    def with_scope(self, **changes: Any) -> Option:
        """The option with other fields of its scope."""
        return replace(self, scope=replace(self.scope, **changes))

    @property
    def topic(self) -> str:
        """The topic of help texts and pages: its part, or the machine of the papers."""
        return PAPERS if self.help.shown == "papers" else self.scope.part

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def switch(self) -> bool:
        """Whether it takes no value."""
        return not self.value.metavar

    @property
    def typed(self) -> str:
        """The option with its metavar."""
        if self.switch:
            return self.flag
        metavar = self.value.metavar
        return f"{self.flag} [{metavar}]" if self.value.bare else f"{self.flag} {metavar}"

    def keyword(self, following: str, value: bool) -> str:
        """The option as Python's keyword, before the text that follows it as typed: its value for certain, or where
        it can be; else the text stays beside it."""
        if self.switch and not value:
            return f"{self.name}=True {following}".rstrip()
        written = self._written(following) if following else None
        if written is None:
            return f"{self.name}={'' if value else ' '}{following}".rstrip()
        return f"{self.name}={written}"

    def _written(self, typed: str) -> str | None:
        """A typed value as Python writes it; None for one that the option does not take, and for Python's own texts."""
        value = typed
        if typed not in self.value.choices:
            try:
                value = ast.literal_eval(typed)
            except (ValueError, SyntaxError):
                if not _TYPED.fullmatch(typed):
                    return None
        try:
            self.read(value)
        except ViewerError:
            return None
        return repr(value)

    @property
    def about(self) -> str:
        """Its help, with the programs that it serves."""
        programs = self.scope.programs
        if not programs:
            return self.help.text
        return f"{self.help.text}; in program{'s' if len(programs) > 1 else ''} {join_words(programs, 'and')}"

    def brief(self, width: int) -> str:
        """The help in one line of at most ``width`` characters: its topic with the choices, or its text, cut if need be
        where what is left can stand alone."""
        text = self.help.text
        choices = f"{re.split('[:;,]| [(]', text)[0]}: {join_words(self.value.choices)}" if self.value.choices else ""
        if choices and len(choices) <= width:
            return choices
        if len(text) <= width:
            return text
        for ends in "[:;]| [(]", ",":  # a list is not cut within
            if cuts := [end.start() for end in re.finditer(ends, text) if end.start() <= width]:
                return text[: cuts[-1]]
        return textwrap.shorten(text, width, placeholder=" ...")

    def useful(self, settings: Mapping[str, Any]) -> bool:
        """Whether other options leave it something to decide."""
        unless = self.scope.unless
        return unless is None or settings[unless[0]] not in unless[1]

    def expected(self) -> str:
        """A right value in words, for messages and tables."""
        value = self.value
        if value.expected:
            choices = ", ".join(value.choices) or "the known ones"
            return value.expected.format(choices=choices, low=value.low, high=value.high)
        return join_words(value.choices) if value.choices else ""

    def default_words(self) -> str:
        """The default in words; empty for a switch and for a value that must be given."""
        default = self.value.default
        if self.help.default or self.switch or default is None:
            return self.help.default
        if isinstance(default, bool):
            return "on" if default else "off"
        return f"{default:g}" if isinstance(default, float) else str(default)


def wrong(option: Option, value: Any, expected: str = "", hint: str = "") -> ViewerError:
    """The error for a value that an option cannot take: names the option, the value and the expected ones."""
    return ViewerError(f"{option.flag} {_echo(value)}", f"expected {expected or option.expected()}", hint)


def suggestion(word: str, names: Iterable[str]) -> str:
    """``did you mean 'cast'?`` where a known word is close, else nothing."""
    by_lower = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return f"did you mean '{by_lower[close[0]]}'?" if close else ""


def options_of_part(part: str, *options: Option, **common: Any) -> tuple[Option, ...]:
    """The options with ``part`` and further fields, shared by all of them, in their scopes."""
    return tuple(option.with_scope(part=part, **common) for option in options)


def command_options(*options: Option, part: str = "") -> dict[str, Option]:
    """The options that one command alone has, by name."""
    return {option.name: option.with_scope(taker="command", part=part) for option in options}


def join_words(words: Iterable[str], joint: str = "or") -> str:
    """``a, b or c``: words with commas, and ``joint`` before the last."""
    *rest, last = list(words)
    return f"{', '.join(rest)} {joint} {last}" if rest else last


def _echo(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_ECHO_LENGTH else f"{text[: MAX_ECHO_LENGTH - 4]} ..."
