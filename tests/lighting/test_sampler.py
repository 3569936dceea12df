"""Samplers: the bits of their NumPy twins, and the statistics that rendering counts on."""

from __future__ import annotations

from collections.abc import Callable

import glsl_call
import numpy as np
import pytest
import sampler_twin as twin
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.lighting.sampler import MAX_SEED, SAMPLERS, blue_noise, random_points, sampler, sampler_uniforms

LEAST_P = 1e-4  # of a single test with a fixed seed: what is right fails it once in 10,000 other seeds


TILES = blue_noise()["value"].astype(np.int64).reshape(64, 64, 2)


class Sampler:
    """The two GLSL functions of a sampler, on arrays that broadcast: pixel (..., 2), number, dimension."""

    def __init__(self, device, name: str) -> None:
        self.one, self.two = (
            glsl_call.Function(device, f"{kind} sample_{width}(ivec2 pixel, int number, int dimension)", modules=[made])
            for kind, width, made in (("float", "1d", sampler(name)), ("vec2", "2d", sampler(name)))
        )

    def __call__(self, width: int, pixel, number, dimension, seed: int) -> NDArray[np.float32]:
        function = self.one if width == 1 else self.two
        function.set(sampler_uniforms(seed))
        shape = np.broadcast_shapes(np.shape(pixel)[:-1], np.shape(number), np.shape(dimension))
        (found,) = function(
            np.broadcast_to(pixel, (*shape, 2)).reshape(-1, 2),
            np.broadcast_to(number, shape).ravel(),
            np.broadcast_to(dimension, shape).ravel(),
        )
        return found.reshape(shape if width == 1 else (*shape, 2))


@pytest.fixture(scope="module")
def samplers(device) -> dict[str, Sampler]:
    with device.current():
        return {name: Sampler(device, name) for name in SAMPLERS}


def table_2d(pixel, number, dimension, seed) -> NDArray:
    points, pixel = random_points(), np.asarray(pixel, np.int64)
    at = (pixel[..., 0] + 256 * pixel[..., 1] + 40503 * np.asarray(dimension) + 30011 * seed) % 65536
    apart = 4099 * (pixel[..., 0] >> 8) + 9001 * (pixel[..., 1] >> 8)
    return points["value"][(points["start"][at] + np.asarray(number) + apart) % 65536]


TWINS: dict[tuple[str, int], Callable[..., NDArray]] = {
    ("independent", 1): twin.independent_1d,
    ("independent", 2): twin.independent_2d,
    ("sobol", 1): lambda *given: twin.sobol_1d(*given, TILES),
    ("sobol", 2): lambda *given: twin.sobol_2d(*given, TILES),
    ("zorder", 1): twin.zorder_1d,
    ("zorder", 2): twin.zorder_2d,
    ("table", 1): lambda *given: table_2d(*given)[..., 0],
    ("table", 2): table_2d,
}


def normal_tail(z: float) -> float:
    """Probability of a standard normal number beyond +-z."""
    from math import erfc

    return erfc(abs(z) / 2**0.5)


def chi_square_p(observed: NDArray, expected: float) -> float:
    """Two-sided p-value of counts that should each be ``expected``: too even is as suspect as too uneven.

    By the cube-root normal approximation (Wilson and Hilferty 1931), good to a per cent for 30 degrees and more.
    """
    degrees = observed.size - 1
    square = float(((observed - expected) ** 2 / expected).sum())
    spread = 2 / (9 * degrees)
    return normal_tail(((square / degrees) ** (1 / 3) - (1 - spread)) / spread**0.5)


def correlation_p(a: NDArray, b: NDArray) -> float:
    """p-value of the correlation of two samples of numbers that should have none."""
    a, b = (v.ravel().astype(np.float64) - 0.5 for v in (a, b))
    return normal_tail(float((a * b).mean() * 12 * a.size**0.5))


