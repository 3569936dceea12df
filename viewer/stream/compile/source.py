"""GLSL text with the origin of each line: includes, and errors that point at the source.

Drivers number the lines of the flat text, each in its own format; `explain` maps them back. ``#line`` with a file
number is not used, as Mesa drops the number in many messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.options.declare import suggestion
from raystream.stream.declare.record import Record

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*$')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)  # whichever begins first
_EXTENSION = re.compile(r"^\s*#\s*extension\b")
_CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|else|endif)\b\s*(\w*)")
VERSION = "#version 330 core"
FEATURE = "HAVE_"  # prefix of conditions on the scene's features
_LOG_FORMS = (
    re.compile(r"^\s*\d+:(\d+)\(\d+\)\s*:\s*(?P<rest>.*)$"),  # Mesa: 0:8(9): error: ...
    re.compile(r"^\s*\d+\((\d+)\)\s*:\s*(?P<rest>.*)$"),  # NVIDIA: 0(8) : error C1008: ...
    re.compile(r"^\s*(?:ERROR|WARNING):\s*\d+:(\d+):\s*(?P<rest>.*)$"),  # Apple, AMD, Intel, glslang: ERROR: 0:8: ...
)
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_CANDIDATES = re.compile(r"[;,]?\s*candidates are:\s*$")


@dataclass(frozen=True)
class Origin:
    """Origin of a line: a file relative to ``shaders/`` and its line, or the part of the generator."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass
