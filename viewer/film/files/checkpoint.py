"""A render's state in an EXR: the film as layers, and the settings of its samples as attributes.

A picture with a film can be resumed (``--resume``) with the bits of an unbroken render: a sample is a function of
pixel, number, dimension and seed, and the film keeps its sums exactly.
| channels | content |
|---|---|
| `film.sum.R` .. `film.compensation.B` | the sum of the samples, in two floats |
| `film.square`, `film.count` | spread of the luminance, samples |
| `film.half.sum`, `film.half.count` | luminance of the sum of the first half, and its samples |
| `film.granted`, `film.apart` | sample budget of an adaptive picture, see `raystream.film.error` |

The attributes `film.setting.NAME` are texts; `film.check` is a digest of the channels. The halves and the attributes
`film.differences`, `film.variances` and `film.doubts` hold the convergence history
(`raystream.film.error`); files without them can be resumed, too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.interrupts import Terminated
from raystream.film.error import Halves, SampleBudget
from raystream.film.files import image
from raystream.film.film import Film
from raystream.options.table import OPTIONS
from raystream.programs import PICTURES

STATE_INTERVAL = 60.0  # seconds between states of a long render
MIN_INTERVAL_RATIO = 10.0  # of that interval to the seconds that saving takes
MAX_TERMINATION_SECONDS = 2.0  # that saving may take after SIGTERM
PIXELS_PER_SECOND = 2e6  # approximate speed of saving, with a slow disk
MAX_SAMPLES = 65536
SETTING, CHECK, ADAPTIVE = "film.setting.", "film.check", "film.adaptive"
# Attribute of the file -> field of `Halves`.
HISTORY = {"differences": "differences", "variances": "variances", "doubts": "relative_std_errors"}
HALF = ("sum", "count")  # arrays of the film's halves
BUDGET = {"granted": "granted", "apart": "half_difference"}  # layer -> array of the sample budget
DRIVER = "driver"  # attribute: OpenGL renderer and version of the samples, or several of them
CONTENT = "content"  # setting: a fingerprint of the scene
_PLAIN = frozenset({bool, int, float, type(None)})
_VALUES = "value %s;"
_MIN_UNCOPIED_BYTES = 1 << 16  # of an array that is hashed without a copy
_MIN_COLUMN_ROWS = 1 << 12  # records from which on they are hashed by columns
SHAPES = {"sum": 3, "compensation": 3, "square": 1, "count": 1}  # components of the film's arrays


def film_layers(film: Film, prefix: str = "film") -> dict[str, NDArray[np.float32]]:
    """The film's arrays as layers of an EXR or NPZ, named ``prefix`` and a field; each of several films in a file has
    its own prefix, as ``film.bounce.0``."""
    layers = {f"{prefix}.{name}": array for name, array in film.arrays.items()}
    if film.halves is not None:
        layers |= {f"{prefix}.half.{name}": getattr(film.halves, name) for name in HALF}
    if film.sample_budget is not None:
        layers |= {f"{prefix}.{name}": getattr(film.sample_budget, field) for name, field in BUDGET.items()}
    return layers


def film_metadata(film: Film, settings: Mapping[str, Any], prefix: str = "film") -> dict[str, str]:
    """Attributes of a file for `resume`: the settings of the samples, the convergence history and the film's digest."""
    attributes = {f"{SETTING}{key}": str(value) for key, value in settings.items()}
    if film.halves is not None:
        for name, field in HISTORY.items():
            levels = getattr(film.halves, field).items()
            attributes[f"{prefix}.{name}"] = " ".join(f"{level}:{value!r}" for level, value in levels)
    if (budget := film.sample_budget) is not None:
        attributes[ADAPTIVE.replace("film", prefix, 1)] = " ".join(
            repr(number) for number in (budget.error, budget.efficiency, budget.relative_std_error)
        )
    return attributes | {CHECK.replace("film", prefix, 1): _digest(film)}