# -- bits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", list(SAMPLERS))
@pytest.mark.parametrize("seed", [0, 1, 12345, MAX_SEED])
def test_bits_of_the_twin(samplers, name, width, seed):
    rng = np.random.default_rng(seed)
    count = 20_000
    pixel, number = rng.integers(0, 32768, (count, 2)), rng.integers(0, 65536, count)
    dimension = np.where(rng.random(count) < 0.5, rng.integers(0, 44, count), rng.integers(0, 65536, count)) & ~1
    # The ends of every range.
    pixel[:4], number[:4], dimension[:4] = (0, 32767), (0, 65535, 65535, 0), (0, 0, 65534, 65534)
    found = samplers[name](width, pixel, number, dimension, seed)
    np.testing.assert_array_equal(found, TWINS[name, width](pixel, number, dimension, seed))
    assert found.min() >= 0 and found.max() < 1
    assert found.max() > 0.999 and found.min() < 0.001  # of 20,000


def test_pascal_is_sobol_s_second_dimension():
    """The first points of Sobol 1967 in two dimensions, as tabled by Joe and Kuo 2008."""
    i = twin.words(np.arange(8))
    x, y = twin.unit(twin.reverse(i)), twin.unit(twin.reverse(twin.pascal(i)))
    assert x.tolist() == [0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]
    assert y.tolist() == [0, 0.5, 0.75, 0.25, 0.625, 0.125, 0.375, 0.875]


# -- structure -------------------------------------------------------------------------------------------------------


def most_in_a_box(point: NDArray, digits: int = 1) -> int:
    """Of 2^m points, the most in a box of 2^-a x 2^-(m - a), for all multiples a of ``digits``: 1 in a net."""
    points = point.reshape(-1, 2)
    m = len(points).bit_length() - 1
    cells = [np.floor(points * [2**a, 2 ** (m - a)]).astype(int) @ [2 ** (m - a), 1] for a in range(0, m + 1, digits)]
    return max(np.bincount(cell).max() for cell in cells)


@pytest.mark.parametrize("m", [0, 1, 2, 3, 5, 8])
def test_pixels_have_nets_alone_and_together(samplers, m):
    """The first 2^m points of a pixel, and of the pixels of 4 x 4 and 8 x 8, are nets in base 2; the first 4^n of all
    aligned squares are nets in base 4. Single numbers are one in each interval of any square."""
    for seed, corner, dimension in ((0, (0, 0), 0), (1, (192, 896), 12), (MAX_SEED, (32704, 64), 9000)):
        for side in (1, 2, 4, 8, 16, 64) if m < 5 else (1, 2, 4, 8):
            y, x = np.mgrid[:side, :side]
            pixels = np.stack([x, y], -1).reshape(-1, 1, 2) + corner
            point = samplers["zorder"](2, pixels, np.arange(2**m), dimension, seed)
            if side in (1, 4, 8):
                assert most_in_a_box(point) == 1
            if m % 2 == 0:
                assert most_in_a_box(point, 2) == 1
            line = samplers["zorder"](1, pixels, np.arange(2**m), dimension, seed)
            assert sorted(np.floor(line.ravel() * line.size)) == list(range(line.size))


def test_directions_of_two_surfaces_are_even_together(samplers):
    """Of 8 x 8 pixels' 16 numbers, 4 in each of 4^4 boxes; pairs with orders of their own fall into them by chance."""
    y, x = np.mgrid[:8, :8]
    pixels = np.stack([x, y], -1).reshape(-1, 1, 2)

    def of_boxes(one: int, other: int, seed: int) -> NDArray:
        pair = [samplers["zorder"](2, pixels, np.arange(16), dimension, seed) for dimension in (one, other)]
        boxes = np.floor(np.concatenate(pair, axis=-1).reshape(-1, 4) * 4).astype(int) @ [64, 16, 4, 1]
        return np.bincount(boxes, minlength=256)

    for seed in range(4):
        for first in (8, 24, 40):  # the directions at a path's surfaces are 8 dimensions apart
            assert set(of_boxes(first, first + 8, seed)) == {4}
        # Poisson's variance is 4, known to 9 % of 255 degrees; half of it is five and a half times that away.
        assert of_boxes(16, 24, seed).var() > 2 and of_boxes(8, 14, seed).var() > 2


