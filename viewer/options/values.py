"""Values of options: their types, and the readers that check a text or a Python value."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import Any, Literal, TypeVar

from raystream.options.declare import Option, suggestion, wrong

LARGEST_SIDE = 32768  # pixels; a larger picture than a stream may be is cut into streams
LAST_FRAME = 9_999_999
OPEN_IMAGE_DENOISE = "pyoidn"  # the package of its binding

N = TypeVar("N", int, float)
V = TypeVar("V")


R = TypeVar("R", bound=Callable[[Option, Any], Any])


def takes(types: str) -> Callable[[R], R]:
    """Decorate a reader that takes other types than it returns, and texts, as annotations write them."""

    def decorate(read: R) -> R:
        read.takes = types  # type: ignore[attr-defined]
        return read

    return decorate


def optional(read: Callable[[Option, Any], V]) -> Callable[[Option, Any], V | None]:
    """The reader of a value that may also be None."""

    @wraps(read)
    def read_optional(option: Option, value: Any) -> V | None:
        return None if value is None else read(option, value)

    return read_optional


def read_word(option: Option, value: Any) -> str:
    """One of the option's words; any word where it lists none."""
    if isinstance(value, str) and (value in option.value.choices or (not option.value.choices and value)):
        return value
    hint = suggestion(value, option.value.choices) if isinstance(value, str) else ""
    raise wrong(option, value, hint=hint)


@takes("str | bool")
def read_denoiser(option: Option, value: Any) -> str:
    """One of the option's words. True: that of the best denoiser that is installed; False: none."""
    if isinstance(value, bool):
        return ("oidn" if find_spec(OPEN_IMAGE_DENOISE) is not None else "shader") if value else "none"
    return read_word(option, value)


def whole(value: Any) -> int | None:
    """The whole number of a text or Python value, None where it is none; a bool is none."""
    if isinstance(value, str):
        # int() also takes underscores and other scripts' digits, and raises on thousands of digits.
        return int(value) if re.fullmatch(" *[+-]?[0-9]{1,18} *", value) else None
    if isinstance(value, bool):
        return None
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        return None


def real(value: Any) -> float | None:
    """The finite number of a text or Python value, None where it is none; a bool is none."""
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _within(option: Option, value: Any, number: N | None) -> N:
    """The number read from a value, in the option's range."""
    if number is None or not option.value.low <= number <= option.value.high:
        raise wrong(option, value)
    return number


def read_integer(option: Option, value: Any) -> int:
    """A whole number in the option's range."""
    return _within(option, value, whole(value))


@takes("int | Literal['auto', 'never'] | str | None")
def read_roulette(option: Option, value: Any) -> int | Literal["auto"] | None:
    """A whole number; ``"auto"``; ``"never"`` or None: None."""
    word = value if isinstance(value, str) else None
    if value is None or word in ("never", "None"):  # as files to resume have it
        return None
    return "auto" if word == "auto" else read_integer(option, value)


def is_auto(value: Any) -> bool:
    """Whether a value is None or ``auto``."""
    return value is None or (isinstance(value, str) and value == "auto")  # an array has no plain equality


def read_integer_or_auto(option: Option, value: Any) -> int | Literal["auto"]:
    """A whole number in the option's range, or ``auto``."""
    return "auto" if is_auto(value) else read_integer(option, value)


def read_real(option: Option, value: Any) -> float:
    """A finite number in the option's range."""
    return _within(option, value, real(value))


def read_real_or_auto(option: Option, value: Any) -> float | Literal["auto"]:
    """A finite number in the option's range, or ``auto``."""
    return "auto" if isinstance(value, str) and value == "auto" else read_real(option, value)


read_optional_word = optional(read_word)
read_optional_integer = optional(read_integer)
read_optional_closed_real = optional(read_real)  # the ends of its range included


def read_optional_real(option: Option, value: Any) -> float | None:
    """A finite number in the option's range, or None."""
    if value is None:
        return None
    number = real(value)
    if number is None or not option.value.low < number < option.value.high:
        raise wrong(option, value)
    return number


