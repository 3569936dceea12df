"""Values of options: their types, the readers that check a text or a Python value, and their common kinds."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from typing import Any, Literal, TypeVar

from raystream.options.declare import Option, Value, suggestion, wrong

MAX_SIDE = 32768  # pixels; a picture larger than a stream may be is cut into several
MAX_FRAME = 9_999_999
OPEN_IMAGE_DENOISE = "pyoidn"  # the package of its binding

N = TypeVar("N", int, float)
V = TypeVar("V")
R = TypeVar("R", bound=Callable[[Option, Any], Any])


def takes(types: str) -> Callable[[R], R]:
    """Decorate a reader with the ``types`` that it takes, as annotations write them, where it returns others."""

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


def parse_whole(value: Any) -> int | None:
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


def parse_real(value: Any) -> float | None:
    """The finite number of a text or Python value, None where it is none; a bool is none."""
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _check_range(option: Option, value: Any, number: N | None) -> N:
    """The number, parsed from ``value``, if it is in the option's range; raises ViewerError if not, or for None."""
    if number is None or not option.value.low <= number <= option.value.high:
        raise wrong(option, value)
    return number


def _split(value: Any, separators: str = ",") -> list[Any]:
    """The parts of a text between any of the separators, or the elements of a collection; [] for other values."""
    if isinstance(value, str):
        return re.split(f"[{separators}]", value)
    return list(value) if isinstance(value, Iterable) else []


def _numbers(
    option: Option, value: Any, parts: Sequence[Any], count: int, read: Callable[[Any], float | None] = parse_real
) -> tuple[Any, ...]:
    """The parts of ``value`` as ``count`` numbers in the option's range; raises ViewerError for other parts."""
    if len(parts) != count:
        raise wrong(option, value)
    return tuple(_check_range(option, value, read(part)) for part in parts)


def read_integer(option: Option, value: Any) -> int:
    """A whole number in the option's range."""
    return _check_range(option, value, parse_whole(value))


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
    return _check_range(option, value, parse_real(value))


def read_real_or_auto(option: Option, value: Any) -> float | Literal["auto"]:
    """A finite number in the option's range, or ``auto``."""
    return "auto" if isinstance(value, str) and value == "auto" else read_real(option, value)


read_optional_word = optional(read_word)
read_optional_integer = optional(read_integer)
read_optional_real = optional(read_real)


def read_optional_open_real(option: Option, value: Any) -> float | None:
    """A number between the ends of the option's range, or None."""
    if value is None:
        return None
    number = parse_real(value)
    if number is None or not option.value.low < number < option.value.high:
        raise wrong(option, value)
    return number


def read_optional_above(option: Option, value: Any) -> float | None:
    """A number above the low end of the option's range, up to its high end, or None."""
    if value is None:
        return None
    number = parse_real(value)
    if number is None or not option.value.low < number <= option.value.high:
        raise wrong(option, value)
    return number


def read_frames(option: Option, value: Any) -> range | None:
    """``"0-119"``, or a `range` of step 1, as a range of frame numbers that is not empty."""
    if value is None or isinstance(value, range):
        frames = value
    else:
        ends = [parse_whole(end) for end in value.split("-")] if isinstance(value, str) else []
        if len(ends) not in (1, 2) or ends[0] is None or ends[-1] is None:
            raise wrong(option, value)
        if ends[0] > ends[-1]:
            raise wrong(option, value, hint=f"frame {ends[0]} is after frame {ends[-1]}")
        frames = range(ends[0], ends[-1] + 1)
    if frames is None:
        return None
    if not frames or frames.step != 1 or frames[0] < 0 or frames[-1] > MAX_FRAME:
        raise wrong(option, value)
    return range(frames[0], frames[-1] + 1)


def read_shutter(option: Option, value: Any) -> tuple[float, float] | None:
    """``"OPEN,CLOSE"``, or two numbers: shares of a frame."""
    if value is None:
        return None
    opens, closes = _numbers(option, value, _split(value), 2)
    if closes < opens:
        raise wrong(option, value, hint=f"it closes at {closes:g}, before it opens at {opens:g}")
    return opens, closes


