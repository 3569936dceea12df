"""False colours: an even map whose order every eye sees, names that stay apart, and legends that tell the truth."""

from __future__ import annotations

import numpy as np
import pytest

from viewer.film.tonemap import decode
from viewer.viewport.studies import false_color
from viewer.viewport.studies.false_color import DONE, NONE, PALETTE, TEN, VIRIDIS, Label, ramp_colors

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
    17: (0.282656, 0.100196, 0.42216),
    25: (0.282623, 0.140926, 0.457517),
    34: (0.277134, 0.185228, 0.489898),
    51: (0.253935, 0.265254, 0.529983),
    68: (0.221989, 0.339161, 0.548752),
    76: (0.206756, 0.371758, 0.553117),
    85: (0.190631, 0.407061, 0.556089),
    102: (0.163625, 0.471133, 0.558148),
    119: (0.139147, 0.533812, 0.555298),
    128: (0.127568, 0.566949, 0.550556),
    136: (0.120565, 0.596422, 0.543611),
    153: (0.134692, 0.658636, 0.517649),
    170: (0.20803, 0.718701, 0.472873),
    178: (0.259857, 0.745492, 0.444467),
    187: (0.327796, 0.77398, 0.40664),
    204: (0.477504, 0.821444, 0.318195),
    221: (0.647257, 0.8584, 0.209861),
    229: (0.730889, 0.871916, 0.156029),
    238: (0.82494, 0.88472, 0.106217),
    255: (0.993248, 0.906157, 0.143936),
}


@pytest.mark.parametrize("entry", PUBLISHED)
def test_the_map_goes_through_its_published_points(entry: int) -> None:
    apart = np.abs(ramp_colors(np.array([entry / 255]))[0].astype(float) - np.round(255 * np.array(PUBLISHED[entry])))
    assert apart.max() <= (0 if entry % 17 == 0 else 2)  # between every 17th entry lie straight lines


def test_the_map_follows_the_published_table() -> None:
    assert np.array_equal(ramp_colors(np.linspace(0, 1, len(VIRIDIS))), VIRIDIS)
    assert np.array_equal(ramp_colors(np.array([-1.0, 2.0])), VIRIDIS[[0, -1]])
    matplotlib = pytest.importorskip("matplotlib", reason="it has the whole published table")
    table = np.round(255 * np.array(matplotlib.colormaps["viridis"].colors))
    apart = np.abs(ramp_colors(np.linspace(0, 1, 256)).astype(float) - table)
    assert apart.max() <= 7  # of straight lines, where the table bends most


@pytest.mark.parametrize("vision", VISION)
def test_states_can_be_told_apart(vision: str) -> None:
    colors = lab(np.concatenate([TEN, [DONE, NONE]]), vision)
    apart = np.linalg.norm(colors[:, None] - colors, axis=-1)
    least = apart[~np.eye(len(apart), dtype=bool)].min()
    assert least > 5.5  # 2.3 is a just noticeable difference (Mahy et al. 1994)


def test_nothing_is_darker_than_every_value() -> None:
    none = lab(np.array([NONE], np.uint8))[0, 0]
    ramp = ramp_colors(np.linspace(0, 1, 256))
    assert lab(np.concatenate([ramp, PALETTE, [DONE]]))[:, 0].min() > none + 5
    zeros = false_color.vector("v", np.zeros((1, 2, 3)), whole((1, 2)), "", (0, 1)).picture
    assert lab(zeros[0])[0, 0] > none + 3


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


def test_a_few_values_far_out_do_not_take_the_colours() -> None:
    values = np.linspace(0, 1, 1000).reshape(20, 50)
    values[0, 0], values[0, 1] = -1e9, 1e9
    shown = false_color.quantity("t", values, whole(values.shape), "")
    (ramp,) = shown.legend.ramps
    assert ramp.clipped and -0.1 < ramp.low < ramp.high < 1.1
    assert np.array_equal(shown.picture[0, :2], VIRIDIS[[0, -1]])
    counts = np.full((40, 40), 10)
    counts[0, 0] = 1000
    ramp = false_color.count("tests", counts, whole(counts.shape), "tests").legend.ramps[0]
    assert (ramp.low, ramp.high, ramp.clipped) == (0, 10, True)


def test_vectors_add_their_components_colours() -> None:
    values = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]], np.float32)
    shown = false_color.vector("v", values, whole((1, 4)), "", (0.0, 1.0))
    low = round(255 * false_color.FLOOR)
    assert shown.picture[0].tolist() == [[low] * 3, [255, low, low], [low, 255, low], [255] * 3]
    assert [ramp.text for ramp in shown.legend.ramps] == ["x", "y", "z"]
    two = false_color.vector("v", values[..., :2], whole((1, 4)), "", (0.0, 1.0))
    assert two.picture[0, 3].tolist() == [255] * 3 and len(two.legend.ramps) == 2


def test_names_and_identities_match_their_legends() -> None:
    labels = [Label("done", DONE), Label("walk", (1, 2, 3))]
    shown = false_color.names("state", np.array([[0, 1, 2]]), labels, whole((1, 3)))
    assert shown.picture[0].tolist() == [list(DONE), [1, 2, 3], list(NONE)]
    few = false_color.identities("n", np.array([[5, 9, 9, -1]]), whole((1, 4)))
    assert [label.text for label in few.legend.labels[:2]] == ["5 (25.0 %)", "9 (50.0 %)"]
    assert few.picture[0].tolist() == [list(label.color) for label in (*few.legend.labels[:2], *few.legend.labels[1:])]
    many = np.arange(400).reshape(20, 20)
    many[0] = 77
    shown = false_color.identities("n", many, whole(many.shape))
    first = shown.legend.labels[0]
    assert first.text.startswith("77 ") and shown.picture[0, 0].tolist() == list(first.color)
    different = (shown.picture[1:, 1:] != shown.picture[1:, :-1]).any(axis=-1)
    assert different.mean() > 0.9  # of neighbours: one in thirty colours is the same by chance