def read_frames(option: Option, value: Any) -> range | None:
    """``"0-119"``, or a `range` of step 1, as a range of frame numbers that is not empty."""
    if value is None or isinstance(value, range):
        frames = value
    else:
        ends = [whole(end) for end in value.split("-")] if isinstance(value, str) else []
        if len(ends) not in (1, 2) or ends[0] is None or ends[-1] is None:
            raise wrong(option, value)
        if ends[0] > ends[-1]:
            raise wrong(option, value, hint=f"frame {ends[0]} is after frame {ends[-1]}")
        frames = range(ends[0], ends[-1] + 1)
    if frames is None:
        return None
    if not frames or frames.step != 1 or frames[0] < 0 or frames[-1] > LAST_FRAME:
        raise wrong(option, value)
    return range(frames[0], frames[-1] + 1)


def read_shutter(option: Option, value: Any) -> tuple[float, float] | None:
    """``"OPEN,CLOSE"``, or two numbers: shares of a frame."""
    if value is None:
        return None
    parts = value.split(",") if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    times = [real(part) for part in parts]
    if len(times) != 2:
        raise wrong(option, value)
    opens, closes = (_within(option, value, time) for time in times)
    if closes < opens:
        raise wrong(option, value, hint=f"it closes at {closes:g}, before it opens at {opens:g}")
    return opens, closes


def read_optional_name(option: Option, value: Any) -> str | int | None:
    """A name or a number; which ones there are, the scene knows."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    number = None if isinstance(value, str) else whole(value)
    if number is None or number < 0:
        raise wrong(option, value)
    return number


@takes("int | str | Sequence[int]")
def read_size(option: Option, value: Any) -> tuple[int, int]:
    """``"WxH"`` or two whole numbers; one is the side of a square."""
    side = whole(value)
    parts: Sequence[Any] = ()
    if isinstance(value, str):
        parts = re.split("[xX]", value)
    elif side is None and isinstance(value, Iterable):
        parts = tuple(value)
    sides = [whole(part) for part in parts] if side is None else [side, side]
    if len(sides) != 2:
        raise wrong(option, value)
    width, height = sides
    if width is None or height is None or not (1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE):
        raise wrong(option, value)
    return width, height


def read_cells(option: Option, value: Any) -> tuple[int, int, int] | None:
    """``"XxYxZ"`` or three whole numbers; ``"auto"`` or None: None."""
    if is_auto(value):
        return None
    parts = re.split("[xX]", value) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    numbers = [whole(part) for part in parts]
    if len(numbers) != 3 or not all(n is not None and option.value.low <= n <= option.value.high for n in numbers):
        raise wrong(option, value)
    return numbers[0], numbers[1], numbers[2]  # type: ignore[return-value]


@takes("str | bool | Sequence[float] | None")
def read_ground(option: Option, value: Any) -> tuple[float, float] | str | None:
    """``"WxD"`` or two numbers, in heights of the model; ``"auto"`` or True: a size that suits; ``"shadow"``: a floor
    that is not seen itself; ``"none"`` or False: none; None: the scene's default."""
    if value is None or isinstance(value, bool):
        return None if value is None else "auto" if value else "none"
    if isinstance(value, str) and value in ("auto", "shadow", "none"):
        return value
    parts = re.split("[xX]", value) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    sides = [real(part) for part in parts]
    if len(sides) != 2 or not all(side is not None and option.value.low <= side <= option.value.high for side in sides):
        raise wrong(option, value)
    return sides[0], sides[1]  # type: ignore[return-value]


def read_camera(option: Option, value: Any) -> Any:
    """A text, or an object with origin and target; which camera a text names, the scene knows. Points ``(origin,
    target[, up])`` and a 4 x 4 matrix of the camera's place, which looks along its own -Z with +Y upwards as in OpenGL
    and glTF, become a text."""
    if value is None or (hasattr(value, "origin") and hasattr(value, "target")):
        return value
    if isinstance(value, str):
        if value.strip():
            return value
        raise wrong(option, value)
    rows = list(value) if isinstance(value, Iterable) else []
    if len(rows) == 4:
        points = _points_of_matrix(rows)
    else:
        points = [_vector(row) for row in rows if not isinstance(row, str)] if len(rows) in (2, 3) else []
    if len(points) not in (2, 3) or len(points) != min(len(rows), 3) or None in points:
        raise wrong(option, value, "(origin, target), (origin, target, up), a matrix (4, 4), or " + option.expected())
    return " ".join(",".join(repr(number) for number in point) for point in points if point is not None)


