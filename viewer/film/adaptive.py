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

MIN_SAMPLES = 32  # of every pixel before the first decision
STEPS_PER_OCTAVE = 4  # sample counts at which pixels may end, from a power of two to the next
MAX_RATE, MIN_RATE = 0.5, 0.125  # ratio V(n) / V(n / 2): independent samples; Owen's rate for smooth integrands
MIN_GAIN = 0.25  # share of the sum of variances, or of half its excess over the goal, that the next samples must remove
FLOOR_GROWTH = 1.25  # factor on the lowest sample count, where the next samples would gain less
MAX_ATTEMPTS = 64  # at such factors, before all pixels get the largest number of samples


def first_decision(samples: int) -> int:
    """The sample count at which a film with ``samples`` in every pixel is decided on."""
    return max(MIN_SAMPLES, 1 << max(0, samples - 1).bit_length())


def grant_samples(film: Film, goal: float) -> None:
    """Estimate a film's error and grant its pixels the samples by which `raystream.film.error.bound` reaches ``goal``,
    a relative error as in `Film.error`. Every pixel has as many samples as it was granted. A second call with the same
    goal changes nothing."""
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
        enough, floor = min(total * MIN_GAIN, (total - (goal * mean) ** 2) / 2), float(film.count.min())
        for _ in range(MAX_ATTEMPTS):
            granted = _rounded_samples(film.count, np.maximum(requested, floor), 2 * front)
            if total - float(np.mean(variance * film.count / granted)) >= enough:
                break
            floor *= FLOOR_GROWTH
        else:
            granted = np.full_like(film.count, 2 * front)
    half_difference = np.zeros_like(film.count) if film.sample_budget is None else film.sample_budget.half_difference
    film.sample_budget = SampleBudget(granted, half_difference, error, total / spread if spread > 0 else 1.0, uncertain)


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
    half_difference, complete = (
        _difference_of_halves(film, halves),
        (halves.count > 0) & (film.count == 2 * halves.count),
    )
    mean = luminance(film.sum) / np.maximum(film.count, 1)
    previous = None if film.sample_budget is None else film.sample_budget.half_difference.astype(np.float64)
    for samples in np.unique(film.count[complete]).tolist():
        pixels, rate = complete & (film.count == samples), MAX_RATE
        square = float(np.mean(half_difference[pixels] ** 2))
        if previous is not None:
            earlier_square = float(np.mean(previous[pixels] ** 2))
        else:
            earlier_square = halves.differences.get(int(samples).bit_length() - 2, 0.0)
        if earlier_square > 0:
            rate = min(max(square / earlier_square, MIN_RATE), MAX_RATE)
        ratio = _ratios(mean, half_difference, pixels, spread, samples, rate / (1 - rate) * INDEPENDENT)
        out[pixels] = (ratio * half_difference**2)[pixels]
    if previous is not None:  # between powers of two: by the last one, and independent samples since
        remaining = ~complete & (previous != 0)
        mean = halves.sum / np.maximum(halves.count, 1)
        spread = spread * film.count / np.maximum(halves.count, 1)  # of the first half's mean
        for samples in np.unique(halves.count[remaining]).tolist():
            pixels = remaining & (halves.count == samples)
            ratio = _ratios(mean, previous, pixels, spread, samples, INDEPENDENT) * previous**2
            out[pixels] = (ratio * halves.count / np.maximum(film.count, 1))[pixels]
    return out


def _ratios(
    mean: NDArray[np.floating],
    half_difference: NDArray[np.floating],
    pixels: NDArray[np.bool_],
    spread: NDArray[np.float64],
    samples: float,
    rate_ratio: float,
) -> NDArray[np.float64]:
    """(H, W) variance of the mean by the squared difference of the halves, for ``pixels`` of ``samples`` each.
    spread : (H, W) variance of the mean of as many independent samples. rate_ratio : of that by the convergence
    rate."""
    sums, spreads = block_sums(mean, half_difference, pixels), blocks(np.where(pixels, spread, 0.0))
    ratio = ratios(sums)
    rough = np.sqrt(rate_ratio * ratios_by_spread(sums[..., 0], spreads, int(samples)))
    ratio = np.where(np.isnan(ratio), rough, ratio)
    return np.repeat(np.repeat(ratio, EDGE, axis=0), EDGE, axis=1)[: mean.shape[0], : mean.shape[1]]


