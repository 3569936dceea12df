"""A render's state in an EXR: the film as layers, and what its samples depend on as attributes.

A picture that holds them can be rendered on (``--resume``), with the bits of an unbroken render, because a sample is a
function of pixel, number, dimension and seed, and the film keeps all that its sum knows.

| channels | what |
|---|---|
| `film.sum.R` .. `film.compensation.B` | the sum of the samples, in two floats |
| `film.square`, `film.count` | spread of the luminance, samples |
| `film.half.sum`, `film.half.count` | luminance of the sum of the first half, and its samples |
| `film.granted`, `film.apart` | of an adaptive picture, see `viewer.film.error.sample_budget` |

The attributes `film.setting.NAME` are texts; `film.check` is a digest of the channels. The halves, and the attributes
`film.differences`, `film.variances` and `film.doubts`, tell how fast the mean converges
(`viewer.film.error.convergence`); files without them can be resumed, too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.film.error.convergence import Halves
from viewer.film.error.sample_budget import SampleBudget
from viewer.film.files import image, states
from viewer.film.film import Film
from viewer.options.table import OPTIONS
from viewer.programs import PICTURES

EVERY = 60.0  # seconds between two states of a long render
PAUSE = 10.0  # times as long as saving takes, at least, until the next
PIXELS_PER_SECOND = 2e6  # about what is saved
MOST_SAMPLES = 65536
SETTING, CHECK, ADAPTIVE = "film.setting.", "film.check", "film.adaptive"
TOLD = ("differences", "variances", "doubts")  # of the film's halves, each an attribute
HALF = ("sum", "count")  # arrays of the film's halves
ACCOUNT = ("granted", "apart")  # arrays of its account; the attribute film.adaptive has the numbers
DRIVER = "driver"  # the attribute with the OpenGL renderer and version that made the samples, or with several of them
CONTENT = "content"  # the setting that is a fingerprint of the scene
SHAPES = {"sum": 3, "compensation": 3, "square": 1, "count": 1}  # components of the film's arrays


def film_layers(film: Film, prefix: str = "film") -> dict[str, NDArray[np.float32]]:
    """The film's arrays as layers of an EXR or NPZ; ``prefix`` tells several films apart (``film.bounce.0``)."""
    found = {f"{prefix}.{name}": array for name, array in film.arrays.items()}
    if film.halves is not None:
        found |= {f"{prefix}.half.{name}": getattr(film.halves, name) for name in HALF}
    if film.account is not None:
        found |= {f"{prefix}.{name}": getattr(film.account, name) for name in ACCOUNT}
    return found


def film_metadata(film: Film, settings: Mapping[str, Any], prefix: str = "film") -> dict[str, str]:
    """What `resume` will compare: the settings that a sample depends on, and the digest of the film."""
    found = {f"{SETTING}{key}": str(value) for key, value in settings.items()}
    if film.halves is not None:
        for name in TOLD:
            told = getattr(film.halves, name).items()
            found[f"{prefix}.{name}"] = " ".join(f"{level}:{value!r}" for level, value in told)
    if film.account is not None:
        found[ADAPTIVE.replace("film", prefix, 1)] = " ".join(
            repr(number) for number in (film.account.error, film.account.efficiency, film.account.doubt)
        )
    return found | {CHECK.replace("film", prefix, 1): _digest(film)}


