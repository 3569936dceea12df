"""Readers of the values of a camera's projection, and of the background for rays that leave the scene."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from raystream.options.declare import Option, suggestion, wrong
from raystream.options.values import real

_SIZE = re.compile(r"(\d{1,6})x(\d{1,6})")
_COUNTS = (0, 4, 5, 8)  # of OpenCV's coefficients


def read_ortho(option: Option, value: Any) -> float | Literal["auto"] | None:
    """A height above 0, ``auto``, or none."""
    if value is None or value == "auto":
        return value  # type: ignore[no-any-return]
    number = real(value)
    if number is None or not 0.0 < number <= option.value.high:
        raise wrong(option, value)
    return number


def read_fisheye(option: Option, value: Any) -> float | None:
    """An angle above 0, at most 360, or none."""
    if value is None:
        return None
    number = real(value)
    if number is None or not 0.0 < number <= 360.0:
        raise wrong(option, value)
    return number


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
        size = _sides(sides)
        if size is None and sides is not None:
            raise wrong(option, value)
    numbers = _flat(matrix)
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
    numbers = _flat(value.split(",") if isinstance(value, str) else value)
    if numbers is None or len(numbers) not in _COUNTS:
        raise wrong(option, value)
    return numbers


def _flat(values: Any) -> tuple[float, ...] | None:
    """All numbers, row by row; None where something is none, or not finite."""
    numbers: list[float] = []
    for value in values if isinstance(values, Iterable) and not isinstance(values, str) else [values]:
        inner = _flat(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
        number = real(value) if inner is None else None
        if inner is None and number is None:
            return None
        numbers += [number] if inner is None else inner  # type: ignore[list-item]
    return tuple(numbers)


def _sides(value: Any) -> tuple[int, int] | None:
    numbers = _flat(value)
    if numbers is None or len(numbers) != 2 or any(number != int(number) for number in numbers):
        return None
    return int(numbers[0]), int(numbers[1])


WORDS = ("environment", "transparent", "gradient")
BLUR = "blur="
LEAST_BLUR, MOST_BLUR = 0.5, 90.0  # degrees


def read_background(option: Option, value: Any) -> str | tuple[float, float, float] | None:
    """A word, ``"blur=DEGREES"``, or a radiance as ``"r,g,b"`` or three numbers, as a tuple; None: the default."""
    if value is None or (isinstance(value, str) and value in WORDS):
        return value
    if isinstance(value, str) and value.startswith(BLUR):
        degrees = real(value.removeprefix(BLUR))
        if degrees is None or not LEAST_BLUR <= degrees <= MOST_BLUR:
            raise wrong(option, value)
        return f"{BLUR}{degrees:g}"
    parts = value.split(",") if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    numbers = [real(part) for part in parts]
    if len(numbers) != 3 or not all(number is not None and 0 <= number <= option.value.high for number in numbers):
        raise wrong(option, value, hint=suggestion(value, (*WORDS, BLUR)) if isinstance(value, str) else "")
    return numbers[0], numbers[1], numbers[2]  # type: ignore[return-value]


def blur_of(value: Any) -> float:
    """Degrees of a checked value; 0 of one that blurs nothing."""
    return float(value.removeprefix(BLUR)) if isinstance(value, str) and value.startswith(BLUR) else 0.0
