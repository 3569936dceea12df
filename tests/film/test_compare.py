"""Figures of two pictures: by hand, layers, displays, what files become, and what is refused."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from even_pixels import pixels

from raystream.base.errors import ViewerError
from raystream.film.files import compare as comparison
from raystream.film.files import image
from raystream.film.files.compare import ComparedPicture, compare, read, relative_error
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


def test_flip_is_the_evaluators():
    evaluator = pytest.importorskip("flip_evaluator")
    other = with_pixel((0.1, 0.6, 2.0))
    found = compare(HIDDEN, ComparedPicture("b", other, exposure=0.0, tonemap="none"))
    shown = [srgb8(each).astype(np.float32) / 255 for each in (GREY, other)]
    assert found.flip == pytest.approx(evaluator.evaluate(*shown, "LDR", applyMagma=False)[1], rel=1e-6)  # of a sum


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


def test_the_first_of_equal_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row; of components the largest, to both sides; a difference of just the tolerance is none."""
    monkeypatch.setattr(comparison, "has_flip", lambda: False)
    one, other = pixels(0.5), pixels(0.5)
    other[1, 3] = 0.5, 0.25, 0.625
    other[2, 0] = 0.75, 0.5, 0.5
    other[0, 4] = 0.5, 0.5, 0.375
    found = compare(ComparedPicture("a", one, exposure=0.0, tonemap="none"), ComparedPicture("b", other), None, 0.125)
    assert (found.names, found.kind, found.size, found.flip) == (("a", "b"), "linear", (5, 3), None)
    assert (found.largest, found.at, found.share, found.tolerance) == (0.25, (3, 1), 2 / 15, 0.125)
    apart = np.zeros((3, 5))
    apart[1, 3] = apart[2, 0] = 1
    apart[0, 4] = 0.5
    heat = np.array([[0, 0, 0], [255, 128, 0], [255, 255, 255]])  # 3 x, less 0, 1 and 2
    np.testing.assert_array_equal(found.shown["difference"], heat[np.int64(2 * apart)])
    np.testing.assert_array_equal(found.shown["first"], 188)  # linear 0.5 is 187.5 of 255


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def test_relative_errors_by_hand() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.random((7, 4, 3)), rng.random((7, 4, 3))
    one[0, 0] = 0
    first, second = one @ LUMINANCE, other @ LUMINANCE
    wanted = math.sqrt((((second - first) / np.maximum(first, 0.1 * first.mean())) ** 2).mean())
    assert relative_error(one, other) == pytest.approx(wanted, rel=1e-3)
    assert relative_error(one, one) == 0
    assert relative_error(np.zeros((2, 2, 3)), other[:2, :2]) == math.inf
    assert relative_error(np.zeros((2, 2, 3)), np.zeros((2, 2, 3))) == 0


def test_infinite_depths_count_as_equal_and_as_pixels() -> None:
    one = np.full((2, 4), np.inf)
    one[0, :2] = 2.0, 6.0
    other = one.copy()
    other[0, 0] = 3.0
    found = compare(ComparedPicture("a", one), ComparedPicture("b", other), "depth")
    assert found.error == pytest.approx(math.sqrt(0.25 / 8)) and (found.largest, found.share) == (1, 1 / 8)
    assert found.shown["first"].tolist() == [[[0] * 3, *[[255] * 3] * 3], [[255] * 3] * 4]
    same = compare(ComparedPicture("a", one), ComparedPicture("b", one), "depth")
    assert (same.error, same.largest, same.share) == (0, 0, 0) and not same.shown["difference"].any()
    nan = one.copy()
    nan[0, 0] = np.nan
    both = compare(ComparedPicture("a", nan), ComparedPicture("b", nan), "depth")
    assert both.largest == 0 and both.error == math.inf
    one_sided = compare(ComparedPicture("a", one), ComparedPicture("b", nan), "depth")
    assert one_sided.largest == math.inf and one_sided.shown["difference"][0, 0].tolist() == [255] * 3
    nan[0, 1] += 0.5
    two = compare(ComparedPicture("a", one), ComparedPicture("b", nan), "depth")
    assert two.shown["difference"][0, :3].tolist() == [[255] * 3, [255] * 3, [0] * 3] and two.tolerance == 0.01