def resume(
    path: str | os.PathLike[str], size: tuple[int, int], settings: Mapping[str, Any], prefix: str = "film"
) -> Film:
    """The film of an EXR, to the bit, for a picture of ``size`` (width, height) with these ``settings``.

    settings : everything a sample depends on, by the names that a user knows: scene, program, camera, depth, seed ...

    Raises ViewerError, which names the first thing that differs, when the file is not of this picture, holds no film,
    or is damaged.
    """
    where = os.fspath(path)
    head = image.exr_header(path)  # sizes and settings are compared before pixels take memory
    header, names = head.texts, [f"{prefix}.{each}{suffix}" for each in SHAPES for suffix in _suffixes(SHAPES[each])]
    if not head.channels.keys() >= set(names):
        raise ViewerError(where, "holds no film to go on from", "only pictures of sampling programs can be resumed")
    width, height = head.width, head.height
    if (width, height) != tuple(size):
        raise ViewerError(where, f"is {width} x {height} pixels, not {size[0]} x {size[1]}", f"--size {width}x{height}")
    before = {key.removeprefix(SETTING): value for key, value in header.items() if key.startswith(SETTING)}
    for key in dict.fromkeys([*settings, *before]):
        if key not in settings and not _serves(key, str(settings.get("program", ""))):
            continue
        old, new = before.get(key, "none"), str(settings.get(key, "none"))
        if old != new and key == CONTENT:
            raise ViewerError(where, "was rendered from another scene, or its files have changed since", "start anew")
        if old != new:
            known = OPTIONS.get(key)
            back = f"give {known.flag} {old}" if known is not None and old not in ("None", "none") else "change it back"
            what = f"was rendered with {key.replace('_', ' ')} {_short(old)}, not {_short(new)}"
            raise ViewerError(where, what, f"start anew, or {back}")
    halves = [f"{prefix}.half.{name}" for name in HALF]
    halves = halves if head.channels.keys() >= set(halves) else []
    account = [f"{prefix}.{name}" for name in ACCOUNT]
    numbers = _numbers(header.get(ADAPTIVE.replace("film", prefix, 1), ""))
    account = account if numbers and head.channels.keys() >= set(account) else []
    _, channels = image.read_exr(path, [*names, *halves, *account])
    film = Film(width, height)
    film.drivers = header.get(DRIVER, "")
    for name, components in SHAPES.items():
        parts = [channels[f"{prefix}.{name}{suffix}"] for suffix in _suffixes(components)]
        film.arrays[name][...] = np.stack(parts, axis=-1) if components > 1 else parts[0]
    if halves:
        told = (_levels(header.get(f"{prefix}.{name}", "")) for name in TOLD)
        film.halves = Halves(channels[halves[0]], channels[halves[1]], *told)
    if account:
        film.account = SampleBudget(channels[account[0]], channels[account[1]], *numbers)
    if header.get(CHECK.replace("film", prefix, 1)) != _digest(film) or not _sound(film):
        raise ViewerError(where, "is damaged: its film is not what was written", "start anew")
    return film


def _serves(key: str, program: str) -> bool:
    """Whether a setting that a file tells of serves that program: files have told of others, too."""
    return key not in OPTIONS or program not in PICTURES or PICTURES[program].uses(key)


def fingerprint(*parts: Any) -> str:
    """Sixteen hexadecimal digits that differ where the content does: of a scene, as a setting of `resume`.

    Takes arrays, dataclasses, enumerations, mappings, sequences, texts, numbers and None, nested; the names of fields
    count. Raises TypeError for anything else.
    """
    digest = hashlib.blake2b(digest_size=8)
    _feed(digest.update, parts)
    return digest.hexdigest()


class Checkpoint:
    """Saves the state of a long render every minute beside the picture that it will end in, whole or not at all.

    A state is ``<name>.state.exr``, or has a number where another render has left one of that name, which stays. It
    goes when the picture is there; and so does the one that the render has gone on from.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        metadata: Mapping[str, str] | None = None,
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """every: seconds between two states. clock: seconds since any moment."""
        self.target = Path(path)
        self.settings, self.metadata = dict(settings), dict(metadata or {})
        self.every, self.clock = every, clock
        self.saved = 0  # states so far
        self.samples = 0  # of every pixel in the last of them, or where some have none on average
        self.used = False  # the render goes on from one of its own
        self._path: Path | None = None
        self._last, self._took = clock(), 0.0

    @property
    def path(self) -> Path:
        """Of the state: the one that there is, or the next free name."""
        return self._path or states.free(self.target)

    def find(self, size: tuple[int, int], pictures: bool = True) -> tuple[Path | None, int, list[str]]:
        """The state of most samples that a render of ``size`` (width, height) can go on from, or None; its samples;
        and why others cannot be taken.

        pictures : the picture itself will do, too, where it is an EXR that can be resumed.
        """
        found: list[tuple[int, Path]] = []
        wrong: list[str] = []
        own = self.target.suffix.lower() == ".exr" and self.target.is_file()
        for path in [*states.existing(self.target), *([self.target] if pictures and own else [])]:
            try:
                found.append((int(resume(path, size, self.settings).count.mean()), path))
            except ViewerError as error:
                wrong.append(str(error))
        samples, best = max(found, key=lambda each: each[0], default=(0, None))
        return best, samples, wrong

    def use(self, path: str | os.PathLike[str]) -> None:
        """The render goes on from that file. If it is a state of the same picture, it is saved there from now on, and
        goes with the picture's completion."""
        given = os.path.realpath(path)
        for own in states.existing(self.target):
            if os.path.realpath(own) == given:
                self._path, self.used = own, True

    def due(self) -> bool:
        """Whether it is time to save: reading the film back is only worth its cost then."""
        return self.clock() - self._last >= max(self.every, PAUSE * self._took)

    def worth(self, size: tuple[int, int]) -> bool:
        """Whether saving a film of that size, (width, height), takes less time than was spent since the last state: one
        who interrupts does not wait long."""
        pixels = size[0] * size[1]
        return self.clock() - self._last >= max(self._took, pixels / PIXELS_PER_SECOND)

    def save(self, film: Film, layers: Mapping[str, NDArray] | None = None) -> None:
        """Save now. Raises ViewerError where the file cannot be written; the old state then stays."""
        samples, began = int(film.count.min()), self.clock()
        if self._path is None:
            self._path = states.free(self.target)
        save(
            self._path,
            film,
            self.settings,
            layers,
            {**self.metadata, "samples": str(samples), "stopped by": "nothing yet"},
        )
        self._last, self.saved, self.samples = self.clock(), self.saved + 1, samples or int(film.count.mean())
        self._took = self._last - began

    def finish(self) -> None:
        """The picture has been saved: its state is of no use any more. Others, which were not used, stay."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def save(
    path: str | os.PathLike[str],
    film: Film,
    settings: Mapping[str, Any],
    layers: Mapping[str, NDArray] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write the picture with its film, so that `resume` can go on from it. Raises ViewerError as `image.save` does."""
    held = {**(layers or {}), **film_layers(film)}
    image.save(path, film.mean(), held, {**(metadata or {}), **film_metadata(film, settings)})