def read_optional_name(option: Option, value: Any) -> str | int | None:
    """A name or a number; which ones there are, the scene knows."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    number = None if isinstance(value, str) else parse_whole(value)
    if number is None or number < 0:
        raise wrong(option, value)
    return number


@takes("int | str | Sequence[int]")
def read_size(option: Option, value: Any) -> tuple[int, int]:
    """``"WxH"`` or two whole numbers; one is the side of a square."""
    side = parse_whole(value)
    width, height = _numbers(option, value, _split(value, "xX") if side is None else [side, side], 2, parse_whole)
    return width, height


def read_cells(option: Option, value: Any) -> tuple[int, int, int] | None:
    """``"XxYxZ"`` or three whole numbers; ``"auto"`` or None: None."""
    if is_auto(value):
        return None
    x, y, z = _numbers(option, value, _split(value, "xX"), 3, parse_whole)
    return x, y, z


@takes("str | bool | Sequence[float] | None")
def read_ground(option: Option, value: Any) -> tuple[float, float] | str | None:
    """``"WxD"`` or two numbers, in heights of the model; ``"auto"`` or True: a size that suits; ``"shadow"``: a floor
    that is not seen itself; ``"none"`` or False: none; None: the scene's default."""
    if value is None or isinstance(value, bool):
        return None if value is None else "auto" if value else "none"
    if isinstance(value, str) and value in ("auto", "shadow", "none"):
        return value
    width, depth = _numbers(option, value, _split(value, "xX"), 2)
    return width, depth


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
        [parse_real(number) for number in row] for row in rows if isinstance(row, Iterable) and not isinstance(row, str)
    ]
    if [len(row) for row in matrix] != [4] * 4 or matrix[3] != [0, 0, 0, 1] or any(None in row for row in matrix):
        return []
    y, z, position = ([float(row[k]) for row in matrix[:3]] for k in (1, 2, 3))  # type: ignore[arg-type]
    if not (any(y) and any(z)):
        return []
    target = [p - backward for p, backward in zip(position, z, strict=True)]
    points = position, target, y
    return [_vector(point) for point in points]


def _vector(value: Any) -> tuple[float, float, float] | None:
    """The three finite numbers of ``"x,y,z"`` or a sequence, None where it is none."""
    numbers = [parse_real(part) for part in _split(value)]
    return None if len(numbers) != 3 or None in numbers else tuple(numbers)  # type: ignore[return-value]


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
    elevation, azimuth = _numbers(option, value, _split(value), 2)
    if not 0 <= elevation <= 90:
        raise wrong(option, value)
    return elevation, azimuth


@takes("str | Mapping[str, Any] | Sequence[Any]")
def read_positions(option: Option, value: Any) -> tuple[tuple[str, tuple[float, float, float]], ...]:
    """Positions by name, each name once: ``"NAME=x,y,z"``, several of these, pairs (name, position), or a
    dictionary."""
    entries = value.items() if isinstance(value, Mapping) else [value] if isinstance(value, str) else value
    if entries is None:
        return ()
    if not isinstance(entries, Iterable):
        raise wrong(option, value)
    positions: dict[str, tuple[float, float, float]] = {}
    for entry in entries:
        pair = entry.rpartition("=")[::2] if isinstance(entry, str) else entry
        position = _vector(pair[1]) if isinstance(pair, tuple) and len(pair) == 2 else None
        if position is None or not isinstance(pair[0], str) or not pair[0]:
            raise wrong(option, entry)
        positions[pair[0]] = position
    return tuple(positions.items())


@takes("str | Sequence[str]")
def read_names(option: Option, value: Any) -> tuple[str, ...]:
    """Names, as a list or with commas between them."""
    if not isinstance(value, Iterable):
        raise wrong(option, value)
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value)
    for name in names:
        if not isinstance(name, str) or not name or (option.value.choices and name not in option.value.choices):
            hint = suggestion(name, option.value.choices) if isinstance(name, str) else ""
            raise wrong(option, name if name and len(names) > 1 else value, hint=hint)
    return tuple(dict.fromkeys(names))


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


# -- a camera's projection, and the background for rays that leave the scene -------------------------------------------

_SIZE = re.compile(r"(\d{1,6})x(\d{1,6})")
DISTORTION_COUNTS = (0, 4, 5, 8)  # of OpenCV's coefficients


def read_ortho(option: Option, value: Any) -> float | Literal["auto"] | None:
    """A height above 0, ``auto``, or none."""
    return "auto" if isinstance(value, str) and value == "auto" else read_optional_above(option, value)


def read_intrinsics(option: Option, value: Any) -> tuple[tuple[float, ...], tuple[int, int] | None] | None:
    """Nine numbers of a matrix K, row by row, and the size that it is of: ``"FX,FY,CX,CY[ WxH]"``, or K with nine
    numbers; in Python also K as (3, 3), or a pair of K and a size (width, height). Whether it is a K, the camera
    tells."""
    if value is None:
        return None
    size: tuple[int, int] | None = None
    matrix = value
    if isinstance(value, str):
        matrix, *sizes = value.split() or [""]
        size_match = _SIZE.fullmatch(sizes[0]) if len(sizes) == 1 else None
        if sizes and size_match is None:
            raise wrong(option, value)
        size = (int(size_match[1]), int(size_match[2])) if size_match else None
        matrix = matrix.split(",")
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        matrix, sides = value
        size = _parse_size(sides)
        if size is None and sides is not None:
            raise wrong(option, value)
    numbers = _flatten_numbers(matrix)
    if numbers is not None and len(numbers) == 4:
        fx, fy, cx, cy = numbers
        numbers = (fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0)
    if numbers is None or len(numbers) != 9 or (size is not None and min(size) < 1):
        raise wrong(option, value)
    return numbers, size


