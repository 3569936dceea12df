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