def _points_of_matrix(rows: Sequence[Any]) -> list[tuple[float, float, float] | None]:
    """Origin, target and up of a camera's place in the world, (4, 4) for column vectors; nothing of other numbers."""
    matrix = [
        [real(number) for number in row] for row in rows if isinstance(row, Iterable) and not isinstance(row, str)
    ]
    if [len(row) for row in matrix] != [4] * 4 or matrix[3] != [0, 0, 0, 1] or any(None in row for row in matrix):
        return []
    y, z = ([float(row[k]) for row in matrix[:3]] for k in (1, 2))  # type: ignore[arg-type]
    position = [float(row[3]) for row in matrix[:3]]  # type: ignore[arg-type]
    if not (any(y) and any(z)):
        return []
    points = position, [p - away for p, away in zip(position, z, strict=True)], y
    return [_vector(point) for point in points]


def _vector(value: Any) -> tuple[float, float, float] | None:
    """The three finite numbers of ``"x,y,z"`` or a sequence, None where it is none."""
    if isinstance(value, str):
        value = value.split(",")
    elif not isinstance(value, Iterable):
        return None
    numbers = [real(part) for part in value]
    if len(numbers) != 3 or any(number is None for number in numbers):
        return None
    return numbers[0], numbers[1], numbers[2]  # type: ignore[return-value]


def read_environment(option: Option, value: Any) -> Any:
    """A word, a radiance ``"r,g,b"`` as a tuple, a file's name, or an object that has a ``flux``."""
    if value is None or hasattr(value, "flux"):
        return value
    radiance = _vector(value)
    if radiance is not None:
        if not all(0 <= component <= option.value.high for component in radiance):
            raise wrong(option, value)
        return radiance
    return read_file(option, value)


def read_sun(option: Option, value: Any) -> tuple[float, float] | None:
    """``"elevation,azimuth"`` or two numbers, degrees."""
    if value is None:
        return None
    parts = value.split(",") if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    angles = [real(part) for part in parts]
    if len(angles) != 2 or angles[0] is None or angles[1] is None:
        raise wrong(option, value)
    if not (0 <= angles[0] <= 90 and option.value.low <= angles[1] <= option.value.high):
        raise wrong(option, value)
    return angles[0], angles[1]


@takes("str | Mapping[str, Any] | Sequence[Any]")
def read_places(option: Option, value: Any) -> tuple[tuple[str, tuple[float, float, float]], ...]:
    """Places by name, each name once: ``"NAME=x,y,z"``, several of these, pairs (name, place), or a dictionary."""
    entries = value.items() if isinstance(value, Mapping) else [value] if isinstance(value, str) else value
    if entries is None:
        return ()
    if not isinstance(entries, Iterable):
        raise wrong(option, value)
    places: dict[str, tuple[float, float, float]] = {}
    for entry in entries:
        pair = entry
        if isinstance(entry, str):
            name, _, place = entry.rpartition("=")
            pair = (name, place)
        place_of = _vector(pair[1]) if isinstance(pair, tuple) and len(pair) == 2 else None
        if place_of is None or not isinstance(pair[0], str) or not pair[0]:
            raise wrong(option, entry)
        places[pair[0]] = place_of
    return tuple(places.items())


@takes("str | Sequence[str]")
def read_names(option: Option, value: Any) -> tuple[str, ...]:
    """Names, as a list or with commas between them."""
    if isinstance(value, str):
        parts = [part.strip() for part in value.split(",")]
    elif isinstance(value, Iterable):
        parts = list(value)
    else:
        raise wrong(option, value)
    for part in parts:
        is_name = isinstance(part, str) and bool(part) and (part in option.value.choices or not option.value.choices)
        if not is_name:
            hint = suggestion(part, option.value.choices) if isinstance(part, str) else ""
            raise wrong(option, part if part and len(parts) > 1 else value, hint=hint)
    return tuple(dict.fromkeys(parts))


def read_file(option: Option, value: Any) -> str | None:
    """A file's path, or None."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str) and text and "\0" not in text:
            return text
    raise wrong(option, value)


@takes("bool | Literal['on', 'off'] | str")
def read_on_off(option: Option, value: Any) -> bool:
    """True or False; also ``on`` and ``off``."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in option.value.choices:
        return value == "on"
    raise wrong(option, value)


def read_switch(option: Option, value: Any) -> bool:
    """True or False."""
    if isinstance(value, bool):
        return value
    raise wrong(option, value, "True or False")