@pytest.mark.parametrize(
    ("told", "exposure", "tonemap"),
    [
        ({"exposure": "-1.5", "tonemap": "aces"}, -1.5, "aces"),
        ({"exposure": "2 (auto)", "tonemap": "agx"}, 2, "agx"),
        ({"exposure": "32"}, 32, None),
        ({"exposure": "-33"}, None, None),
        ({"exposure": "nan", "tonemap": "other"}, None, None),
        ({"exposure": "much"}, None, None),
        ({}, None, None),
    ],
)
@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_displays_of_files(
    told: dict[str, str], exposure: float | None, tonemap: str | None, kind: str, tmp_path: Path
) -> None:
    file = io.BytesIO()
    write = image.write_png if kind == "png" else image.write_jpeg
    write(file, np.full((2, 2, 3), 128, np.uint8), {"scene": "a: b", **told})
    path = tmp_path / f"a.{kind}"
    path.write_bytes(file.getvalue())
    found = read(path)
    assert (found.exposure, found.tonemap, found.displayed, found.name) == (exposure, tonemap, True, str(path))
    assert found.pixels.dtype == np.float32 and np.abs(found.pixels - 128 / 255).max() < 0.01


def test_layers_of_files(tmp_path: Path) -> None:
    layers = {
        "depth": np.arange(6, dtype=np.float32).reshape(2, 3),
        "normal": np.arange(18, dtype=np.float32).reshape(2, 3, 3),
        "bounce.0": np.arange(18, 36, dtype=np.float32).reshape(2, 3, 3),
        "triangle": np.arange(6).reshape(2, 3),
    }
    for ending in ("exr", "npz"):
        path = tmp_path / f"a.{ending}"
        image.save(path, pixels(0.25, 3, 2), layers)
        for name, values in layers.items():
            np.testing.assert_array_equal(read(path, name).pixels, values)
        assert read(path).pixels.tolist() == pixels(0.25, 3, 2).tolist()
        with pytest.raises(ViewerError, match=r"holds no layer 'albedo' \(its layers: .*depth") as raised:
            read(path, "albedo")
        assert "linear" not in raised.value.hint and "metadata" not in raised.value.hint
    image.save(tmp_path / "b.exr", pixels(0.25, 3, 2))
    with pytest.raises(ViewerError, match="its layers: none"):
        read(tmp_path / "b.exr", "depth")


@pytest.mark.parametrize(
    ("arrays", "layer", "words"),
    [
        ({"linear": np.zeros((2, 2))}, None, r"'linear' has shape \(2, 2\)"),
        ({"linear": np.zeros((2, 2, 3), bool)}, None, "of bool"),
        ({"linear": np.zeros((0, 2, 3))}, None, r"'linear' is \(0, 2, 3\)"),
        ({"linear": np.zeros((2, 2, 3)), "depth": np.zeros(3)}, "depth", r"'depth' is \(3,\)"),
        ({"linear": np.zeros((2, 2, 3)), "metadata": np.array("{}")}, "metadata", "holds no layer 'metadata'"),
    ],
)
def test_arrays_that_are_no_picture(arrays: dict, layer: str | None, words: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ViewerError, match=words):
        read(tmp_path / "a.npz", layer)


def test_the_first_picture_is_the_measure() -> None:
    """Of relative errors, and of the range over which layers are shown."""
    for one, other in ((0.25, 0.5), (0.5, 0.25)):
        wanted = abs(other - one) / one
        linear = compare(ComparedPicture("a", pixels(one)), ComparedPicture("b", pixels(other)))
        assert linear.error == pytest.approx(wanted, rel=1e-6) and linear.names == ("a", "b")
        codes = [1.055 * value ** (1 / 2.4) - 0.055 for value in (one, other)]
        first, second = (ComparedPicture("a", pixels(code), True, 0.0, "none") for code in codes)
        assert compare(first, second).error == pytest.approx(wanted, rel=1e-5)
        depth = [np.array([[value, 2 * value]]) for value in (one, other)]
        found = compare(ComparedPicture("a", depth[0]), ComparedPicture("b", depth[1]), "depth")
        assert found.shown["first"][0, :, 0].tolist() == [0, 255]
        assert found.shown["second"][0, :, 0].tolist() == ([255, 255] if other > one else [0, 0])
        assert found.error == pytest.approx(wanted, rel=1e-6)
        assert found.largest == 0.5


def test_radiance_files_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "a.hdr"
    path.write_bytes(b"#?RADIANCE\n\n-Y 1 +X 2\n" + bytes((128, 64, 0, 129, 128, 128, 128, 128)))
    found = read(path)
    assert found.name == str(path) and not found.displayed
    np.testing.assert_array_equal(found.pixels, [[[1, 0.5, 0], [0.5, 0.5, 0.5]]])
    with pytest.raises(ViewerError, match="EXR and NPZ files have layers"):
        read(path, "depth")


def test_layers_of_other_kinds_are_refused() -> None:
    with pytest.raises(ViewerError, match="layer x has another number of components than that of a"):
        compare(ComparedPicture("a", np.zeros((2, 2))), ComparedPicture("b", np.zeros((2, 2, 3))), "x")