def next_round(
    count: NDArray[np.float32], granted: NDArray[np.float32], max_samples: int
) -> tuple[NDArray[np.bool_], int]:
    """The pixels (H, W) of the next round, those with the fewest samples that are to get more, and the sample count
    that it brings them to: at most ``max_samples`` and the next power of two. No pixels, and 0, where none is to get
    more. count, granted : (H, W) float32."""
    waiting = count < np.minimum(granted, max_samples)
    if not waiting.any():
        return waiting, 0
    level = 1 << int(count[waiting].min()).bit_length()
    waiting &= count < level
    end = int(min(level, max_samples, granted[waiting].min()))
    return waiting & (count < end), end


def store_halves(film: Film, chosen: NDArray[np.bool_]) -> None:
    """Store the sums of the ``chosen`` pixels (H, W), which are about to get more samples, as first halves where they
    have a power of two of samples."""
    budget = film.sample_budget
    assert budget is not None
    if film.halves is None:
        film.halves = Halves(np.zeros_like(film.count), np.zeros_like(film.count))
    halves = film.halves
    chosen = (
        chosen & (np.exp2(np.round(np.log2(np.maximum(film.count, 1)))) == film.count) & (halves.count < film.count)
    )
    complete = chosen & (halves.count * 2 == film.count)
    half_difference = np.where(complete, _difference_of_halves(film, halves), 0).astype(np.float32)
    film.sample_budget = replace(budget, half_difference=np.where(chosen, half_difference, budget.half_difference))
    total, count = np.where(chosen, luminance(film.sum), halves.sum), np.where(chosen, film.count, halves.count)
    film.halves = Halves(total, count, halves.differences)


def _difference_of_halves(film: Film, halves: Halves) -> NDArray[np.float64]:
    """(H, W) luminance difference of the means of the first and the second half of the samples."""
    first = np.maximum(halves.count, 1).astype(np.float64)
    second = np.maximum(film.count - halves.count, 1)
    total = luminance(film.sum).astype(np.float64)
    difference: NDArray[np.float64] = halves.sum / first - (total - halves.sum) / second
    return difference


def _rounded_samples(
    count: NDArray[np.float32], requested: NDArray[np.float64], max_samples: int
) -> NDArray[np.float32]:
    """(H, W) ``requested``, rounded up to a step of `STEPS_PER_OCTAVE`; at most ``max_samples``, at least the present
    count."""
    clipped = np.clip(requested, 1.0, max_samples)
    step = np.exp2(np.floor(np.log2(clipped))) / STEPS_PER_OCTAVE
    return np.maximum(count, np.ceil(clipped / step) * step).astype(np.float32)


def _surrounding_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H, W): the mean over the frame of `EDGE` / 2 pixels around each pixel's block, without the block; in a picture
    of one block the block's mean."""
    half, (height, width) = EDGE // 2, values.shape
    if height <= EDGE and width <= EDGE:
        return np.full_like(values, np.mean(values))
    sums, ones = _cell_sums(values, half), _cell_sums(np.ones_like(values), half)
    rings = [_window_sums(cells, 4) - _window_sums(cells[1:-1, 1:-1], 2) for cells in (sums, ones)]
    means = np.maximum(rings[0], 0.0) / np.maximum(rings[1], 1.0)
    return np.repeat(np.repeat(means, EDGE, axis=0), EDGE, axis=1)[:height, :width]


def _cell_sums(values: NDArray[np.float64], edge: int) -> NDArray[np.float64]:
    """Sums over cells of ``edge`` x ``edge`` pixels, two per block across and down, with a border of empty cells."""
    height, width = values.shape
    padded = np.pad(values, ((0, -height % (2 * edge)), (0, -width % (2 * edge))))
    rows, columns = padded.shape[0] // edge, padded.shape[1] // edge
    return np.pad(padded.reshape(rows, edge, columns, edge).sum(axis=(1, 3)), 1)


def _window_sums(cells: NDArray[np.float64], width_in_cells: int) -> NDArray[np.float64]:
    """Sums over squares of ``width_in_cells`` x ``width_in_cells`` cells, at a stride of two."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (width_in_cells, width_in_cells))[::2, ::2]
    sums: NDArray[np.float64] = windows.sum(axis=(2, 3))
    return sums
