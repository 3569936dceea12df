"""JSON documents that may be malformed: strict parsing, accessors whose errors name the place of a fault, and damaged
parts that are left out.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from raystream.base.errors import ViewerError
from raystream.formats.files import short

# A parsed value takes up to 80 bytes or so: this many stay below 1 GiB.
MAX_VALUES = 10_000_000

_MISSING: Any = object()
_FLOATS = frozenset({float})
_LARGEST = sys.float_info.max


def parse(data: bytes, where: str) -> JsonObject:
    """The JSON object in UTF-8 text. Raises ViewerError for everything else."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ViewerError(where, f"the JSON is not UTF-8 at byte {error.start}", "the file is damaged") from None
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise ViewerError(where, f"the JSON holds more than {MAX_VALUES:,} values", "keep geometry in binary buffers")
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ViewerError(where, "the JSON is nested too deeply", "the file is damaged") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ViewerError(where, f"not valid JSON at {place}: {error.msg}", "the file is damaged") from None
    except ValueError as error:  # NaN and infinity; integers of thousands of digits, with a verbose message
        what = str(error) if "JSON" in str(error) else "a number of too many digits"
        raise ViewerError(where, f"not valid JSON: {what}", "the file is damaged") from None
    if not isinstance(document, dict):
        raise ViewerError(where, f"the JSON is {_kind(document)}, not an object", "it is not glTF")
    return JsonObject(document, where)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "something else")


class _WithPath:
    """A part of a JSON document, whose place is written out where an error names it alone."""

    __slots__ = ("_where",)

    _where: str | _Member

    @property
    def where(self) -> str:
        """The place, as errors name it."""
        return self._where if isinstance(self._where, str) else _path_of(*self._where)


