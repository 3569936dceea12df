"""The window's preferences, in a TOML file that people edit too.

Saving writes only changes since the file was read: comments, unknown keys and another window's changes stay.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.options.declare import suggestion
from raystream.options.table import MAX_SAMPLES, OPTIONS, check
from raystream.options.values import MAX_SIDE

VARIABLE = "RAYSTREAM_SETTINGS"
MAX_RECENT = 10
MAX_FILE_BYTES = 1 << 18  # bytes; a file of settings has a few hundred
MAX_VALUE_TEXT = 70  # characters of a wrong value that a message repeats


def settings_path() -> Path:
    """The file of the settings: the path RAYSTREAM_SETTINGS, else the platform's own place."""
    path = os.environ.get(VARIABLE, "").strip()
    if path:
        return Path(os.path.expanduser(path))
    from platformdirs import user_config_path

    return user_config_path("raystream", appauthor=False) / "settings.toml"


@dataclass
class Preferences:
    """The window's settings; every field is a key of the file.

    size        : of the window when it opens, (width, height) in the screen's coordinates.
    hint        : the first keys are shown until one is pressed, which ends it for good.
    samples     : of each pixel, to stop at. noise : estimated relative error to stop at; 0: never.
    exposure    : of every scene until it is set by hand, stops or auto. tonemap : its name, which the display checks.
    mode        : of the camera, ``orbit`` or ``fly``. speed : of flight, as a factor on the scene's own.
    recent      : files opened, the last one first. keys : action's name -> key text, or a list of them.
    unknown     : remarks on keys of the file that are not known, one line each; saving keeps them.
    """

    size: tuple[int, int] = (960, 540)
    full_screen: bool = False
    panels: bool = False
    statistics: bool = False
    hint: bool = True
    samples: int = 1024
    noise: float = 0.01
    exposure: float | str = OPTIONS["exposure"].value.default
    tonemap: str = OPTIONS["tonemap"].value.default
    mode: str = "orbit"
    speed: float = 1.0
    recent: list[str] = field(default_factory=list)
    keys: dict[str, str | list[str]] = field(default_factory=dict)
    path: Path = field(default_factory=settings_path, compare=False)
    unknown: list[str] = field(default_factory=list, compare=False)
    _saved: dict[str, Any] = field(default_factory=lambda: dict(DEFAULTS), compare=False, repr=False)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Preferences:
        """The settings of a file; the defaults where there is none.

        Raises ViewerError that names file and line for one that cannot be read, is no TOML, or holds a wrong value.
        """
        settings = cls(path=settings_path() if path is None else Path(path))
        text = _read(settings.path)
        for name, value in _parse(settings.path, text).items():
            line = _place(settings.path, text, name)
            if name not in READERS:
                hint = suggestion(name, READERS)
                settings.unknown.append(f"{line}: '{name}' is unknown" + (f" ({hint})" if hint else ""))
                continue
            read, expected = READERS[name]
            checked = read(value)
            if checked is None:
                raise ViewerError(line, _shown(name, value), f"expected {expected}")
            setattr(settings, name, checked)
        settings._saved = settings._document()
        return settings

    def remember(self, path: str | Path) -> None:
        """Put a file first among the recent ones; a name that TOML cannot hold is left out."""
        text = str(path)
        if text.encode(errors="replace").decode() == text:
            self.recent = [text, *(other for other in self.recent if other != text)][:MAX_RECENT]

    def save(self, path: str | Path | None = None) -> None:
        """Write the changes since it was read, beside the file and then in its place; whole or not at all.

        Raises ViewerError where it cannot be written, and for a file that is no TOML, which stays as it is.
        """
        target = self.path if path is None else Path(path)
        target = Path(os.path.realpath(target))  # a link stays a link
        now = self._document()
        before = self._saved if target.exists() else DEFAULTS
        changed = {name: value for name, value in now.items() if value != before[name]}
        if not changed:
            return
        text = _read(target)
        _parse(target, text)
        _write(target, _edited(target, text, changed))
        self._saved = now

    def _document(self) -> dict[str, Any]:
        """The fields as TOML has them, in copies."""
        return {name: deepcopy(list(v) if isinstance(v := getattr(self, name), tuple) else v) for name in READERS}


# -- values ------------------------------------------------------------------------------------------------------------


def _reader(right: Callable[[Any], bool], form: Callable[[Any], Any] = lambda value: value) -> Callable[[Any], Any]:
    """A reader of values that are right: in their form, and None in place of others."""
    return lambda value: form(value) if right(value) else None


def _whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _number(low: float, high: float) -> Callable[[Any], float | None]:
    numeric = lambda value: isinstance(value, int | float) and not isinstance(value, bool)  # noqa: E731
    return _reader(lambda value: numeric(value) and low <= value <= high, float)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _exposure(value: Any) -> float | str | None:
    try:
        return check("exposure", value) if value == "auto" or not isinstance(value, str) else None
    except ViewerError:
        return None


