"""False colours: maps for quantities, palettes for names and identities, and the legends that explain them.

All in NumPy; pictures are (H, W, 3) uint8 sRGB. Missing values are `NONE`, darker than any value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError

Color = tuple[int, int, int]
Picture = NDArray[np.uint8]

NONE: Color = (14, 14, 16)  # no value: invalid, or never written
DONE: Color = (58, 58, 64)  # the end of a ray: nearly as dark as missing values, yet distinct

MAX_DISTANCE = 1e37  # distances from here on count as infinite
OUTLIERS = 50.0  # a range this many times wider than that of 98 % of the values is cut to the latter
COUNT_PERCENTILE, COUNT_OUTLIERS = 99.5, 3.0  # counts beyond this multiple of this percentile are cut off
LISTED = 10  # identities in a legend
MAX_TABLE = 1 << 16  # larger counts have the colour of this one


def _hex(text: str) -> NDArray[np.uint8]:
    return np.array([[int(word[k : k + 2], 16) for k in (0, 2, 4)] for word in text.split()], np.uint8)


# Viridis, at every 17th of its 256 entries: uniform in lightness, so that its order survives every kind of colour
# blindness (S. van der Walt and N. Smith, "A better default colormap for Matplotlib", SciPy 2015; CC0).
VIRIDIS = _hex(
    "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151 a5db36 d2e21b fde725"
)

# Ten colours distinct under every kind of colour vision (M. A. Petroff, "Accessible color sequences for data
# visualization", arXiv:2107.02270, 2021).
TEN = _hex("3f90da ffa90e bd1f01 94a4a2 832db6 a96b59 e76300 b9ac70 717581 92dadd")

# Beyond ten: the same, lighter, then darker.
_TEN = TEN.astype(np.float64)
PALETTE = np.round(np.concatenate([_TEN, 0.5 * _TEN + 127.5, 0.55 * _TEN])).astype(np.uint8)

# Colours of a vector's components, with sum white.
AXES = {
    2: np.array([[255, 140, 0], [0, 115, 255]], np.float64),
    3: np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.float64),
}
FLOOR = 0.15  # brightness of a vector's lowest value, distinct from missing
COMPONENTS = "xyzw"


@dataclass(frozen=True)
class Label:
    """A colour and its meaning."""

    text: str
    color: Color


@dataclass(frozen=True)
class Ramp:
    """Colours (N, 3) uint8 for values from ``low`` to ``high``; ``clipped``: values beyond share the end colours."""

    text: str
    low: float
    high: float
    unit: str
    colors: Picture
    clipped: bool = False


@dataclass(frozen=True)
class Legend:
    """The meaning of a picture's colours."""

    title: str
    ramps: tuple[Ramp, ...] = ()
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class FalseColorPicture:
    """A picture in false colours and its legend."""

    picture: Picture
    legend: Legend


def to_color(value: NDArray) -> Color:
    """A row of three as a tuple of integers."""
    red, green, blue = (int(component) for component in value)
    return red, green, blue


def ramp_colors(t: NDArray[np.floating]) -> Picture:
    """(...) clipped to [0, 1] -> (..., 3) uint8 of `VIRIDIS`, interpolated."""
    positions = np.clip(np.asarray(t, np.float64), 0.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(VIRIDIS))
    channels = [np.interp(positions, stops, VIRIDIS[:, k].astype(np.float64)) for k in range(3)]
    return np.round(np.stack(channels, axis=-1)).astype(np.uint8)


def state_colors(states: tuple[str, ...]) -> dict[str, Color]:
    """A colour for each state of a program, in its order."""
    return {state: to_color(PALETTE[k % len(PALETTE)]) for k, state in enumerate(states)}


def names(title: str, indices: NDArray[np.integer], labels: list[Label], valid: NDArray[np.bool_]) -> FalseColorPicture:
    """A picture of ``indices`` (H, W), each an index of ``labels``."""
    colors = np.array([label.color for label in labels], np.uint8)
    inside = valid & (indices >= 0) & (indices < len(labels))
    picture = colors[np.where(inside, indices, 0)]
    picture[~inside] = NONE
    return FalseColorPicture(picture, Legend(title, labels=(*labels, *_missing_label(inside))))


def identities(title: str, ids: NDArray[np.integer], valid: NDArray[np.bool_]) -> FalseColorPicture:
    """A picture of identities (H, W) such as triangle indices; negative ones are missing.

    A few get a colour each. Many share the palette, scattered, so that neighbours differ; the legend has the commonest.
    """
    valid = valid & (ids >= 0)
    values, counts = np.unique(ids[valid], return_counts=True)
    if len(values) <= LISTED:
        chosen = np.searchsorted(values, ids).clip(0, LISTED - 1)
        order = np.arange(len(values))
    else:
        chosen = _scatter(ids)
        order = np.argsort(-counts, kind="stable")[:LISTED]
    picture = PALETTE[chosen]
    picture[~valid] = NONE
    labels = []
    for k in order:
        color = PALETTE[k] if len(values) <= LISTED else PALETTE[_scatter(values[k])]
        labels.append(Label(f"{values[k]} ({_share(counts[k], ids.size)})", to_color(color)))
    if len(values) > LISTED:
        title = f"{title}: the commonest of {len(values):,}"
    return FalseColorPicture(picture, Legend(title, labels=(*labels, *_missing_label(valid))))


def _scatter(ids: NDArray[np.integer]) -> NDArray[np.int64]:
    """Indices of the palette; multiplicative hashing (Knuth, "The Art of Computer Programming" 3, section 6.4)."""
    mixed = (np.asarray(ids, np.int64) & 0xFFFFFFFF) * 2654435761 & 0xFFFFFFFF
    return (mixed >> 16) % len(PALETTE)


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %"