class JsonObject(_WithPath):
    """A JSON object and its place (``scene.gltf: accessors[3]``); missing members and wrong types raise errors. A null
    member counts as missing, and a whole float as an integer."""

    __slots__ = ("data",)

    def __init__(self, data: dict[str, Any], where: str | _Member) -> None:
        self._where = where
        self.data = data

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def path(self, key: str) -> str:
        """The place of a member."""
        return f"{self.where}{'.' if ': ' in self.where else ': '}{key}"

    def fail(self, key: str, what: str, hint: str = "the file is damaged") -> ViewerError:
        """A member's error, to be raised."""
        return ViewerError(self.path(key), what, hint)

    def integer(self, key: str, default: Any = _MISSING, low: int = 0, high: int = 1 << 53) -> Any:
        """An integer in low .. high; ``default`` for a missing member."""
        value = self.data.get(key)
        if value is None:
            return self._default(key, default, "an integer")
        value = self._integer(key, value)
        if not low <= value <= high:
            raise self.fail(key, f"{short(value)} is not in {low} .. {high}")
        return value

    def index(self, key: str, count: int, what: str, default: Any = _MISSING) -> Any:
        """An index below ``count``."""
        value = self.data.get(key)
        if type(value) is int and 0 <= value < count:
            return value
        value = self.integer(key, default, low=-(1 << 53))
        if value is not default and not 0 <= value < count:
            raise self.fail(key, f"names {what} {value} of {count}")
        return value

    def number(self, key: str, default: Any = _MISSING) -> Any:
        """A finite number as float."""
        value = self.data.get(key)
        if type(value) is float and -_LARGEST <= value <= _LARGEST:
            return value
        if value is None:
            return self._default(key, default, "a number")
        return self._finite(key, value)

    def numbers(self, key: str, count: int, default: Any = _MISSING) -> Any:
        """An array of exactly ``count`` finite numbers, as a tuple of floats."""
        value = self.data.get(key)
        if value is None:
            return self._default(key, default, f"{count} numbers")
        if not isinstance(value, list) or len(value) != count:
            raise self.fail(key, f"expected {count} numbers, got {short(value)}")
        if _FLOATS.issuperset(map(type, value)) and all(map(math.isfinite, value)):
            return tuple(value)
        return tuple([self._finite(key, item) for item in value])

    def text(self, key: str, default: Any = _MISSING) -> Any:
        """A string."""
        value = self.data.get(key)
        if type(value) is str:
            return value
        return self._typed(key, str, "a string", default)

    def flag(self, key: str, default: Any = _MISSING) -> Any:
        """A boolean."""
        return self._typed(key, bool, "true or false", default)

    def child(self, key: str) -> JsonObject:
        """A member object; empty if missing."""
        return JsonObject(self._typed(key, dict, "an object", {}), (self, key))

    def array(self, key: str) -> list[Any]:
        """A member array as it is; empty if missing."""
        return self._typed(key, list, "an array", [])

    def objects(self, key: str) -> JsonObjects:
        """A member array of objects; empty if missing."""
        return JsonObjects(self.array(key), (self, key))

    def indices(self, key: str, count: int, what: str) -> list[int]:
        """A member array of indices below ``count``."""
        indices = []
        for k, value in enumerate(self.array(key)):
            if type(value) is int and 0 <= value < count:
                indices.append(value)
                continue
            indices.append(self._integer(f"{key}[{k}]", value))
            if not 0 <= indices[-1] < count:
                raise self.fail(f"{key}[{k}]", f"names {what} {short(value)} of {count}")
        return indices

    def texts(self, key: str) -> list[str]:
        """A member array of strings."""
        values = self.array(key)
        for k, value in enumerate(values):
            if not isinstance(value, str):
                raise self.fail(f"{key}[{k}]", f"expected a string, got {short(value)}")
        return values

    def extension(self, name: str) -> JsonObject | None:
        """The object's extension of that name, or None."""
        extensions = self.data.get("extensions")
        if extensions is None:
            return None
        extension = extensions.get(name) if type(extensions) is dict else _MISSING
        if extension is None:
            return None
        if type(extension) is dict:  # without an object for the extensions
            return JsonObject(extension, (self, f"extensions.{name}"))
        return self.child("extensions").child(name)  # raises

    def _typed(self, key: str, kind: type, what: str, default: Any) -> Any:
        value = self.data.get(key)
        if value is None:
            return self._default(key, default, what)
        if not isinstance(value, kind):
            raise self.fail(key, f"expected {what}, got {short(value)}")
        return value

    def _integer(self, key: str, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fail(key, f"expected an integer, got {short(value)}")
        return value

    def _default(self, key: str, default: Any, what: str) -> Any:
        if default is _MISSING:
            raise self.fail(key, f"is missing; expected {what}")
        return default

    def _finite(self, key: str, value: Any) -> float:
        if type(value) not in (float, int):
            raise self.fail(key, f"expected a number, got {short(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(key, f"{short(value)} overflows float64")
        return number


class JsonObjects(_WithPath):
    """A JSON array of objects; each element is checked on access."""

    __slots__ = ("data",)

    def __init__(self, data: list[Any], where: str | _Member) -> None:
        self._where = where
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[JsonObject]:
        return (self[k] for k in range(len(self.data)))

    def __getitem__(self, k: int) -> JsonObject:
        value = self.data[k]
        if not isinstance(value, dict):
            raise ViewerError(_path_of(self, k), f"expected an object, got {short(value)}", "the file is damaged")
        return JsonObject(value, (self, k))

    def positions_with(self, key: str, indices: Iterable[int]) -> list[int]:
        """The positions in ``indices`` of the elements that have the member ``key``, in order; also of elements that
        are no objects, whose access raises."""
        data = self.data
        return [
            position
            for position, k in enumerate(indices)
            if not isinstance(data[k], dict) or data[k].get(key) is not None
        ]

    def positions_with_extension(self, name: str, indices: Iterable[int]) -> list[int]:
        """The positions in ``indices`` of the elements that have the extension ``name``, as `positions_with`."""
        data, positions = self.data, []
        for position, k in enumerate(indices):
            extensions = data[k].get("extensions") if isinstance(data[k], dict) else ()
            if extensions is not None and (type(extensions) is not dict or extensions.get(name) is not None):
                positions.append(position)
        return positions


# An object or array and the key or number in it: written out only for those that an error names, as files have nodes by
# the hundred thousand.
_Member = tuple["JsonObject | JsonObjects", str | int]


def _path_of(owner: JsonObject | JsonObjects, key: str | int) -> str:
    """The path of a member or an item, for messages."""
    return owner.path(str(key)) if isinstance(owner, JsonObject) else f"{owner.where}[{key}]"


# -- damaged parts that are left out, with a note, in place of refusing the file ---------------------------------------

_MAX_NOTES = 3


class MissingExtra(ViewerError):
    """A file needs a decoder that is not installed."""


class Omissions:
    """The parts that a ``lenient`` reader leaves out; others leave none out.

    A part is read in ``with omissions:``, which a ViewerError ends for a lenient reader, unless for want of a decoder.
    """

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient
        self._faults: dict[str, ViewerError] = {}

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not self.lenient or not isinstance(error, ViewerError) or isinstance(error, MissingExtra):
            return False
        self._faults.setdefault(fault_text(error), error)
        return True

    @property
    def first(self) -> ViewerError | None:
        """The fault of the first part left out."""
        return next(iter(self._faults.values()), None)

    def notes(self) -> list[str]:
        """One line for each of the first parts, one for all others."""
        faults = list(self._faults)
        lines = [f"a damaged part is left out: {fault}" for fault in faults[:_MAX_NOTES]]
        return [
            *lines,
            *([f"{len(faults) - _MAX_NOTES:,} more damaged parts are left out"] if faults[_MAX_NOTES:] else []),
        ]


def fault_text(error: ViewerError) -> str:
    """Place and fault, without the file's name."""
    return f"{error.where.split(': ')[-1]}: {error.what}"
