"""Attributes that are read and checked when they are set, and colours as pyrender takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Checked(Generic[T]):
    """An attribute whose value goes through ``read`` when it is set; ``read`` raises for a wrong one.

    default : of a dataclass's constructor, which finds it by the attribute of the class; as given, before ``read``.
    """

    def __init__(self, read: Callable[[Any], T], default: Any = MISSING) -> None:
        self.read, self.default = read, default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Any: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is not None:
            return getattr(instance, f"_{self.name}")
        if self.default is MISSING:
            raise AttributeError(f"{self.name} has no default")
        return self.default

    def __set__(self, instance: object, value: Any) -> None:
        setattr(instance, f"_{self.name}", self.read(value))


class VertexArray(Checked[NDArray[np.float32] | None]):
    """A checked array of one row for each of its primitive's ``positions``; ``read`` takes it with their number. None
    stays None."""

    def __init__(self, read: Callable[[Any, int], NDArray[np.float32]]) -> None:
        super().__init__(lambda value: None, None)
        self.read_rows = read

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, f"_{self.name}", None if value is None else self.read_rows(value, len(instance.positions)))


def label(value: Any) -> str | None:
    """A name, or None."""
    return None if value is None else str(value)


def number(what: str, low: float, high: float = np.inf, open_low: bool = False) -> Callable[[Any], float]:
    """A reader of numbers from ``low``, itself excluded where ``open_low``, to ``high``; raises ValueError."""

    def read(value: Any) -> float:
        parsed = float(value)
        if not low <= parsed <= high or (open_low and parsed == low):
            bounds = f"above {low:g}" if open_low and high == np.inf else f"from {low:g} to {high:g}"
            raise ValueError(f"{what} is {parsed:g}, expected a number {bounds}")
        return parsed

    return read


def optional(read: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """The reader, for which None stays None."""
    return lambda value: None if value is None else read(value)


def flag(what: str) -> Callable[[Any], bool]:
    """A reader of booleans; raises TypeError."""

    def read(value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{what} is {value!r}, expected True or False")
        return bool(value)

    return read


def color_vector(value: Any, length: int) -> NDArray[np.float32]:
    """(length,) float32 of a colour: integers are of 0 to 255; a number stands for all channels; missing channels are
    1 and further ones are dropped. Raises ValueError for other shapes."""
    color = np.asarray(value)
    color = color / 255.0 if color.dtype.kind in "iu" else color.astype(np.float64)
    color = np.repeat(color, length) if color.ndim == 0 else color.squeeze()
    if color.ndim != 1:
        raise ValueError(f"a colour of shape {np.shape(value)}, expected ({length},)")
    return np.concatenate([color[:length], np.ones(max(length - len(color), 0))]).astype(np.float32)


def color_array(value: Any, count: int) -> NDArray[np.float32]:
    """(count, 4) float32 of colours (count, 3 or 4), or of one for all; integers are of 0 to 255."""
    colors = np.asarray(value)
    colors = colors / 255.0 if colors.dtype.kind in "iu" else colors.astype(np.float64)
    if colors.ndim == 1:
        colors = np.tile(colors, (count, 1))
    if colors.ndim != 2 or len(colors) != count:
        raise ValueError(f"colours of shape {np.shape(value)} for {count} vertices, expected ({count}, 3 or 4)")
    rgba = np.ones((count, 4), np.float32)
    rgba[:, : colors.shape[1]] = colors[:, :4]
    return rgba
