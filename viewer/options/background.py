"""The value of the option ``background``, for camera rays that leave the scene."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from viewer.options.declare import Option, suggestion, wrong

WORDS = ("environment", "transparent", "gradient")
BLUR = "blur="
LEAST_BLUR, MOST_BLUR = 0.5, 90.0  # degrees


def read_background(option: Option, value: Any) -> str | tuple[float, float, float] | None:
    """A word, ``"blur=DEGREES"``, or a radiance as ``"r,g,b"`` or three numbers, as a tuple; None: the default."""
    if value is None or (isinstance(value, str) and value in WORDS):
        return value
    if isinstance(value, str) and value.startswith(BLUR):
        degrees = _number(value.removeprefix(BLUR))
        if degrees is None or not LEAST_BLUR <= degrees <= MOST_BLUR:
            raise wrong(option, value)
        return f"{BLUR}{degrees:g}"
    parts = value.split(",") if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    numbers = [_number(part) for part in parts]
    assert option.high is not None
    if len(numbers) != 3 or not all(number is not None and 0 <= number <= option.high for number in numbers):
        raise wrong(option, value, hint=suggestion(value, (*WORDS, BLUR)) if isinstance(value, str) else "")
    return numbers[0], numbers[1], numbers[2]  # type: ignore[return-value]


def blur_of(value: Any) -> float:
    """Degrees of a checked value; 0 of one that blurs nothing."""
    return float(value.removeprefix(BLUR)) if isinstance(value, str) and value.startswith(BLUR) else 0.0


def _number(value: Any) -> float | None:
    """A finite number, None where it is none."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