def resume(
    path: str | os.PathLike[str], size: tuple[int, int], settings: Mapping[str, Any], prefix: str = "film"
) -> Film:
    """The film of an EXR, to the bit, for a picture of ``size`` (width, height) with these ``settings``. settings : all
    that samples depend on, by the options' names: scene, program, camera, depth, seed ... Raises ViewerError with the
    first difference for a file of another picture, without a film, or damaged."""
    where = os.fspath(path)
    head = image.exr_header(path)  # sizes and settings are compared before pixels take memory
    header, names = head.texts, [f"{prefix}.{field}{suffix}" for field in SHAPES for suffix in _suffixes(SHAPES[field])]
    if not head.channels.keys() >= set(names):
        raise ViewerError(where, "holds no film to resume from", "only progressive programs save one")
    width, height = head.width, head.height
    if (width, height) != tuple(size):
        raise ViewerError(where, f"is {width} x {height} pixels, not {size[0]} x {size[1]}", f"--size {width}x{height}")
    before = {key.removeprefix(SETTING): value for key, value in header.items() if key.startswith(SETTING)}
    for key in dict.fromkeys([*settings, *before]):
        if key not in settings and not _matters_to(key, str(settings.get("program", ""))):
            continue
        old, new = before.get(key, "none"), str(settings.get(key, "none"))
        if old != new and key == CONTENT:
            raise ViewerError(
                where, "was rendered from another scene, or its files have changed since", "start a new render"
            )
        if old != new:
            option = OPTIONS.get(key)
            remedy = (
                f"give {option.flag} {old}" if option is not None and old not in ("None", "none") else "change it back"
            )
            fault = f"was rendered with {key.replace('_', ' ')} {_short(old)}, not {_short(new)}"
            raise ViewerError(where, fault, f"start a new render, or {remedy}")
    halves = [f"{prefix}.half.{name}" for name in HALF]
    halves = halves if head.channels.keys() >= set(halves) else []
    budget = [f"{prefix}.{name}" for name in BUDGET]
    numbers = _numbers(header.get(ADAPTIVE.replace("film", prefix, 1), ""))
    budget = budget if numbers and head.channels.keys() >= set(budget) else []
    _, channels = image.read_exr(path, [*names, *halves, *budget])
    film = Film(width, height)
    film.drivers = header.get(DRIVER, "")
    for name, components in SHAPES.items():
        planes = [channels[f"{prefix}.{name}{suffix}"] for suffix in _suffixes(components)]
        film.arrays[name][...] = np.stack(planes, axis=-1) if components > 1 else planes[0]
    if halves:
        history = (_levels(header.get(f"{prefix}.{name}", "")) for name in HISTORY)
        film.halves = Halves(channels[halves[0]], channels[halves[1]], *history)
    if budget:
        film.sample_budget = SampleBudget(channels[budget[0]], channels[budget[1]], *numbers)
    if header.get(CHECK.replace("film", prefix, 1)) != _digest(film) or not _is_valid(film):
        raise ViewerError(where, "is damaged: the film does not match its digest", "start a new render")
    return film


def _matters_to(key: str, program: str) -> bool:
    """Whether a setting in a file can affect the program's samples: older files have settings of other programs,
    too."""
    return key not in OPTIONS or program not in PICTURES or PICTURES[program].uses(key)


def fingerprint(*parts: Any) -> str:
    """Sixteen hexadecimal digits that differ where the content does: of a scene, as a setting of `resume`. Takes
    arrays, dataclasses, enumerations, mappings, sequences, texts, numbers and None, nested; the names of fields count.
    Raises TypeError for anything else."""
    digest = hashlib.blake2b(digest_size=8)
    _update_digest(digest.update, parts)
    return digest.hexdigest()