class Source:
    """A shader's text, line by line, each with its origin.

    ``read`` gives a file's text by its name relative to ``shaders/``; ``files`` are the included ones. Lines between
    ``#ifdef HAVE_X`` and ``#else`` or ``#endif`` are included only if X is one of ``features``, and the reverse for
    ``#ifndef``: a scene's source has no code for absent features.

    diagnose : of source and a driver's log, the fault that the driver meets late or elsewhere, if it is known.
    """

    read: Callable[[str], str] = field(default=lambda name: read_shader(name))
    lines: list[tuple[str, Origin]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    diagnose: Callable[[Source, str], ShaderError | None] = field(default=lambda source, log: None, compare=False)

    @classmethod
    def begin(cls, **constants: float) -> Source:
        """A program of any stage: the version, and constants by their names."""
        source = cls()
        source.add(VERSION, "version")
        source.add_constants(constants)
        return source

    @classmethod
    def of_file(cls, name: str, **constants: float) -> Source:
        """A program that a file defines, with the constants that it leaves open. Raises ShaderError."""
        source = cls.begin(**constants)
        source.include(name)
        return source

    @property
    def text(self) -> str:
        """The flat text for the driver."""
        return "\n".join(line for line, _ in self.lines) + "\n"

    @property
    def loops(self) -> bool:
        """Whether a loop is in it."""
        return any("for (" in line or "while (" in line for line, _ in self.lines)

    def add(self, text: str, origin: str) -> None:
        """Append generated lines; ``origin`` names the part that generates them."""
        self.lines += [(line, Origin(origin, 0)) for line in text.splitlines()]

    def add_constants(self, constants: Mapping[str, float], origin: str = "constants") -> None:
        """Append constants by their names, floats and whole numbers."""
        for name, value in constants.items():
            self.add(f"const {'float' if isinstance(value, float) else 'int'} {name} = {value};", origin)

    def defining(self, name: str) -> Source:
        """The same with a macro that is defined from the start."""
        return replace(self, lines=[self.lines[0], (f"#define {name}", Origin("device", 0)), *self.lines[1:]])

    def add_record(self, record: Record, unpack: bool = True, pack: bool = False, rounding: str = "") -> None:
        """Append a record's structure, and the functions that read it from texels and write it to them; ``rounding``
        as of `Record.glsl_pack`."""
        origin = f"record {record.name}"
        self.add(record.glsl_struct(), origin)
        if unpack:
            self.include("lib/int_of.glsl")
            self.add(record.glsl_unpack(), origin)
        if pack:
            self.add(record.glsl_pack(rounding), origin)

    def include(self, name: str) -> None:
        """Append a file with its includes, each file once. Those of a file outside of ``shaders/`` may lie beside it.
        Raises ShaderError for a missing one."""
        if name in self.files:
            return
        try:
            text = self.read(name)
        except (FileNotFoundError, IsADirectoryError):
            hint = "" if os.path.isabs(name) else suggestion(name, _files()) or "names are relative to shaders/"
            raise ShaderError(name, "shader file not found", hint) from None
        except UnicodeDecodeError:
            raise ShaderError(name, "is no text in UTF-8") from None
        self.files.append(name)
        within: list[bool | None] = []  # one per open condition: whether lines are included; None: left to the compiler
        for line, origin, included, condition in _parsed(name, text):
            if condition is not None and self._condition(*condition, within):
                continue
            if False in within:
                continue
            if included is None:
                if _EXTENSION.match(line):
                    self.lines.insert(1, (line, origin))  # behind the version: GLSL wants it before all else
                else:
                    self.lines.append((line, origin))
                continue
            beside = os.path.join(os.path.dirname(name), included)
            try:
                self.include(beside if os.path.isabs(name) and os.path.isfile(beside) else included)
            except ShaderError as error:
                if error.where != included:
                    raise
                raise ShaderError(str(origin), f'include "{error.where}" not found', error.hint) from None

    def _condition(self, word: str, name: str, within: list[bool | None]) -> bool:
        """Whether a directive tests a feature; ``within`` tracks all open conditions."""
        if word.startswith("if"):
            ours = word != "if" and name.startswith(FEATURE)
            within.append((name.removeprefix(FEATURE) in self.features) == (word == "ifdef") if ours else None)
        elif word == "else":
            if within[-1] is not None:
                within[-1] = not within[-1]
                return True
            return False
        else:
            return within.pop() is not None
        return within[-1] is not None

    def explain(self, log: str) -> str:
        """A driver's log with every line number mapped to its origin, and the offending line shown below."""
        out: list[str] = []
        for entry in log.replace("\0", "").splitlines():
            place = self._line_of(entry)
            if place is not None:
                (text, origin), message = place
                out += [f"{origin}: {message}", f"    {text.strip()}"]
            elif entry.strip():
                out.append(entry.rstrip())
        return "\n".join(out)

    def error(self, what: str, log: str) -> ShaderError:
        """The exception for a driver's error log: its first error in one line, with the whole mapped log."""
        entries = [entry.strip() for entry in log.replace("\0", "").splitlines() if entry.strip()]
        # Some drivers say "error" in every line, some only before its number; a header may say "failed".
        first = next((e for e in entries if _ERROR.search(e)), next((e for e in entries if self._line_of(e)), ""))
        diagnosis = self.diagnose(self, log)
        if diagnosis is not None:
            diagnosis.log = self.explain(log)
            return diagnosis
        place = self._line_of(first)
        if place is None:  # a linker error has no line
            message = re.sub(r"^error:\s*", "", first, flags=re.IGNORECASE) or " ".join(entries) or "no message"
            return ShaderError(what, message, "", self.explain(log))
        (text, origin), message = place
        if _CANDIDATES.search(message):
            message = self._with_candidates(message, origin, entries[entries.index(first) + 1 :])
        return ShaderError(str(origin), f"{message} in `{text.strip()}`", what, self.explain(log))

    def _with_candidates(self, message: str, origin: Origin, entries: list[str]) -> str:
        """A message of no matching function with the candidates that the next entries of a log list; without its tail
        where there are none."""
        listed = []
        for place in map(self._line_of, entries):
            if place is None or place[0][1] != origin or not place[1].rstrip().endswith(")"):
                break
            listed.append(re.sub(r"^error:\s*", "", place[1]).strip())
        return f"{message} {'; '.join(listed)}" if listed else _CANDIDATES.sub("", message)

    def _line_of(self, entry: str) -> tuple[tuple[str, Origin], str] | None:
        """The line that a log's entry refers to, and its message; None for lines of other text."""
        match = next((m for form in _LOG_FORMS if (m := form.match(entry))), None)
        line_number = int(match.group(1)) if match else 0
        if match is None or not 1 <= line_number <= len(self.lines):
            return None
        return self.lines[line_number - 1], match.group("rest")


def _files() -> list[str]:
    """The names of all files below ``shaders/``."""
    folder = Path(paths.shaders())
    return [file.relative_to(folder).as_posix() for file in folder.rglob("*.glsl")]


def read_shader(name: str) -> str:
    """The text of a file below ``shaders/``."""
    with open(os.path.join(paths.shaders(), name), encoding="utf-8") as file:
        return file.read()


@lru_cache(maxsize=1024)  # the same few hundred files are in most programs
def _parsed(name: str, text: str) -> tuple[tuple[str, Origin, str | None, tuple[str, str] | None], ...]:
    """A file's lines, each with its origin, and its included file, or the directive and name of its condition, if
    any."""
    lines, visible = text.removesuffix("\n").split("\n"), blank_comments(text).split("\n")
    parsed_lines = []
    for line_number, (line, bare) in enumerate(zip(lines, visible, strict=False), 1):
        match, condition = _INCLUDE.match(bare), _CONDITION.match(bare)
        directive = (condition.group(1), condition.group(2)) if condition else None
        parsed_lines.append((line, Origin(name, line_number), match.group(1) if match else None, directive))
    return tuple(parsed_lines)


def blank_comments(text: str) -> str:
    """The text with comments blanked out, line ends kept, so that includes inside comments are ignored."""
    return _COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)