def _suffixes(components: int) -> Sequence[str]:
    return (".R", ".G", ".B") if components == 3 else ("",)


def _levels(text: str) -> dict[int, float]:
    """What `film_metadata` has written; nothing of a damaged text, which the digest then tells."""
    found = {}
    for part in text.split():
        level, _, value = part.partition(":")
        try:
            found[int(level)] = float(value)
        except ValueError:
            return {}
    return found


def _numbers(text: str) -> list[float]:
    """The two numbers of an account; nothing of a damaged text."""
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        return []
    return found if len(found) in (2, 3) else []  # older files have no doubt


def _digest(film: Film) -> str:
    arrays: list[Any] = [film.arrays[name] for name in SHAPES]
    halves = film.halves
    if halves is not None:  # older files have none
        arrays += [halves.sum, halves.count, sorted(halves.differences.items())]
        arrays += [sorted(told.items()) for told in (halves.variances, halves.doubts) if told]
    if film.account is not None:
        arrays += [film.account.granted, film.account.apart, film.account.error, film.account.efficiency]
        arrays += [film.account.doubt] if film.account.doubt else []
    return fingerprint(arrays)


def _sound(film: Film) -> bool:
    count = film.count
    whole = all(np.isfinite(array).all() for array in film_layers(film).values())
    return whole and bool((count >= 0).all() and (count <= MOST_SAMPLES).all() and (count == np.floor(count)).all())


def _short(text: str) -> str:
    return f"'{text}'" if len(text) <= 40 else f"'{text[:36]} ...'"


def _feed(update: Callable[[bytes], None], part: Any) -> None:
    """Give a digest the content of a part, each with its kind and length, so that no two contents run together."""
    if isinstance(part, np.ndarray):
        update(f"array {part.dtype.descr} {part.shape};".encode())
        update(np.ascontiguousarray(part).tobytes())
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        update(f"record {type(part).__name__};".encode())
        for each in dataclasses.fields(part):
            update(f"{each.name};".encode())
            _feed(update, getattr(part, each.name))
    elif isinstance(part, Mapping):
        update(f"mapping {len(part)};".encode())
        for key, value in part.items():
            _feed(update, key)
            _feed(update, value)
    elif isinstance(part, (list, tuple)):
        update(f"sequence {len(part)};".encode())
        for value in part:
            _feed(update, value)
    elif isinstance(part, Enum):
        update(f"choice {part.name};".encode())
    elif isinstance(part, (str, bytes)):
        data = part.encode() if isinstance(part, str) else part
        update(f"text {len(data)};".encode() + data)
    elif part is None or isinstance(part, (bool, int, float, np.generic)):
        update(f"value {part!s};".encode())
    else:
        raise TypeError(f"no fingerprint of a {type(part).__name__}")