@pytest.mark.parametrize("m", [1, 4, 8])
def test_every_elementary_interval_holds_one_point(samplers, m):
    """The first 2^m points of any pixel, pair and seed: one in each box of 2^-a x 2^-(m-a) (a (0, m, 2)-net)."""
    for seed, pixel, dimension in ((0, (0, 0), 0), (1, (17, 901), 12), (MAX_SEED, (32767, 5), 9000)):
        point = samplers["sobol"](2, pixel, np.arange(2**m), dimension, seed)
        for a in range(m + 1):
            cell = np.floor(point * [2**a, 2 ** (m - a)]).astype(int)
            assert len(np.unique(cell[:, 0] * 2 ** (m - a) + cell[:, 1])) == 2**m
        line = samplers["sobol"](1, pixel, np.arange(2**m), dimension, seed)
        assert sorted(np.floor(line * 2**m)) == list(range(2**m))


@pytest.mark.parametrize("name", ["sobol", "zorder"])
def test_later_stretches_are_nets_too(samplers, name):
    """Points 2^m k to 2^m (k + 1): what a resumed render adds."""
    for start in (256, 65536 - 256):
        assert most_in_a_box(samplers[name](2, (40, 2), start + np.arange(256), 4, 3)) == 1


def test_the_tiles_are_blue():
    """Every value once; below a fifth of a cycle per texel there is almost no power (Ulichney 1993, figure 7)."""
    for tile in np.moveaxis(TILES, 2, 0):
        assert len(np.unique(tile)) == 4096 and tile.min() == 8 and tile.max() == 65528
        power = np.abs(np.fft.fft2(tile / 65536 - 0.5)) ** 2 / 4096 * 12  # white noise has 1
        axis = np.fft.fftfreq(64)
        frequency = np.hypot(axis[:, None], axis)
        assert power[(frequency > 0) & (frequency < 0.2)].mean() < 0.01
        assert power[frequency > 0.3].mean() > 1.1


# Over pixels these samplers are even by construction, the opposite of chance.
EVEN = ("sobol", "zorder")


WAYS = [(n, w) for n in SAMPLERS for w in ("pixels", "seeds", "dimensions") if w != "pixels" or n not in EVEN]


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_uniform(samplers, name, way):
    """Chi-square of 16 x 16 cells: over pixels, over seeds (an estimate is then unbiased), over dimensions."""
    if way == "pixels":
        y, x = np.mgrid[:128, :128]
        point = samplers[name](2, np.stack([x, y], -1), 3, 6, 5)
    elif way == "seeds":
        point = TWINS[name, 2]([(9, 4)], 2, 6, np.arange(8192) * 7)  # whose bits are tested above
    else:
        point = samplers[name](2, (100, 30), 2, np.arange(0, 32768, 2), 5)
    counts, _, _ = np.histogram2d(*point.reshape(-1, 2).T, bins=16, range=[[0, 1], [0, 1]])
    if name == "table" and counts.var() < counts.mean():
        return  # drawn without putting back, from an even table: more even than chance is no fault
    assert chi_square_p(counts, counts.sum() / 256) > LEAST_P


@pytest.mark.parametrize("name", ["independent", "sobol", "zorder"])
def test_dimensions_pixels_and_seeds_have_nothing_to_do_with_each_other(samplers, name):
    """Pairs of numbers that differ in one of them: no correlation, and chi-square of 8 x 8 cells of the pair."""
    number = np.arange(4096)
    draw = lambda pixel=(7, 9), dimension=4, seed=1, width=2: samplers[name](width, pixel, number, dimension, seed)  # noqa: E731
    one = draw()
    others = {
        "dimension": [draw(dimension=d)[:, 0] for d in (0, 2, 6, 12, 20, 36)],
        "seed": [draw(seed=s)[:, 0] for s in (0, 2, 3, 17, 1000, MAX_SEED)],
        "width": [draw(dimension=d, width=1) for d in (5, 6, 10, 11)],
    }
    if name == "independent":  # Sobol pixels share their points on purpose
        others["pixel"] = [draw(pixel=p)[:, 0] for p in ((8, 9), (7, 10), (9, 7), (1000, 3))]
        others["component"] = [one[:, 1]]
    for what, drawn in others.items():
        for other in drawn:
            assert correlation_p(one[:, 0], other) > LEAST_P, what
            counts, _, _ = np.histogram2d(one[:, 0], other, bins=8, range=[[0, 1], [0, 1]])
            # Two even samples in random order leave counts more even than chance: only the upper tail is a fault.
            assert chi_square_p(counts, 64) > LEAST_P or counts.std() < 8, what


