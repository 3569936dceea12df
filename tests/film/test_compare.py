"""Figures of two pictures: against values worked out by hand, and what files and layers become."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.film.files.compare import ComparedPicture, compare, read
from raystream.film.tonemap import srgb8

GREY = np.full((4, 6, 3), 0.5, np.float32)
NORMAL = np.zeros((4, 6, 3), np.float32)
NORMAL[..., 2] = 1
HIDDEN = ComparedPicture("a", GREY)


def with_pixel(value, row=1, column=2):
    """The grey picture with one other pixel."""
    picture = GREY.copy()
    picture[row, column] = value
    return picture


def test_equal_pictures():
    found = compare(HIDDEN, ComparedPicture("b", GREY.copy()))
    assert (found.flip or 0.0, found.error, found.largest, found.share) == (0, 0, 0, 0)
    assert not found.shown["difference"].any()


def test_flip_is_the_evaluators():
    evaluator = pytest.importorskip("flip_evaluator")
    other = with_pixel((0.1, 0.6, 2.0))
    found = compare(HIDDEN, ComparedPicture("b", other, exposure=0.0, tonemap="none"))
    shown = [srgb8(each).astype(np.float32) / 255 for each in (GREY, other)]
    assert found.flip == pytest.approx(evaluator.evaluate(*shown, "LDR", applyMagma=False)[1], rel=1e-6)  # of a sum


def test_16_bits_stay(tmp_path):
    Pillow.fromarray(np.array([[0x0101, 0x8000]], np.uint16)).save(tmp_path / "a.png")
    assert read(tmp_path / "a.png").pixels[0, :, 0].tolist() == pytest.approx([257 / 65535, 32768 / 65535])


def test_layers_with_a_background():
    depth = np.full((4, 6), np.inf, np.float32)
    depth[0] = 2
    other = depth.copy()
    other[0, 3] = 3
    found = compare(ComparedPicture("a", depth), ComparedPicture("b", other), "depth")
    assert (found.kind, found.flip, found.largest, found.at) == ("depth", None, 1, (3, 0))
    assert found.error == pytest.approx(0.5 / math.sqrt(24))
    other[2, 2] = 5  # something is hit in one alone
    found = compare(ComparedPicture("a", depth), ComparedPicture("b", other), "depth")
    assert found.error == found.largest == math.inf


def test_directions_by_their_angle():
    turned = NORMAL.copy()
    turned[0, 0] = 1, 0, 0
    assert compare(ComparedPicture("a", NORMAL), ComparedPicture("b", turned), "normal").error == pytest.approx(
        math.sqrt(2 / 24)
    )


def test_what_is_refused(tmp_path):
    with pytest.raises(ViewerError, match=r"b: is 4 x 6 pixels, and a 6 x 4"):
        compare(HIDDEN, ComparedPicture("b", GREY.transpose(1, 0, 2)))
    np.savez(tmp_path / "a.npz", other=GREY)
    with pytest.raises(ViewerError, match="holds no array 'linear'"):
        read(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:80])
    with pytest.raises(ViewerError, match="cannot be read"):
        read(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", linear=with_pixel(np.nan))
    with pytest.raises(ViewerError, match=r"pixel \(2, 1\) is not finite"):
        read(tmp_path / "c.npz")
    (tmp_path / "d.png").write_text("no picture")
    with pytest.raises(ViewerError, match="unreadable PNG, JPEG or WebP"):
        read(tmp_path / "d.png")
