"""Adaptive sampling: where the next samples of a picture go, and which of its pixels need no more.

The aim is the error of `Film.error` itself, the root mean square over the picture, with as few samples as can be. To
bring all pixels to one and the same error would take as many as to give all the same number; the fewest do where the
last sample of every pixel takes as much from the sum of variances: pixel i then has n_i samples in proportion to its
samples' standard deviation s_i (Neyman, *On the Two Different Aspects of the Representative Method*, 1934), and for an
error E of the mean of all pixels' variances n_i = s_i mean(s) / E^2.

Decisions are made on the whole picture after 32, 64, 128 ... samples, of counts and sums alone, so that they do not
depend on how work is cut into rounds and tiles. They are those of blocks of 8 x 8 pixels, and s_i is told by the
halves of the samples (`viewer.film.error.convergence`) of the pixels *around* a block, without its own: pixels of which
the few samples so far happen to agree would else end too dark. What a pixel's number depends on is then independent of
its samples at the first decision, and later by way of its neighbours alone, on whose numbers they have had a say. Noise
that no neighbours tell of, of a lamp's corner, is seen by what the samples granted would gain: where that is too
little, those pixels that have fewest get more, all of them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from viewer.film.error.convergence import Halves
from viewer.film.error.neighbour_variance import EDGE, INDEPENDENT, block_sums, blocks, doubt, ratios, ratios_by_spread
from viewer.film.error.sample_budget import SampleBudget
from viewer.film.error.stop import bound
from viewer.film.film import Film, luminance

LEAST = 32  # samples of every pixel
STEPS = 4  # from a power of two of samples to the next: numbers at which pixels may end
SLOWEST, FASTEST = 0.5, 0.125  # of V by that of half as many samples: independent ones, Owen's rate for what is smooth
GAIN = 0.25  # of the sum of variances, that the next samples are to take away, or half of what it is above the goal
HARDER = 1.25  # times as many samples of the pixels that have fewest, where the next samples would gain less
TRIES = 64  # of that: the largest number of samples is then asked for


def first_decision(samples: int) -> int:
    """Samples of the next decision on a film whose pixels all have so many."""
    return max(LEAST, 1 << max(0, samples - 1).bit_length())


def decide(film: Film, goal: float) -> None:
    """Find out the error of a film, and grant its pixels samples for ``goal``, a relative error as of `Film.error`, for
    its `viewer.film.error.stop.bound` to reach.

    Every pixel has as many samples as it was granted. A second call with the same goal changes nothing.
    """
    front = 1 << (int(film.count.max()) - 1).bit_length()
    variance = variances(film)
    mean = abs(float(np.mean(luminance(film.mean()), dtype=np.float64)))
    total = float(np.mean(variance))
    spread = float(np.mean(film.variance()))
    error = math.sqrt(total) / mean if mean > 0 else (math.inf if total > 0 else 0.0)
    uncertain = doubt(blocks(variance))
    goal /= bound(1.0, uncertain)
    granted = film.count.copy()
    if error > goal:
        if mean > 0:
            deviation = np.sqrt(film.count * _around(variance))
            needed = deviation * (float(np.mean(deviation)) / (goal * mean) ** 2)
        else:
            needed = np.zeros_like(variance)
        enough, floor = min(total * GAIN, (total - (goal * mean) ** 2) / 2), float(film.count.min())
        for _ in range(TRIES):
            granted = _granted(film.count, np.maximum(needed, floor), 2 * front)
            if total - float(np.mean(variance * film.count / granted)) >= enough:
                break
            floor *= HARDER
        else:
            granted = np.full_like(film.count, 2 * front)
    apart = np.zeros_like(film.count) if film.account is None else film.account.apart
    film.account = SampleBudget(granted, apart, error, total / spread if spread > 0 else 1.0, uncertain)


def variances(film: Film) -> NDArray[np.float64]:
    """(H, W) estimated variance of each pixel's mean luminance at the points' own rate, by the difference of the means
    of the halves of its samples: one number each, so that it is to be averaged over some. Where there are no halves it
    is that of independent samples, `Film.variance`.

    The squared difference is taken by the ratio that neighbours tell (`viewer.film.error.neighbour_variance`), of the
    pixels of a block that have as many samples. Where they tell none it is the geometric mean of what the samples'
    spread tells and of the rate at which the difference falls, among the pixels of as many samples; a quarter where
    nothing tells that.
    """
    spread, halves = film.variance(), film.halves
    spread = np.where(np.isfinite(spread), spread, 0.0)
    if halves is None:
        return spread
    out = spread.copy()
    apart, whole = _apart(film, halves), (halves.count > 0) & (film.count == 2 * halves.count)
    mean = luminance(film.sum) / np.maximum(film.count, 1)
    kept = None if film.account is None else film.account.apart.astype(np.float64)
    for samples in np.unique(film.count[whole]).tolist():
        here, rate = whole & (film.count == samples), SLOWEST
        square = float(np.mean(apart[here] ** 2))
        if kept is not None:
            before = float(np.mean(kept[here] ** 2))
        else:
            before = halves.differences.get(int(samples).bit_length() - 2, 0.0)
        if before > 0:
            rate = min(max(square / before, FASTEST), SLOWEST)
        found = _ratios(mean, apart, here, spread, samples, rate / (1 - rate) * INDEPENDENT)
        out[here] = (found * apart**2)[here]
    if kept is not None:  # in between, that of the power of two before, and of independent samples from there on
        part = ~whole & (kept != 0)
        mean = halves.sum / np.maximum(halves.count, 1)
        spread = spread * film.count / np.maximum(halves.count, 1)  # of the first half's mean
        for samples in np.unique(halves.count[part]).tolist():
            here = part & (halves.count == samples)
            found = _ratios(mean, kept, here, spread, samples, INDEPENDENT) * kept**2
            out[here] = (found * halves.count / np.maximum(film.count, 1))[here]
    return out


def _ratios(
    mean: NDArray[np.floating],
    apart: NDArray[np.floating],
    here: NDArray[np.bool_],
    spread: NDArray[np.float64],
    samples: float,
    far: float,
) -> NDArray[np.float64]:
    """(H, W) the variance of means of so many samples by the squared difference of their halves, of pixels ``here``.

    spread : (H, W) variance of as many independent samples' means. far : that ratio, by the rate of differences.
    """
    sums, spreads = block_sums(mean, apart, here), blocks(np.where(here, spread, 0.0))
    found = ratios(sums)
    rough = np.sqrt(far * ratios_by_spread(sums[..., 0], spreads, int(samples)))
    found = np.where(np.isnan(found), rough, found)
    return np.repeat(np.repeat(found, EDGE, axis=0), EDGE, axis=1)[: mean.shape[0], : mean.shape[1]]


def next_run(count: NDArray[np.float32], granted: NDArray[np.float32], most: int) -> tuple[NDArray[np.bool_], int]:
    """The pixels (H, W) that have fewest of the samples granted to them, and the number to which they are to be brought
    next, at most ``most`` and no further than the next power of two; no pixels where all have theirs.

    count, granted : (H, W) float32.
    """
    waiting = count < np.minimum(granted, most)
    if not waiting.any():
        return waiting, 0
    level = 1 << int(count[waiting].min()).bit_length()
    waiting &= count < level
    end = int(min(level, most, granted[waiting].min()))
    return waiting & (count < end), end


def keep(film: Film, going: NDArray[np.bool_]) -> None:
    """Keep the sums of the pixels (H, W) that go on, where they have a power of two of samples, as first halves."""
    account = film.account
    assert account is not None
    if film.halves is None:
        film.halves = Halves(np.zeros_like(film.count), np.zeros_like(film.count))
    halves = film.halves
    going = going & (np.exp2(np.round(np.log2(np.maximum(film.count, 1)))) == film.count) & (halves.count < film.count)
    whole = going & (halves.count * 2 == film.count)
    apart = np.where(whole, _apart(film, halves), 0).astype(np.float32)
    film.account = replace(account, apart=np.where(going, apart, account.apart))
    total, count = np.where(going, luminance(film.sum), halves.sum), np.where(going, film.count, halves.count)
    film.halves = Halves(total, count, halves.differences)


def _apart(film: Film, halves: Halves) -> NDArray[np.float64]:
    """(H, W) difference of the means of the first samples and the others, luminance."""
    first = np.maximum(halves.count, 1).astype(np.float64)
    rest = np.maximum(film.count - halves.count, 1)
    total = luminance(film.sum).astype(np.float64)
    found: NDArray[np.float64] = halves.sum / first - (total - halves.sum) / rest
    return found


def _granted(count: NDArray[np.float32], needed: NDArray[np.float64], most: int) -> NDArray[np.float32]:
    """(H, W) ``needed``, rounded up to a step of `STEPS`; at most ``most``, at least what is there."""
    wanted = np.clip(needed, 1.0, most)
    step = np.exp2(np.floor(np.log2(wanted))) / STEPS
    return np.maximum(count, np.ceil(wanted / step) * step).astype(np.float32)


def _around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H, W) for the pixels of each block the mean over the pixels around it, `EDGE` / 2 far, without its own; of a
    picture of one block its own."""
    half, (height, width) = EDGE // 2, values.shape
    if height <= EDGE and width <= EDGE:
        return np.full_like(values, np.mean(values))
    sums, ones = _cells(values, half), _cells(np.ones_like(values), half)
    rings = [_windows(each, 4) - _windows(each[1:-1, 1:-1], 2) for each in (sums, ones)]
    means = np.maximum(rings[0], 0.0) / np.maximum(rings[1], 1.0)
    return np.repeat(np.repeat(means, EDGE, axis=0), EDGE, axis=1)[:height, :width]


def _cells(values: NDArray[np.float64], edge: int) -> NDArray[np.float64]:
    """Sums over cells of so many pixels, two for a block across and down, with a row of empty ones around them."""
    height, width = values.shape
    padded = np.pad(values, ((0, -height % (2 * edge)), (0, -width % (2 * edge))))
    rows, columns = padded.shape[0] // edge, padded.shape[1] // edge
    return np.pad(padded.reshape(rows, edge, columns, edge).sum(axis=(1, 3)), 1)


def _windows(cells: NDArray[np.float64], wide: int) -> NDArray[np.float64]:
    """Sums over squares of so many cells, of which each begins two further."""
    seen = np.lib.stride_tricks.sliding_window_view(cells, (wide, wide))[::2, ::2]
    found: NDArray[np.float64] = seen.sum(axis=(2, 3))
    return found
