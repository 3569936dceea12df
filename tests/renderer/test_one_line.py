"""``raystream.render``: a picture of whatever is at hand, by the options of the renderer and of its render."""

from __future__ import annotations

import numpy as np
import pytest

import raystream

SMALL = {"size": (8, 8), "spp": 2, "machine": "singlepass"}
TRIANGLE = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float64), np.array([[0, 1, 2]])


def test_the_renderers_own_bits():
    whole = raystream.Renderer("cornell", machine="singlepass").render(size=(8, 8), spp=2)
    picture = raystream.render("cornell", layers=("depth",), **SMALL)
    assert np.array_equal(picture.linear, whole.linear) and picture.layers["depth"].shape == (8, 8)


def test_arrays():
    picture = raystream.render((*TRIANGLE, [[0, 1, 0]] * 3), environment=(1, 1, 1), **SMALL)
    red, green, _ = picture.linear[4, 4]
    assert red == 0 < green


def test_what_is_refused():
    with pytest.raises(raystream.ViewerError, match="int cannot be shown"):
        raystream.render(3)
    with pytest.raises(raystream.ViewerError, match="sise"):
        raystream.render("cornell", sise=(8, 8))
