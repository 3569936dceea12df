"""Specks, holes and fringes of made pictures: both sides of each bound."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.files.compare import BORDER, HOLE, SPECK, fringes, holes, specks
from raystream.film.tonemap import decode

GREY = np.full((7, 9, 3), 0.5, np.float32)
BESIDE = 1e-4  # of a bound, to either side


def with_pixels(value, *places):
    """The grey picture with other pixels at (row, column)."""
    picture = GREY.copy()
    for row, column in places:
        picture[row, column] = value
    return picture


def encoded(linear):
    """The sRGB value of a linear one above the linear part of the curve."""
    return 1.055 * linear ** (1 / 2.4) - 0.055


@pytest.mark.parametrize("channel", [0, 1, 2])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("place", [(3, 4), (0, 0), (6, 8)])
def test_a_pixel_off_its_median_is_a_speck(channel, side, place):
    value = np.full(3, 0.5)
    value[channel] += side * (SPECK + BESIDE)
    assert np.argwhere(specks(with_pixels(value, place), GREY)).tolist() == [list(place)]
    value[channel] -= side * 2 * BESIDE
    assert not specks(with_pixels(value, place), GREY).any()


def test_a_highlight_of_the_converged_picture_is_no_speck():
    bright = with_pixels(1.0, (3, 4))
    assert not specks(bright, bright).any()
    assert specks(with_pixels(1.0, (3, 5)), bright).sum() == 1
    assert not specks(GREY, bright).any()  # it is missing: a matter of holes, and of FLIP


def test_a_right_pixel_is_no_speck():
    """What is blurred around it does not make it one."""
    one, other = (3, 4), (3, 5)
    detail = with_pixels(0.5 + SPECK - BESIDE, one)
    blurred = detail - np.float32(3 * BESIDE)
    blurred[one] = detail[one]
    assert not specks(blurred, detail).any()
    blurred[other] = detail[one] + 2 * BESIDE
    assert np.argwhere(specks(blurred, detail)).tolist() == [list(other)]


def test_a_pixel_under_a_third_is_a_hole():
    third = encoded(HOLE * float(decode(np.float32(0.5))))
    assert np.argwhere(holes(with_pixels(third - BESIDE, (2, 3)), GREY)).tolist() == [[2, 3]]
    assert not holes(with_pixels(third + BESIDE, (2, 3)), GREY).any()


def test_luminance_makes_a_hole():
    """Blue alone is 7 % of white's luminance."""
    assert holes(with_pixels((0.0, 0.0, 1.0), (2, 3)), GREY).sum() == 0  # 0.0722 of 1 beside 0.214: just over a third
    assert holes(with_pixels((0.0, 0.0, 0.97), (2, 3)), GREY).sum() == 1


def test_an_edge_to_black_is_no_hole():
    half = GREY.copy()
    half[:, :4] = 0
    beside = half.copy()
    beside[3, 4] = 0  # a sample or two of the pixel met the grey, and none is there
    assert not holes(beside, half).any()
    beside[3, 5] = 0
    assert np.argwhere(holes(beside, half)).tolist() == [[3, 5]]


def test_missing_light_is_no_hole():
    """A corner of the dark that deepens by less than a third from pixel to pixel, and one that does so at once."""
    linear = np.full((7, 9), float(decode(np.float32(0.5))))
    for distance in range(1, 5):
        linear[: 5 - distance, : 6 - distance] *= 0.4
    fading = np.repeat(encoded(linear)[..., None], 3, axis=2)
    assert not holes(fading, GREY).any()
    linear[3, 4] *= 0.5
    assert holes(np.repeat(encoded(linear)[..., None], 3, axis=2), GREY).sum() == 1


def test_holes_are_small():
    slit = [(row, 4) for row in range(7)]
    assert holes(with_pixels(0.0, *slit), GREY).sum() == 7
    block = [(row, column) for row in range(1, 6) for column in range(2, 7)]
    dark = holes(with_pixels(0.0, *block), GREY)
    assert not dark[2:5, 3:6].any() and dark[1, 2]  # of a corner 3 neighbours are dark
    wide = [(row, column) for row in range(7) for column in (4, 5)]
    assert not holes(with_pixels(0.0, *wide), GREY)[1:-1].any()  # 5 of 8


def test_a_fringe_lies_beside_an_edge_of_ids():
    ids = np.zeros((7, 9), np.int32)
    ids[:, 5:] = 3
    red = np.broadcast_to(np.float32((0.5 + 0.2, 0.5 - 0.2 * 0.2126 / 0.7152, 0.5)), GREY.shape)  # of the same luma
    off = fringes(red, GREY, ids)
    assert off.any(axis=0).nonzero()[0].tolist() == [3, 4, 5, 6] and off.sum() == 4 * 7 and BORDER == 2
    assert not fringes(red, red, ids).any() and not fringes(red, GREY, np.zeros_like(ids)).any()