def quantity(
    title: str, values: NDArray, valid: NDArray[np.bool_], unit: str, extent: tuple[float, float] | None = None
) -> FalseColorPicture:
    """A picture of numbers (H, W) over their own range, or over ``extent``; infinite ones are missing."""
    usable = valid & _usable(values)
    low, high, clipped = _range(values[usable]) if extent is None else (*extent, False)
    picture = ramp_colors(_normalized(values, usable, low, high))
    picture[~usable] = NONE
    ramp = Ramp("", low, high, unit, ramp_colors(np.linspace(0, 1, 64)), clipped)
    return FalseColorPicture(picture, Legend(title, (ramp,), _missing_label(usable)))


def highest(counts: NDArray[np.integer]) -> tuple[float, bool]:
    """The count of a picture's brightest colour, and whether higher ones share it: the maximum, or without a few
    extreme ones, the maximum of the rest. Negative ones are missing."""
    most = max(0, int(counts.max(initial=0)))
    cut = min(most, MAX_TABLE)
    occurrences = np.bincount(np.clip(counts, -1, cut).ravel() + 1, minlength=cut + 2)[1:]
    high = _percentile(occurrences, COUNT_PERCENTILE)
    clipped = most > COUNT_OUTLIERS * high > 0
    return max(1.0, np.ceil(high) if clipped else float(most)), clipped


def count(
    title: str, counts: NDArray[np.integer], valid: NDArray[np.bool_], unit: str, limit: float | None = None
) -> FalseColorPicture:
    """A picture of counts (H, W), from 0 to ``limit``, by default the `highest`.

    Negative ones are missing. Fast: a whole window's picture is coloured between two polls of its events.
    """
    values = np.where(valid, counts, -1)
    most = max(0, int(values.max(initial=0)))
    cut = min(most, MAX_TABLE)  # a table for more would be larger than the picture
    high, clipped = highest(values) if limit is None else (limit, most > limit)
    colors = np.concatenate([ramp_colors(np.arange(cut + 1) / high), np.array([NONE], np.uint8)])  # -1 is the last
    picture = np.take(colors, np.minimum(values, cut), axis=0)
    ramp = Ramp("", 0.0, high, unit, ramp_colors(np.linspace(0, 1, 64)), clipped)
    return FalseColorPicture(picture, Legend(f"{title}, {most:,} at most", (ramp,), _missing_label(values >= 0)))


def _percentile(counts: NDArray[np.integer], percent: float) -> float:
    """The percentile, linearly interpolated, of numbers with ``counts[k]`` occurrences of each k."""
    below = np.cumsum(counts)
    if not below[-1]:
        return 0.0
    rank = percent / 100 * (int(below[-1]) - 1)
    low, high = np.searchsorted(below, [np.floor(rank), np.ceil(rank)], side="right")
    return float(low + (high - low) * (rank - np.floor(rank)))


def vector(
    title: str, values: NDArray, valid: NDArray[np.bool_], unit: str, extent: tuple[float, float] | None = None
) -> FalseColorPicture:
    """A picture of vectors (H, W, 2 or more): each of the first two or three components adds a colour of its own.

    Raises ViewerError for a single component.
    """
    width = min(values.shape[-1], 3)
    if width < 2:
        raise ViewerError(title, "is not a vector", "show it as a quantity")
    usable = valid & np.logical_and.reduce([_usable(values[..., k]) for k in range(width)])
    sum_of = np.zeros((*values.shape[:2], 3))
    ramps = []
    for k, axis in enumerate(AXES[width]):
        component = values[..., k]
        low, high, clipped = _range(component[usable]) if extent is None else (*extent, False)
        sum_of += (FLOOR + (1 - FLOOR) * _normalized(component, usable, low, high))[..., None] * axis
        colors = np.round(np.linspace(FLOOR, 1, 64)[:, None] * axis).astype(np.uint8)
        ramps.append(Ramp(COMPONENTS[k], low, high, unit, colors, clipped))
    picture = np.round(np.minimum(sum_of, 255)).astype(np.uint8)
    picture[~usable] = NONE
    return FalseColorPicture(picture, Legend(title, tuple(ramps), _missing_label(usable)))


def color(title: str, values: NDArray, valid: NDArray[np.bool_]) -> FalseColorPicture:
    """A picture of colours: (H, W, 3) linear sRGB."""
    from raystream.film.tonemap import srgb8

    picture = srgb8(values, exposure=0.0, tonemap="none")
    picture[~valid] = NONE
    return FalseColorPicture(picture, Legend(title, labels=_missing_label(valid)))


def _usable(values: NDArray) -> NDArray[np.bool_]:
    if np.issubdtype(values.dtype, np.integer):
        return np.ones(values.shape, bool)
    return np.isfinite(values) & (np.abs(values) < MAX_DISTANCE)


def _range(values: NDArray) -> tuple[float, float, bool]:
    """Lowest, highest, and whether the range was cut because of a few outliers."""
    if not values.size:
        return 0.0, 0.0, False
    values = values.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    inner_low, inner_high = (float(v) for v in np.percentile(values, (1, 99)))
    if inner_high > inner_low and high - low > OUTLIERS * (inner_high - inner_low):
        return inner_low, inner_high, True
    return low, high, False


def _normalized(values: NDArray, usable: NDArray[np.bool_], low: float, high: float) -> NDArray[np.float64]:
    """Position of values in their range, 0 .. 1; 0 for a single value."""
    if high <= low:
        return np.zeros(values.shape)
    return np.clip((np.where(usable, values, low).astype(np.float64) - low) / (high - low), 0.0, 1.0)


def _missing_label(valid: NDArray[np.bool_]) -> tuple[Label, ...]:
    return () if valid.all() else (Label("none, or not written", NONE),)
