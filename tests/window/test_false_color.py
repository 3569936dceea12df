"""False colours: an even map whose order every eye sees, names that stay apart, and legends that tell the truth."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.tonemap import decode
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import DONE, NONE, PALETTE, TEN, VIRIDIS, Label, ramp_colors

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009),
# severity 1.0, on linear sRGB.
VISION = {
    "full": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(colors: np.ndarray, vision: str = "full") -> np.ndarray:
    """CIE L*a*b* (D65) of (N, 3) uint8 sRGB as an eye sees it."""
    seen = np.clip(decode(colors / 255.0) @ np.array(VISION[vision]).T, 0, 1)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = seen @ np.array(to_xyz).T / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def whole(shape: tuple[int, int]) -> np.ndarray:
    return np.ones(shape, bool)


@pytest.mark.parametrize("vision", VISION)
def test_the_map_rises_in_lightness_for_every_eye(vision: str) -> None:
    lightness = lab(ramp_colors(np.linspace(0, 1, 33)), vision)[:, 0]
    steps = np.diff(lightness)
    assert (steps > 0).all()
    if vision == "full":  # even: viridis' own 33 entries stray by as much, since it is even in CAM02-UCS, not in L*
        assert steps.max() < 1.3 * steps.mean() and steps.min() > 0.7 * steps.mean()


# Entries of the published table of 256 (matplotlib, lib/matplotlib/_cm_listed.py, `_viridis_data`; CC0).
PUBLISHED = {
    0: (0.267004, 0.004874, 0.329415),
    34: (0.277134, 0.185228, 0.489898),
    85: (0.190631, 0.407061, 0.556089),
    128: (0.127568, 0.566949, 0.550556),
    187: (0.327796, 0.77398, 0.40664),
    229: (0.730889, 0.871916, 0.156029),
    255: (0.993248, 0.906157, 0.143936),
}


@pytest.mark.parametrize("entry", PUBLISHED)
def test_the_map_goes_through_its_published_points(entry: int) -> None:
    apart = np.abs(ramp_colors(np.array([entry / 255]))[0].astype(float) - np.round(255 * np.array(PUBLISHED[entry])))
    assert apart.max() <= (0 if entry % 17 == 0 else 2)  # between every 17th entry lie straight lines


@pytest.mark.parametrize("vision", VISION)
def test_states_can_be_told_apart(vision: str) -> None:
    colors = lab(np.concatenate([TEN, [DONE, NONE]]), vision)
    apart = np.linalg.norm(colors[:, None] - colors, axis=-1)
    least = apart[~np.eye(len(apart), dtype=bool)].min()
    assert least > 5.5  # 2.3 is a just noticeable difference (Mahy et al. 1994)


def test_quantities_lie_in_their_range() -> None:
    values = np.array([[1.0, 2.0, 3.0, np.inf, np.nan, 3.4e38, 2.0]], np.float32)
    valid = np.array([[True] * 6 + [False]])
    shown = false_color.quantity("t", values, valid, "scene units")
    (ramp,) = shown.legend.ramps
    assert (ramp.low, ramp.high, ramp.unit, ramp.clipped) == (1, 3, "scene units", False)
    assert np.array_equal(shown.picture[0, :3], ramp_colors(np.array([0, 0.5, 1])))
    assert (shown.picture[0, 3:] == NONE).all() and shown.legend.labels[0].color == NONE
    assert np.array_equal(ramp.colors[[0, -1]], VIRIDIS[[0, -1]])


def test_a_single_value_and_no_value_make_pictures_too() -> None:
    one = false_color.quantity("t", np.full((2, 2), 7.0), whole((2, 2)), "")
    assert (one.picture == VIRIDIS[0]).all() and one.legend.ramps[0].low == one.legend.ramps[0].high == 7
    for make in (false_color.quantity, false_color.vector):
        values = np.zeros((2, 2) if make is false_color.quantity else (2, 2, 3))
        assert (make("t", values, ~whole((2, 2)), "").picture == NONE).all()
    assert (false_color.identities("n", np.full((2, 2), -1), whole((2, 2))).picture == NONE).all()
    assert (false_color.count("n", np.full((2, 2), -1), ~whole((2, 2)), "").picture == NONE).all()


def test_vectors_add_their_components_colours() -> None:
    values = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]], np.float32)
    shown = false_color.vector("v", values, whole((1, 4)), "", (0.0, 1.0))
    low = round(255 * false_color.FLOOR)
    assert shown.picture[0].tolist() == [[low] * 3, [255, low, low], [low, 255, low], [255] * 3]
    assert [ramp.text for ramp in shown.legend.ramps] == ["x", "y", "z"]
    two = false_color.vector("v", values[..., :2], whole((1, 4)), "", (0.0, 1.0))
    assert two.picture[0, 3].tolist() == [255] * 3 and len(two.legend.ramps) == 2


# -- values ------------------------------------------------------------------------------------------------------------


def test_names_that_are_not_valid_are_missing() -> None:
    labels = [Label("a", (1, 1, 1)), Label("b", (2, 2, 2))]
    numbers, valid = np.array([[0, 1, 2, -1, 1]]), np.array([[True, True, True, True, False]])
    shown = false_color.names("t", numbers, labels, valid)
    assert shown.picture[0].tolist() == [[1] * 3, [2] * 3, *[list(NONE)] * 3]
    assert shown.legend == false_color.Legend("t", labels=(*labels, Label("none, or not written", NONE)))
    assert false_color.names("t", numbers[:, :2], labels, valid[:, :2]).legend.labels == tuple(labels)


def test_identities_beyond_those_that_are_listed() -> None:
    numbers = np.concatenate([np.arange(1200), [7, 7, 3]])[None]
    shown = false_color.identities("t", numbers, whole(numbers.shape))
    assert shown.legend.title == "t: the commonest of 1,200" and len(shown.legend.labels) == 10
    assert [label.text.split()[0] for label in shown.legend.labels] == ["7", "3", *"012456", "8", "9"]
    assert shown.legend.labels[0].text == f"7 ({300 / 1203:.1f} %)"
    scattered = [PALETTE[((k * 2654435761) % 2**32 // 2**16) % 30].tolist() for k in range(1200)]  # Knuth's hash
    assert shown.picture[0, :1200].tolist() == scattered
    assert [list(label.color) for label in shown.legend.labels[:2]] == [scattered[7], scattered[3]]
    eleven = false_color.identities("t", np.arange(11)[None], whole((1, 11)))
    assert eleven.legend.title == "t: the commonest of 11" and len(eleven.legend.labels) == 10
    large = np.array([[2**31 - 1, 2**33 + 5, *range(20)]])
    picture = false_color.identities("t", large, whole(large.shape)).picture
    hashed = [((k % 2**32 * 2654435761) % 2**32 // 2**16) % 30 for k in large[0].tolist()]
    assert picture[0].tolist() == PALETTE[hashed].tolist()


@pytest.mark.parametrize(
    ("counts", "high", "clipped"),
    [
        ([], 1.0, False),
        ([0, 0], 1.0, False),
        ([-1, -1], 1.0, False),
        ([-1, 3, 2], 3.0, False),
        ([10] * 1000 + [30], 30.0, False),
        ([10] * 1000 + [31], 10.0, True),
        ([0] * 1000 + [31], 31.0, False),  # most are none: a cut would leave nothing
        ([1] * 198 + [2, 2], 2.0, False),
        ([70_000], 70_000.0, False),
    ],
)
def test_the_brightest_count(counts: list[int], high: float, clipped: bool) -> None:
    assert false_color.highest(np.array(counts, np.int64)) == (high, clipped)


def test_counts_and_their_colours() -> None:
    counts, valid = np.array([[0, 1, 2, 4, -1, 3]]), np.array([[True] * 5 + [False]])
    shown = false_color.count("tests per ray", counts, valid, "tests")
    assert shown.picture[0, :4].tolist() == ramp_colors(np.array([0, 0.25, 0.5, 1])).tolist()
    assert (shown.picture[0, 4:] == NONE).all()
    (ramp,) = shown.legend.ramps
    assert shown.legend.title == "tests per ray, 4 at most"
    assert (ramp.text, ramp.low, ramp.high, ramp.unit, ramp.clipped) == ("", 0.0, 4.0, "tests", False)
    np.testing.assert_array_equal(ramp.colors, ramp_colors(np.linspace(0, 1, 64)))
    assert shown.legend.labels == (Label("none, or not written", NONE),)
    for limit, clipped in ((3.0, True), (4.0, False), (8.0, False)):
        shown = false_color.count("t", counts, valid, "tests", limit)
        assert shown.picture[0, :4].tolist() == ramp_colors(np.array([0, 1, 2, 4]) / limit).tolist()
        assert (shown.legend.ramps[0].high, shown.legend.ramps[0].clipped) == (limit, clipped)
    shown = false_color.count("t", np.array([[1 << 16, 1 << 17, 0]]), whole((1, 3)), "", 2.0**18)
    assert shown.legend.title == "t, 131,072 at most" and shown.legend.labels == ()
    assert shown.picture[0].tolist() == ramp_colors(np.array([0.25, 0.25, 0])).tolist()


def test_ranges_of_quantities() -> None:
    values = np.linspace(0, 1, 1001)
    for far, cut in ((48.0, False), (52.0, True), (-48.0, False), (-52.0, True)):
        given = np.append(values, far)
        low, high, clipped = false_color._range(given)
        inner = tuple(np.percentile(given, (1, 99)))
        assert clipped is cut and (low, high) == (inner if cut else (given.min(), given.max()))
    assert false_color._range(np.array([])) == (0.0, 0.0, False)
    assert false_color._range(np.array([3] * 200 + [900])) == (3.0, 900.0, False), "of one value there are no outliers"


def test_colours_are_as_a_picture_s() -> None:
    values = np.array([[[0.0, 0.5, 1.0], [2.0, -1.0, 0.0]]])
    shown = false_color.color("t", values, np.array([[True, False]]))
    assert shown.picture[0].tolist() == [[0, 188, 255], list(NONE)]
    assert shown.legend == false_color.Legend("t", labels=(Label("none, or not written", NONE),))