@pytest.mark.parametrize("name", ["sobol", "zorder"])
def test_pixels_pair_their_dimensions_anew(samplers, name):
    """Over pixels, what one pair of dimensions gives says nothing about another: errors of a picture do not add up."""
    y, x = np.mgrid[:64, :64]
    pixels = np.stack([x, y], -1)
    for other in (2, 4, 6, 20):
        a, b = (samplers[name](2, pixels, 0, dimension, 3)[..., 0] for dimension in (0, other))
        assert correlation_p(a, b) > LEAST_P


def mean_errors(name: str, samplers: dict[str, Sampler], number: NDArray, integrand, dimensions: int) -> float:
    """Root mean square error, over 16 seeds and 64 pixels, of integrals that are 1."""
    y, x = np.mgrid[:8, :8]
    pixels = np.stack([x, y], -1).reshape(-1, 1, 2)
    errors = []
    for seed in range(16):
        points = [samplers[name](2, pixels, number[None], 4 + 2 * k, seed) for k in range(dimensions)]
        errors.append(integrand(np.concatenate(points, axis=-1).astype(np.float64)).mean(axis=1) - 1)
    return float(np.sqrt(np.mean(np.square(errors))))


INTEGRANDS = {
    # name: (function of (..., 2 k) with integral 1, pairs k, largest share of the independent error at 64 samples)
    "smooth": (lambda u: np.prod(1 + 0.5 * np.cos(2 * np.pi * u), axis=-1), 1, 0.15),
    "edge": (lambda u: 2.0 * (u[..., 0] + u[..., 1] < 1), 1, 0.40),
    "four dimensions": (lambda u: np.prod(0.5 + u, axis=-1), 2, 0.40),
    "ten dimensions": (lambda u: np.prod(0.5 + u, axis=-1), 5, 0.75),
}


@pytest.mark.parametrize("name", list(INTEGRANDS))
def test_errors_of_integrals(samplers, name):
    """Even points against independent numbers at equal count, and the independent ones against theory."""
    integrand, pairs, share = INTEGRANDS[name]
    errors = {
        (kind, count): mean_errors(kind, samplers, np.arange(count), integrand, pairs)
        for kind in ("sobol", "zorder", "independent")
        for count in (16, 64)
    }
    for kind in ("sobol", "zorder"):
        assert errors[kind, 64] < share * errors["independent", 64]
        assert errors[kind, 16] < errors["independent", 16]
    points = np.random.default_rng(5).random((200_000, 2 * pairs))
    deviation = integrand(points).std() / 8
    # 1,024 estimates: their spread is known to 1 / sqrt(2 x 1024) = 2.2 %; four of these.
    assert abs(errors["independent", 64] / deviation - 1) < 0.09


@pytest.mark.parametrize("name", ["sobol", "zorder"])
def test_the_first_points_of_a_smooth_integral_converge_fast(samplers, name):
    """Owen 1997: n^-3/2 for a smooth integrand, against n^-1/2; from 16 to 256 points 64 times less against 4."""
    integrand = INTEGRANDS["smooth"][0]
    few, many = (mean_errors(name, samplers, np.arange(count), integrand, 1) for count in (16, 256))
    assert many < few / 25


# -- statistics ------------------------------------------------------------------------------------------------------


def test_the_table_covers_the_square():
    points = random_points()
    cells = np.floor(points["value"].astype(np.float64) * 256).astype(int)
    assert len(np.unique(cells[:, 0] * 256 + cells[:, 1])) == 65536
    assert sorted(points["start"]) == list(range(65536))


# -- faults ----------------------------------------------------------------------------------------------------------


def test_faults_in_one_line(monkeypatch, tmp_path):
    with pytest.raises(ViewerError, match=r"no sampler 'halton' \(samplers: sobol, zorder, independent, table\)"):
        sampler("halton")
    for seed in (-1, 2**31):
        with pytest.raises(ViewerError, match="from 0 to 2147483647"):
            sampler("sobol", seed)
    monkeypatch.setattr(paths, "assets", lambda: tmp_path)
    blue_noise.cache_clear()
    with pytest.raises(ViewerError, match=r"missing or damaged \(the installation is incomplete"):
        sampler("sobol")
    blue_noise.cache_clear()
