"""How an option is declared: its name, unit, range, default, help, who takes it, and its effect."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, Literal

from raystream.base.errors import ViewerError

LONGEST_ECHO = 60  # characters of a wrong value that a message repeats
_TYPED = re.compile(r"(?!nan$|-?inf$)[^\s'\"()\[\]{}<>]+")  # a word of the command line, not the text of a Python value

Scope = Literal["renderer", "prepare", "render", "save", "call", "command"]
Reader = Callable[["Option", Any], Any]


class Affects(IntEnum):
    """The work that a change of an option's value takes, from nothing to everything.

    Up to ``MACHINE`` every sample keeps its bits, so that a film goes on; from ``UNIFORMS`` on samples are others.
    """

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
class Option:
    """One option.

    name     : as in ``--name`` and as a Python keyword.
    read     : (option, value) -> the checked value; see `raystream.options.table.check`.
    default  : a checked value.
    help     : one line, without range and default, which are added where it is shown.
    affects  : the work that its change takes.
    metavar  : stands for the value in a help text; empty for a switch.
    low, high, unit : the range of a number, ends included unless ``open_range``.
    values   : the expected values in words, where range and choices do not say it; may hold {low}, {high}, {choices}.
    choices  : the words that are known; empty where higher floors hand them in.
    scope    : who takes it: ``renderer``, ``prepare`` (for building structures, also the renderer's), ``render``
               and ``save`` (of a picture) are Python keywords, ``call`` is one of other functions, such as `load`,
               ``command`` is the command line's alone.
    part     : its theme, see `of_part`: panels and remarks go by it.
    programs : the programs that it serves; empty: all. A program may ask for more, see `raystream.programs.registry`.
    sampled  : it serves programs that add samples alone.
    slider   : the ends of its slider on a panel, where they are not those of the range.
    zero     : stands for 0 on its slider, where 0 is no value of it or a special one.
    words    : known words among its values, where it takes others, too.
    unless   : another option, and values of it with which this one has no effect.
    added    : files of pictures from before it was an option do not tell of it: nor do others that have its default.
    needs    : another option, without which this one has no effect.
    emission : photons leave the lights, and go on, by it: another value traces them once more.
    serves   : any ``picture``, so that ``raystream view`` takes it, too; a ``batch``, of work that nobody watches; or
               the ``file`` that a render writes or goes on from: without effect where pictures are only compared.
    informs  : ``raystream info`` takes it, too. remote : the page of ``raystream view --remote`` offers it.
    """

    name: str
    read: Reader
    default: Any
    help: str
    affects: Affects
    metavar: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    open_range: bool = False
    values: str = ""
    choices: tuple[str, ...] = ()
    short: str = ""
    scope: Scope = "renderer"
    default_text: str = ""  # the default in words, where the value's own text does not say it
    bare: str = ""  # the value of an option that is typed without one, where it may be
    repeats: bool = False  # may be typed several times; the reader gets a list
    part: str = ""
    programs: tuple[str, ...] = ()
    sampled: bool = False
    slider: tuple[float, float] | None = None
    zero: str = ""
    words: tuple[str, ...] = ()
    unless: tuple[str, tuple[str, ...]] | None = None
    added: bool = False
    needs: str = ""
    emission: bool = False
    serves: Literal["picture", "batch", "file"] = "picture"
    informs: bool = False
    remote: bool = False

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def switch(self) -> bool:
        """Whether it takes no value."""
        return not self.metavar

    @property
    def typed(self) -> str:
        """The option with its metavar."""
        if self.switch:
            return self.flag
        return f"{self.flag} [{self.metavar}]" if self.bare else f"{self.flag} {self.metavar}"

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
        if typed not in self.choices:
            try:
                value = ast.literal_eval(typed)
            except (ValueError, SyntaxError):
                if not _TYPED.fullmatch(typed):
                    return None
        try:
            self.read(self, value)
        except ViewerError:
            return None
        return repr(value)

    @property
    def about(self) -> str:
        """Its help, with the programs that it serves."""
        if not self.programs:
            return self.help
        return f"{self.help}; in program{'s' if len(self.programs) > 1 else ''} {listed(self.programs, 'and')}"

    def useful(self, settings: Mapping[str, Any]) -> bool:
        """Whether other options leave it something to decide."""
        return self.unless is None or settings[self.unless[0]] not in self.unless[1]

    def expected(self) -> str:
        """A right value in words, for messages and tables."""
        if self.values:
            choices = ", ".join(self.choices) or "the known ones"
            return self.values.format(choices=choices, low=self.low, high=self.high)
        if self.choices:
            return listed(self.choices)
        if self.open_range:
            return f"a number of {self.unit} above {self.low:g} and below {self.high:g}"
        if self.low is not None:
            return f"a whole number from {self.low} to {self.high}"
        return ""

    def default_words(self) -> str:
        """The default in words; empty for a switch and for a value that must be given."""
        if self.default_text or self.switch or self.default is None:
            return self.default_text
        return str(self.default)


def wrong(option: Option, value: Any, expected: str = "", hint: str = "") -> ViewerError:
    """The error for a value that an option cannot take: names the option, the value and the expected ones."""
    return ViewerError(f"{option.flag} {_echo(value)}", f"expected {expected or option.expected()}", hint)


def suggestion(word: str, names: Iterable[str]) -> str:
    """``did you mean 'cast'?`` where a known word is close, else nothing."""
    by_lower = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return f"did you mean '{by_lower[close[0]]}'?" if close else ""


def of_part(part: str, *options: Option, **common: Any) -> tuple[Option, ...]:
    """The options of a part, with their common fields."""
    return tuple(replace(option, part=part, **common) for option in options)


def of_command(*options: Option) -> dict[str, Option]:
    """The options of one command, by name: the command line's alone."""
    return {option.name: replace(option, scope="command") for option in options}


def listed(words: Iterable[str], joint: str = "or") -> str:
    """Words with commas, and a word before the last."""
    *most, last = list(words)
    return f"{', '.join(most)} {joint} {last}" if most else last


def _echo(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_ECHO else f"{text[: LONGEST_ECHO - 4]} ..."