_SIZE = _reader(
    lambda value: isinstance(value, list) and [_whole(side, MAX_SIDE) for side in value] == [True] * 2, tuple
)
_KEYS = _reader(lambda value: isinstance(value, dict) and all(isinstance(k, str) or _texts(k) for k in value.values()))
_FLAG = _reader(lambda value: isinstance(value, bool)), "true or false"

# Key of the file -> (the checked value, or None for a wrong one; what is expected).
READERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "size": (_SIZE, f"[WIDTH, HEIGHT], whole numbers from 1 to {MAX_SIDE}"),
    **dict.fromkeys(("full_screen", "panels", "statistics", "hint"), _FLAG),
    "samples": (_reader(lambda value: _whole(value, MAX_SAMPLES)), f"a whole number from 1 to {MAX_SAMPLES}"),
    "noise": (_number(0, 1), "a share of the mean from 0 to 1; 0 for no end"),
    "exposure": (_exposure, OPTIONS["exposure"].expected()),
    "tonemap": (_reader(lambda value: isinstance(value, str) and value != ""), 'the name of a tone map, such as "agx"'),
    "mode": (_reader(lambda value: value in ("orbit", "fly")), '"orbit" or "fly"'),
    "speed": (_number(1e-4, 1e4), "a factor from 0.0001 to 10000"),
    "recent": (_reader(_texts, lambda value: list(dict.fromkeys(value))[:MAX_RECENT]), "a list of file names"),
    "keys": (_KEYS, 'a table of keys by action, such as "program.cast" = "1" or "help" = ["H", "F1"]'),
}


DEFAULTS: dict[str, Any] = {}
DEFAULTS |= Preferences(path=Path())._document()


def _shown(name: str, value: Any) -> str:
    """A key and its value in TOML's spelling, in one line."""
    import tomlkit

    try:
        text = " ".join(tomlkit.dumps({name: value}).split())
    except RecursionError:
        text = f"{name}, nested deeply"
    return text if len(text) <= MAX_VALUE_TEXT else f"{text[: MAX_VALUE_TEXT - 3]}..."


# -- TOML --------------------------------------------------------------------------------------------------------------


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, and a number of thousands of digits
        match = re.fullmatch(r"(.*?)\s*\(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
        what = match[1] if match else str(error)
        line = int(match[2]) if match and match[2] else text.count("\n") + (not text.endswith("\n"))
        raise ViewerError(f"{path}: line {line}", f"is no TOML: {what}", "mend it or remove the file") from None
    except RecursionError:
        raise _too_deep(path) from None


def _too_deep(path: Path) -> ViewerError:
    return ViewerError(str(path), "is nested too deeply", "mend it or remove the file")


def _place(path: Path, text: str, name: str) -> str:
    """The file, and the line on which a key or table of it begins where that can be told."""
    key = re.escape(name)
    match = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{key}[\"']?[ \t]*(?:[=.\]])", text, re.MULTILINE)
    return f"{path}: line {text.count(chr(10), 0, match.start()) + 1}" if match else str(path)


def _edited(path: Path, text: str, changed: Mapping[str, Any]) -> str:
    """The text with other values for the keys that changed, and everything else as it was."""
    import tomlkit

    try:
        document = tomlkit.parse(text)
    except (ValueError, RecursionError):  # it is TOML, but of more levels than tomlkit reads
        raise _too_deep(path) from None
    for name, value in changed.items():
        table = document.get(name)
        if not isinstance(table, MutableMapping) or not isinstance(value, Mapping):
            document[name] = value
            continue
        for key in table.keys() - value.keys():
            del table[key]
        for key, item in value.items():
            if key not in table or table[key] != item:
                table[key] = item
    return tomlkit.dumps(document)


# -- files -------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    """The file's text; empty where there is none."""
    try:
        if path.exists() and not path.is_file():
            raise ViewerError(str(path), "is no file", f"{VARIABLE} names the file of the settings")
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ViewerError(str(path), f"is larger than {MAX_FILE_BYTES} bytes", "remove it")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ViewerError(str(path), f"cannot be read: {error.strerror or error}", "check its rights") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ViewerError(f"{path}: line {line}", "is not UTF-8", "mend it or remove the file") from None


def _write(target: Path, text: str) -> None:
    """Fill a part file, then put it in the target's place."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = part_file.begin(target)
        try:
            part.path.write_text(text, encoding="utf-8", newline="\n")
            if target.exists():
                shutil.copymode(target, part.path)
            os.replace(part.path, target)
        finally:
            part.end()
    except OSError as error:
        raise ViewerError(str(target), f"cannot be written: {error.strerror or error}", "check its rights") from None
