"""GLSL text that knows where each of its lines came from: includes, and errors that point at the source.

Drivers number the lines of the flat text, each in its own form; `explain` maps them back. ``#line`` with a file number
is not used, because Mesa drops the number in many messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from viewer import paths
from viewer.errors import ShaderError

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*$')
_LOG_FORMS = (
    re.compile(r"^\s*\d+:(\d+)\(\d+\)\s*:\s*(?P<rest>.*)$"),  # Mesa: 0:8(9): error: ...
    re.compile(r"^\s*\d+\((\d+)\)\s*:\s*(?P<rest>.*)$"),  # NVIDIA: 0(8) : error C1008: ...
    re.compile(r"^\s*(?:ERROR|WARNING):\s*\d+:(\d+):\s*(?P<rest>.*)$"),  # Apple, AMD, Intel, glslang: ERROR: 0:8: ...
)


@dataclass(frozen=True)
class Origin:
    """Where a line stands: a file relative to ``shaders/`` and its line, or the generator's part it was made from."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass
class Source:
    """A shader's text, line by line, each with its origin.

    ``read`` gives a file's text by its name relative to ``shaders/``; ``files`` are those that went in.
    """

    read: Callable[[str], str] = field(default=lambda name: read_shader(name))
    lines: list[tuple[str, Origin]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The flat text for the driver."""
        return "\n".join(line for line, _ in self.lines) + "\n"

    def add(self, text: str, origin: str) -> None:
        """Append generated lines; ``origin`` names what they were generated from."""
        self.lines += [(line, Origin(origin, 0)) for line in text.splitlines()]

    def include(self, name: str) -> None:
        """Append a file with its includes, each file once. Raises ShaderError for a missing one."""
        if name in self.files:
            return
        self.files.append(name)
        visible = _blank_comments(self.read(name)).splitlines()
        for number, (line, bare) in enumerate(zip(self.read(name).splitlines(), visible, strict=False), 1):
            match = _INCLUDE.match(line) if bare.strip().startswith("#") else None
            if match is None:
                self.lines.append((line, Origin(name, number)))
                continue
            try:
                self.include(match.group(1))
            except FileNotFoundError:
                raise ShaderError(
                    f"{name}:{number}", f'include "{match.group(1)}" not found', "names are relative to shaders/"
                ) from None

    def explain(self, log: str) -> str:
        """A driver's log with every line number mapped to its origin, and the offending line shown below."""
        out: list[str] = []
        for entry in log.replace("\0", "").splitlines():
            match = next((m for form in _LOG_FORMS if (m := form.match(entry))), None)
            number = int(match.group(1)) if match else 0
            if match is None or not 1 <= number <= len(self.lines):
                if entry.strip():
                    out.append(entry.rstrip())
                continue
            text, origin = self.lines[number - 1]
            out += [f"{origin}: {match.group('rest')}", f"    {text.strip()}"]
        return "\n".join(out)

    def error(self, what: str, log: str) -> ShaderError:
        """The exception for a driver's complaint: its first error in one line, the whole mapped log beside it."""
        explained = self.explain(log).splitlines()
        first = next((k for k, line in enumerate(explained) if "error" in line.lower()), 0)
        where, _, message = explained[first].partition(": ") if explained else ("", "", log)
        shown = explained[first + 1].strip() if first + 1 < len(explained) else ""
        return ShaderError(where or what, f"{message} in `{shown}`" if shown else message, what, "\n".join(explained))


def read_shader(name: str) -> str:
    """The text of a file below ``shaders/``."""
    return Path(paths.shaders(), name).read_text(encoding="utf-8")


def _blank_comments(text: str) -> str:
    """The text with comments blanked out, line ends kept, so that an include inside a comment is not one."""
    out, at, end = [], 0, len(text)
    while at < end:
        two = text[at : at + 2]
        if two == "//":
            stop = text.find("\n", at)
            at = end if stop < 0 else stop
        elif two == "/*":
            stop = text.find("*/", at + 2)
            stop = end if stop < 0 else stop + 2
            out.append("\n" * text.count("\n", at, stop))
            at = stop
        else:
            out.append(text[at])
            at += 1
    return "".join(out)