class Checkpoint:
    """Saves the state of a long render every minute to a file beside its picture, completely or not at all. The file is
    ``<name>.state.exr``, numbered where another render has left one. It is deleted once the picture is complete, as is
    the state that the render was resumed from."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        metadata: Mapping[str, str] | None = None,
        every: float = STATE_INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """every : seconds between two states. clock : seconds from any origin."""
        self.target = Path(path)
        self.settings, self.metadata = dict(settings), dict(metadata or {})
        self.every, self.clock = every, clock
        self.saved = 0  # number of states written
        self.samples = 0  # of every pixel in the last state; on average where some have none
        self.used = False  # the render was resumed from a state of its own picture
        self._path: Path | None = None
        self._last_save, self._save_seconds = clock(), 0.0

    @property
    def path(self) -> Path:
        """Path of the state: the present one, or the next free name."""
        return self._path or free_state(self.target)

    def find(self, size: tuple[int, int], pictures: bool = True) -> tuple[Path | None, int, list[str]]:
        """The path of the state with the most samples of a render of ``size`` (width, height), or None; its samples;
        and the reasons why other states do not fit. pictures : the picture itself counts, too, where it is an EXR with
        a film."""
        candidates: list[tuple[int, Path]] = []
        reasons: list[str] = []
        picture_exists = self.target.suffix.lower() == ".exr" and self.target.is_file()
        for path in [*existing_states(self.target), *([self.target] if pictures and picture_exists else [])]:
            try:
                candidates.append((int(resume(path, size, self.settings).count.mean()), path))
            except ViewerError as error:
                reasons.append(str(error))
        samples, best = max(candidates, key=lambda candidate: candidate[0], default=(0, None))
        return best, samples, reasons

    def use(self, path: str | os.PathLike[str]) -> None:
        """Resume the render from that file. A state of the same picture is overwritten from now on, and deleted with
        the picture's completion."""
        requested = os.path.realpath(path)
        for state in existing_states(self.target):
            if os.path.realpath(state) == requested:
                self._path, self.used = state, True

    def due(self) -> bool:
        """Whether it is time to save a state."""
        return self.clock() - self._last_save >= max(self.every, MIN_INTERVAL_RATIO * self._save_seconds)

    def worth(self, size: tuple[int, int], stop: BaseException | None = None) -> bool:
        """Whether an interrupted render of ``size`` (width, height) should save: where that takes less time than
        rendering has taken since the last state. stop : the interruption; after SIGTERM, unlike Ctrl-C, the process
        has to end within `MAX_TERMINATION_SECONDS`."""
        seconds = max(self._save_seconds, size[0] * size[1] / PIXELS_PER_SECOND)
        if isinstance(stop, Terminated) and seconds > MAX_TERMINATION_SECONDS:
            return False
        return self.clock() - self._last_save >= seconds

    def save(self, film: Film, layers: Mapping[str, NDArray] | None = None) -> None:
        """Save a state now. Raises ViewerError where the file cannot be written; the old state then stays."""
        samples, start = int(film.count.min()), self.clock()
        if self._path is None:
            self._path = free_state(self.target)
        save(
            self._path,
            film,
            self.settings,
            layers,
            {**self.metadata, "samples": str(samples), "stopped by": "nothing yet"},
        )
        self._last_save, self.saved, self.samples = self.clock(), self.saved + 1, samples or int(film.count.mean())
        self._save_seconds = self._last_save - start

    def finish(self) -> None:
        """Delete the states of this render, whose picture is now saved. Unused ones stay."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def save(
    path: str | os.PathLike[str],
    film: Film,
    settings: Mapping[str, Any],
    layers: Mapping[str, NDArray] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a picture with its film for `resume`, uncompressed: noise compresses badly. Raises ViewerError as
    `image.save` does."""
    all_layers = {**(layers or {}), **film_layers(film)}
    image.save_unpacked(path, film.mean(), all_layers, {**(metadata or {}), **film_metadata(film, settings)})


def _suffixes(components: int) -> Sequence[str]:
    return (".R", ".G", ".B") if components == 3 else ("",)


def _levels(text: str) -> dict[int, float]:
    """The values by level of an attribute of `film_metadata`; empty for a damaged text, which fails the digest."""
    values = {}
    for entry in text.split():
        level, _, value = entry.partition(":")
        try:
            values[int(level)] = float(value)
        except ValueError:
            return {}
    return values


def _numbers(text: str) -> list[float]:
    """The numbers of a sample budget; empty for a damaged text, which fails the digest."""
    try:
        numbers = [float(number) for number in text.split()]
    except ValueError:
        return []
    return numbers if len(numbers) in (2, 3) else []  # older files have no standard error


def _digest(film: Film) -> str:
    """The `fingerprint` of all that a file keeps of a film."""
    arrays: list[Any] = [film.arrays[name] for name in SHAPES]
    halves = film.halves
    if halves is not None:  # older files have none
        arrays += [halves.sum, halves.count, sorted(halves.differences.items())]
        arrays += [sorted(levels.items()) for levels in (halves.variances, halves.relative_std_errors) if levels]
    if (budget := film.sample_budget) is not None:
        arrays += [budget.granted, budget.half_difference, budget.error, budget.efficiency]
        arrays += [budget.relative_std_error] if budget.relative_std_error else []
    return fingerprint(arrays)


def _is_valid(film: Film) -> bool:
    """Whether all values are finite, and the counts of samples whole numbers in range."""
    count = film.count
    finite = all(np.isfinite(array).all() for array in film_layers(film).values())
    return finite and bool((count >= 0).all() and (count <= MAX_SAMPLES).all() and (count == np.floor(count)).all())


def _short(text: str) -> str:
    return f"'{text}'" if len(text) <= 40 else f"'{text[:36]} ...'"


