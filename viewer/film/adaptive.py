"""Adaptive sampling: the distribution of a picture's next samples over its pixels.

The aim is the error of `Film.error`, the root mean square over the picture, with the fewest samples. Equal errors for
all pixels would need as many samples as equal counts. The optimum (Neyman, *On the Two Different Aspects of the
Representative Method*, 1934) gives pixel i a number n_i in proportion to s_i, the standard deviation of its samples. An
error E of the mean of all pixels' variances takes n_i = s_i mean(s) / E^2.

Decisions follow 32, 64, 128 ... samples of the whole picture and use counts and sums alone: rounds and tiles do not
change them. They apply to blocks of 8 x 8 pixels. The halves of the samples (`raystream.film.error`) of the
pixels *around* a block estimate s_i, without the block itself: pixels whose first few samples agree by chance would
else end too dark. The first decision is thus independent of a pixel's own samples, and later ones depend on them
through its neighbours alone. Isolated noise, as of a lamp's corner, shows in the expected gain of the next samples:
where it is too small, all pixels with the fewest samples get more.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.film.error import (
    EDGE,
    INDEPENDENT,
    Halves,
    SampleBudget,
    block_sums,
    blocks,
    bound,
    ratios,
    ratios_by_spread,
    relative_std_error,
)
from raystream.film.film import Film, luminance

LEAST = 32  # samples of every pixel
STEPS = 4  # from a power of two of samples to the next: sample counts at which pixels may end
SLOWEST, FASTEST = 0.5, 0.125  # ratio V(n) / V(n / 2): independent samples; Owen's rate for smooth integrands
GAIN = 0.25  # share of the sum of variances, or of half its excess over the goal, that the next samples must remove
HARDER = 1.25  # factor for the pixels with the fewest samples, where the next samples would gain less
TRIES = 64  # repetitions of that, before the largest number of samples is requested


def first_decision(samples: int) -> int:
    """Samples at the next decision on a film of ``samples`` in every pixel."""
    return max(LEAST, 1 << max(0, samples - 1).bit_length())


def grant_samples(film: Film, goal: float) -> None:
    """Estimate a film's error and grant its pixels the samples by which `raystream.film.error.bound` reaches
    ``goal``, a relative error as in `Film.error`.

    Every pixel has as many samples as it was granted. A second call with the same goal changes nothing.
    """
    front = 1 << (int(film.count.max()) - 1).bit_length()
    variance = variances(film)
    mean = abs(float(np.mean(luminance(film.mean()), dtype=np.float64)))
    total = float(np.mean(variance))
    spread = float(np.mean(film.variance()))
    error = math.sqrt(total) / mean if mean > 0 else (math.inf if total > 0 else 0.0)
    uncertain = relative_std_error(blocks(variance))
    goal /= bound(1.0, uncertain)
    granted = film.count.copy()
    if error > goal:
        if mean > 0:
            deviation = np.sqrt(film.count * _surrounding_mean(variance))
            requested = deviation * (float(np.mean(deviation)) / (goal * mean) ** 2)
        else:
            requested = np.zeros_like(variance)
        enough, floor = min(total * GAIN, (total - (goal * mean) ** 2) / 2), float(film.count.min())
        for _ in range(TRIES):
            granted = _granted(film.count, np.maximum(requested, floor), 2 * front)
            if total - float(np.mean(variance * film.count / granted)) >= enough:
                break
            floor *= HARDER
        else:
            granted = np.full_like(film.count, 2 * front)
    apart = np.zeros_like(film.count) if film.sample_budget is None else film.sample_budget.apart
    film.sample_budget = SampleBudget(granted, apart, error, total / spread if spread > 0 else 1.0, uncertain)


def variances(film: Film) -> NDArray[np.float64]:
    """(H, W) estimated variance of each pixel's mean luminance, from the difference of its half means: a single number
    each, to be averaged over several pixels. Without halves, the variance of independent samples, `Film.variance`.

    The squared difference is scaled by the ratio of the neighbours (`raystream.film.error`), among pixels of a block
    with equal sample counts. Without one, the scale is the geometric mean of the estimates by the samples' spread and
    by the convergence rate of the differences, among pixels with equal counts; a quarter without either.
    """
    spread, halves = film.variance(), film.halves
    spread = np.where(np.isfinite(spread), spread, 0.0)
    if halves is None:
        return spread
    out = spread.copy()
    apart, complete = _half_difference(film, halves), (halves.count > 0) & (film.count == 2 * halves.count)
    mean = luminance(film.sum) / np.maximum(film.count, 1)
    previous = None if film.sample_budget is None else film.sample_budget.apart.astype(np.float64)
    for samples in np.unique(film.count[complete]).tolist():
        pixels, rate = complete & (film.count == samples), SLOWEST
        square = float(np.mean(apart[pixels] ** 2))
        if previous is not None:
            before = float(np.mean(previous[pixels] ** 2))
        else:
            before = halves.differences.get(int(samples).bit_length() - 2, 0.0)
        if before > 0:
            rate = min(max(square / before, FASTEST), SLOWEST)
        ratio = _ratios(mean, apart, pixels, spread, samples, rate / (1 - rate) * INDEPENDENT)
        out[pixels] = (ratio * apart**2)[pixels]
    if previous is not None:  # in between: that of the last power of two, then independent samples
        part = ~complete & (previous != 0)
        mean = halves.sum / np.maximum(halves.count, 1)
        spread = spread * film.count / np.maximum(halves.count, 1)  # of the first half's mean
        for samples in np.unique(halves.count[part]).tolist():
            pixels = part & (halves.count == samples)
            ratio = _ratios(mean, previous, pixels, spread, samples, INDEPENDENT) * previous**2
            out[pixels] = (ratio * halves.count / np.maximum(film.count, 1))[pixels]
    return out


def _ratios(
    mean: NDArray[np.floating],
    apart: NDArray[np.floating],
    pixels: NDArray[np.bool_],
    spread: NDArray[np.float64],
    samples: float,
    far: float,
) -> NDArray[np.float64]:
    """(H, W) variance of the mean by the squared difference of the halves, for ``pixels`` of ``samples`` each.

    spread : (H, W) variance of the mean of as many independent samples. far : the same ratio by the convergence rate.
    """
    sums, spreads = block_sums(mean, apart, pixels), blocks(np.where(pixels, spread, 0.0))
    ratio = ratios(sums)
    rough = np.sqrt(far * ratios_by_spread(sums[..., 0], spreads, int(samples)))
    ratio = np.where(np.isnan(ratio), rough, ratio)
    return np.repeat(np.repeat(ratio, EDGE, axis=0), EDGE, axis=1)[: mean.shape[0], : mean.shape[1]]


def next_run(count: NDArray[np.float32], granted: NDArray[np.float32], most: int) -> tuple[NDArray[np.bool_], int]:
    """The pixels (H, W) with the fewest of their granted samples, and the next sample count for them: at most ``most``
    and the next power of two. No pixels where all have theirs.

    count, granted : (H, W) float32.
    """
    waiting = count < np.minimum(granted, most)
    if not waiting.any():
        return waiting, 0
    level = 1 << int(count[waiting].min()).bit_length()
    waiting &= count < level
    end = int(min(level, most, granted[waiting].min()))
    return waiting & (count < end), end


def keep_halves(film: Film, going: NDArray[np.bool_]) -> None:
    """Store the sums of the pixels (H, W) about to get more samples, at powers of two, as first halves."""
    budget = film.sample_budget
    assert budget is not None
    if film.halves is None:
        film.halves = Halves(np.zeros_like(film.count), np.zeros_like(film.count))
    halves = film.halves
    going = going & (np.exp2(np.round(np.log2(np.maximum(film.count, 1)))) == film.count) & (halves.count < film.count)
    whole = going & (halves.count * 2 == film.count)
    apart = np.where(whole, _half_difference(film, halves), 0).astype(np.float32)
    film.sample_budget = replace(budget, apart=np.where(going, apart, budget.apart))
    total, count = np.where(going, luminance(film.sum), halves.sum), np.where(going, film.count, halves.count)
    film.halves = Halves(total, count, halves.differences)


def _half_difference(film: Film, halves: Halves) -> NDArray[np.float64]:
    """(H, W) luminance difference of the means of the first and the second half of the samples."""
    first = np.maximum(halves.count, 1).astype(np.float64)
    second = np.maximum(film.count - halves.count, 1)
    total = luminance(film.sum).astype(np.float64)
    difference: NDArray[np.float64] = halves.sum / first - (total - halves.sum) / second
    return difference


def _granted(count: NDArray[np.float32], requested: NDArray[np.float64], most: int) -> NDArray[np.float32]:
    """(H, W) ``requested``, rounded up to a step of `STEPS`; at most ``most``, at least the present count."""
    clipped = np.clip(requested, 1.0, most)
    step = np.exp2(np.floor(np.log2(clipped))) / STEPS
    return np.maximum(count, np.ceil(clipped / step) * step).astype(np.float32)


def _surrounding_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H, W) for the pixels of each block the mean over the pixels around it, `EDGE` / 2 far, without its own; in a
    picture of one block the block's own mean."""
    half, (height, width) = EDGE // 2, values.shape
    if height <= EDGE and width <= EDGE:
        return np.full_like(values, np.mean(values))
    sums, ones = _cells(values, half), _cells(np.ones_like(values), half)
    rings = [_windows(cells, 4) - _windows(cells[1:-1, 1:-1], 2) for cells in (sums, ones)]
    means = np.maximum(rings[0], 0.0) / np.maximum(rings[1], 1.0)
    return np.repeat(np.repeat(means, EDGE, axis=0), EDGE, axis=1)[:height, :width]


def _cells(values: NDArray[np.float64], edge: int) -> NDArray[np.float64]:
    """Sums over cells of ``edge`` x ``edge`` pixels, two per block across and down, with a border of empty cells."""
    height, width = values.shape
    padded = np.pad(values, ((0, -height % (2 * edge)), (0, -width % (2 * edge))))
    rows, columns = padded.shape[0] // edge, padded.shape[1] // edge
    return np.pad(padded.reshape(rows, edge, columns, edge).sum(axis=(1, 3)), 1)


def _windows(cells: NDArray[np.float64], wide: int) -> NDArray[np.float64]:
    """Sums over squares of ``wide`` x ``wide`` cells, at a stride of two."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (wide, wide))[::2, ::2]
    sums: NDArray[np.float64] = windows.sum(axis=(2, 3))
    return sums