def read_distortion(option: Option, value: Any) -> tuple[float, ...] | None:
    """4, 5 or 8 numbers, or none."""
    if value is None:
        return None
    numbers = _flatten_numbers(value.split(",") if isinstance(value, str) else value)
    if numbers is None or len(numbers) not in DISTORTION_COUNTS:
        raise wrong(option, value)
    return numbers


def _flatten_numbers(values: Any) -> tuple[float, ...] | None:
    """The numbers of nested collections, row by row; None if an element is no finite number."""
    numbers: list[float] = []
    for value in values if isinstance(values, Iterable) and not isinstance(values, str) else [values]:
        inner = _flatten_numbers(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
        number = parse_real(value) if inner is None else None
        if inner is None and number is None:
            return None
        numbers += [number] if inner is None else inner  # type: ignore[list-item]
    return tuple(numbers)


def _parse_size(value: Any) -> tuple[int, int] | None:
    """(width, height) of two whole numbers; None for other values."""
    numbers = _flatten_numbers(value)
    if numbers is None or len(numbers) != 2 or any(number != int(number) for number in numbers):
        return None
    return int(numbers[0]), int(numbers[1])


BACKGROUNDS = ("environment", "transparent", "gradient")
BLUR = "blur="
MIN_BLUR, MAX_BLUR = 0.5, 90.0  # degrees


def read_background(option: Option, value: Any) -> str | tuple[float, float, float] | None:
    """A word, ``"blur=DEGREES"``, or a radiance as ``"r,g,b"`` or three numbers, as a tuple; None: the default."""
    if value is None or (isinstance(value, str) and value in BACKGROUNDS):
        return value
    if isinstance(value, str) and value.startswith(BLUR):
        degrees = parse_real(value.removeprefix(BLUR))
        if degrees is None or not MIN_BLUR <= degrees <= MAX_BLUR:
            raise wrong(option, value)
        return f"{BLUR}{degrees:g}"
    radiance = _vector(value)
    if radiance is None or not all(0 <= component <= option.value.high for component in radiance):
        raise wrong(option, value, hint=suggestion(value, (*BACKGROUNDS, BLUR)) if isinstance(value, str) else "")
    return radiance


def blur_degrees(value: Any) -> float:
    """The blur of a checked background, degrees; 0 for one that is not blurred."""
    return float(value.removeprefix(BLUR)) if isinstance(value, str) and value.startswith(BLUR) else 0.0


# -- names with numbers: policies, unrolling and photon filters --------------------------------------------------------


@dataclass(frozen=True)
class PolicyChoice:
    """Which state the multipass machine serves next.

    name  : ``sweep`` (the states in turn, without counts), ``naive``, ``threshold`` or
            ``most-work``.
    share : of threshold: the intersection pass runs once this share of the rays waits for it, in (0, 1].
    of    : of threshold: the rays that the share is of, the ``active`` rays or ``all`` rays.
    """

    name: str = "sweep"
    share: float = 0.2
    of: str = "active"

    def __str__(self) -> str:
        return f"threshold={self.share:g},{self.of}" if self.name == "threshold" else self.name


@dataclass(frozen=True)
class Unroll:
    """How many calls of a looping kernel one pass may make.

    counts : one number for all looping kernels, or one for each in the program's order; None lets the machine choose.
    """

    counts: tuple[int, ...] | None = None

    @property
    def auto(self) -> bool:
        """Whether the machine chooses."""
        return self.counts is None

    def __str__(self) -> str:
        return "auto" if self.counts is None else ",".join(map(str, self.counts))


@dataclass(frozen=True)
class PhotonFilter:
    """How a radiance estimate weighs photons by their distance d within its radius r.

    name  : ``constant`` (alike), ``cone`` (1 - d / (width r)) or ``epanechnikov`` (1 - d^2 / r^2).
    width : of the cone, at least 1: H. W. Jensen's filter constant (2001, section 7.2.1).
    """

    name: str = "constant"
    width: float = 1.1

    def __str__(self) -> str:
        return f"cone={self.width:g}" if self.name == "cone" else self.name

    @property
    def slope(self) -> float:
        """c in the weight (1 - c (d / r)^p)."""
        return {"constant": 0.0, "cone": 1 / self.width, "epanechnikov": 1.0}[self.name]

    @property
    def exponent(self) -> int:
        """p in the weight (1 - c (d / r)^p)."""
        return {"constant": 0, "cone": 1, "epanechnikov": 2}[self.name]

    @property
    def integral(self) -> float:
        """The integral of the weight over the disc, as a share of the disc's area."""
        return 1 - self.slope * 2 / (self.exponent + 2) if self.exponent else 1.0


def read_policy(option: Option, value: Any) -> PolicyChoice:
    """A policy, by its name and number, as in ``threshold=0.2,all``."""
    policy = value
    if isinstance(value, str):
        name, equals, text = value.partition("=")
        share_text, comma, base = text.partition(",")
        if name not in option.value.choices:
            raise wrong(option, value, hint=suggestion(name, option.value.choices))
        if equals and (name != "threshold" or not share_text or (comma and not base)):
            raise wrong(option, value)
        fraction = parse_real(share_text) if equals else PolicyChoice.share
        policy = PolicyChoice(name, math.nan if fraction is None else fraction, base or PolicyChoice.of)
    if not isinstance(policy, PolicyChoice) or policy.name not in option.value.choices:
        raise wrong(option, value)
    fraction = parse_real(policy.share)
    if fraction is None or not 0 < fraction <= 1 or policy.of not in ("active", "all"):
        raise wrong(option, value)
    return PolicyChoice(policy.name, fraction, policy.of)


def read_photon_filter(option: Option, value: Any) -> PhotonFilter:
    """A filter of photons, by its name and number."""
    photon_filter = value
    if isinstance(value, str):
        name, equals, text = value.partition("=")
        if name not in option.value.choices:
            raise wrong(option, value, hint=suggestion(name, option.value.choices))
        width = parse_real(text) if equals else PhotonFilter.width
        if equals and (name != "cone" or width is None):
            raise wrong(option, value)
        photon_filter = PhotonFilter(name, PhotonFilter.width if width is None else width)
    if not isinstance(photon_filter, PhotonFilter) or photon_filter.name not in option.value.choices:
        raise wrong(option, value)
    width = parse_real(photon_filter.width)
    if width is None or not 1 <= width <= 1e6:
        raise wrong(option, value)
    return PhotonFilter(photon_filter.name, width)


@takes("Unroll | int | str | Sequence[int]")
def read_unroll(option: Option, value: Any) -> Unroll:
    """Calls of a kernel in a pass: one number for all, one for each kernel, or ``auto``."""
    calls = value.counts if isinstance(value, Unroll) else value
    if is_auto(calls):
        return Unroll()
    if isinstance(calls, str):
        calls = calls.split(",")
    elif not isinstance(calls, Iterable):
        calls = (calls,)
    counts = tuple(parse_whole(part) for part in calls)
    if not counts or any(count is None or not option.value.low <= count <= option.value.high for count in counts):
        raise wrong(option, value)
    return Unroll(counts)  # type: ignore[arg-type]


# -- common kinds, each in place of a whole `Value` --------------------------------------------------------------------

SWITCH = Value(read_switch, False)
ON_OFF = Value(read_on_off, True, "on|off", choices=("on", "off"))


def choice(*words: str, metavar: str = "NAME") -> Value:
    """One of these words; the first is the default."""
    return Value(read_word, words[0], metavar, choices=words)


def optional_choice(*words: str) -> Value:
    """One of these words, or none."""
    return Value(read_optional_word, None, "NAME", choices=words)


def integer(
    low: int, high: int, default: int | Literal["auto"] | None = None, metavar: str = "N", note: str = ""
) -> Value:
    """A whole number; None: or none; ``auto``: or that. note : follows the range in words."""
    expected = "a whole number from {low} to {high}" + note
    if default == "auto":
        return Value(read_integer_or_auto, default, f"{metavar}|auto", f"auto or {expected}", low, high)
    read = read_optional_integer if default is None else read_integer
    return Value(read, default, metavar, expected, low, high)


def number(
    metavar: str, low: float, high: float, default: float | None = None, unit: str = "", note: str = ""
) -> Value:
    """A number, ends of the range included; None: or none. unit : in words. note : follows the range in words."""
    expected = f"a number{f' of {unit}' if unit else ''} from {{low:g}} to {{high:g}}{note}"
    read = read_optional_real if default is None else read_real
    return Value(read, default, metavar, expected, low, high)


def open_number(metavar: str, low: float, high: float, unit: str = "", note: str = "") -> Value:
    """A number, ends of the range excluded, or none. unit : in words. note : follows the range in words."""
    expected = f"a number{f' of {unit}' if unit else ''} above {{low:g}} and below {{high:g}}{note}"
    return Value(read_optional_open_real, None, metavar, expected, low, high)


def file(metavar: str, expected: str = "", default: str | None = None) -> Value:
    """A file's name, or none."""
    return Value(read_file, default, metavar, expected)