def _update_digest(update: Callable[[Any], None], part: Any) -> None:
    """Pass the content of a value to a digest, with type and length, so that different values give different bytes."""
    kind = type(part)
    if kind in _PLAIN:
        update(f"value {part!s};".encode())
    elif isinstance(part, np.ndarray):
        update(_heading(part.dtype, part.shape) + part.tobytes())
    elif (record := _record(part.__class__)) is not None:
        name, labels = record
        pieces = [name]  # passed to the digest at once: a scene may have a million instances
        for label, field, added in labels:
            value = getattr(part, field)
            if added and (value is None or (type(value) is tuple and not value)):
                continue  # so that the digest is that from before the field was added
            kind = type(value)
            if kind in _PLAIN:
                pieces.append(b"%bvalue %b;" % (label, str(value).encode()))
            elif kind is str:
                data = value.encode()
                pieces.append(b"%btext %d;%b" % (label, len(data), data))
            elif kind is tuple and _PLAIN.issuperset(map(type, value)):
                pieces.append(b"%bsequence %d;" % (label, len(value)))
                pieces.append((_VALUES * len(value) % value).encode())
            elif kind is np.ndarray:
                pieces.append(label + _heading(value.dtype, value.shape))
                if value.nbytes > _MIN_UNCOPIED_BYTES:  # no copy of it
                    update(b"".join(pieces))
                    pieces.clear()
                    update(np.ascontiguousarray(value).data)
                else:
                    pieces.append(value.tobytes())
            else:
                pieces.append(label)
                _update_digest(pieces.append, value)
        update(b"".join(pieces))
    elif isinstance(part, (str, bytes)):
        data = part.encode() if isinstance(part, str) else part
        update(b"text %d;%b" % (len(data), data))
    elif isinstance(part, Mapping):
        update(f"mapping {len(part)};".encode())
        for key, value in part.items():
            _update_digest(update, key)
            _update_digest(update, value)
    elif isinstance(part, (list, tuple)):
        update(f"sequence {len(part)};".encode())
        if (
            len(part) >= _MIN_COLUMN_ROWS
            and len(kinds := set(map(type, part))) == 1
            and _record(kind := kinds.pop()) is not None
        ):
            _update_digest_by_columns(update, kind, part)
            return
        for value in part:
            _update_digest(update, value)
    elif isinstance(part, Enum):
        update(f"choice {part.name};".encode())
    elif isinstance(part, (bool, int, float, np.generic)):
        update(f"value {part!s};".encode())
    else:
        raise TypeError(f"no fingerprint of a {type(part).__name__}")


def _update_digest_by_columns(update: Callable[[Any], None], kind: type, rows: Sequence[Any]) -> None:
    """Pass dataclasses of one type to a digest field by field, numbers as arrays: a hundred thousand lights as text
    would take longer than their picture."""
    update(b"columns of %b" % (_record(kind) or (b"",))[0])
    for field in dataclasses.fields(kind):
        column = list(map(attrgetter(field.name), rows))
        kinds = set(map(type, column))
        update(field.name.encode())
        if kinds == {float}:
            _update_digest(update, np.array(column, np.float64))
            continue
        if kinds == {str}:
            update(b"sequence %d;" % len(column))
            update(b"".join([b"text %d;%b" % (len(data), data) for data in map(str.encode, column)]))
            continue
        if kinds == {tuple} and len(lengths := set(map(len, column))) == 1:
            parts, (length,) = list(chain.from_iterable(column)), lengths
            if set(map(type, parts)) == {float}:
                _update_digest(update, np.array(parts, np.float64).reshape(-1, length))
                continue
            if not length:
                update(b"sequence %d;" % len(column) + b"sequence 0;" * len(column))
                continue
        _update_digest(update, column)


@cache
def _record(kind: type) -> tuple[bytes, list[tuple[bytes, str, bool]]] | None:
    """The hashed name of a dataclass, and for each field its hashed name, its name, and whether it was ``added`` later;
    None for other types."""
    if not dataclasses.is_dataclass(kind):
        return None
    fields = [(f"{field.name};".encode(), field.name, "added" in field.metadata) for field in dataclasses.fields(kind)]
    return f"record {kind.__name__};".encode(), fields


@lru_cache(maxsize=4096)
def _heading(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The hashed prefix of an array's bytes."""
    return f"array {dtype.descr} {shape};".encode()


# -- files of states, beside the picture and named after it ------------------------------------------------------------


def free_state(target: Path) -> Path:
    """The first unused name of a state of that picture: ``a.png.state.exr``, ``a.png.state.2.exr`` ..."""
    names = (target.with_name(f"{target.name}.state{f'.{k}' if k > 1 else ''}.exr") for k in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())


def existing_states(target: Path) -> list[Path]:
    """The states of that picture, by name."""
    pattern = re.compile(re.escape(target.name) + r"\.state(\.[1-9]\d*)?\.exr")
    try:
        return sorted(path for path in target.parent.iterdir() if pattern.fullmatch(path.name))
    except OSError:  # left to the error of saving
        return []
