"""Files of pictures by tables: names, figures of comparisons, states and their order, frames and delays of movies."""

from __future__ import annotations

import io
import json
import math
import os
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from viewer.base.errors import ViewerError
from viewer.film.error.convergence import Halves
from viewer.film.error.sample_budget import SampleBudget
from viewer.film.exposure import automatic_exposure, block_edge, block_means, exposure_text
from viewer.film.files import checkpoint, compare, encode, image, movie, states
from viewer.film.files.checkpoint import Checkpoint, film_layers, film_metadata, fingerprint, resume, save
from viewer.film.files.compare import ComparedPicture
from viewer.film.film import Film
from viewer.film.layers import LAYERS, NOISY, SERIES, find, parse, series
from viewer.film.tonemap import srgb8
from viewer.options.table import OPTIONS

# Comparisons


def pixels(value: float | tuple[float, ...], width: int = 5, height: int = 3) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, np.float32), (height, width, 3)).copy()


def test_the_first_of_equal_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row; of components the largest, to both sides; a difference of just the tolerance is none."""
    monkeypatch.setattr(compare, "has_flip", lambda: False)
    one, other = pixels(0.5), pixels(0.5)
    other[1, 3] = 0.5, 0.25, 0.625
    other[2, 0] = 0.75, 0.5, 0.5
    other[0, 4] = 0.5, 0.5, 0.375
    found = compare.compare(
        ComparedPicture("a", one, exposure=0.0, tonemap="none"), ComparedPicture("b", other), None, 0.125
    )
    assert (found.names, found.kind, found.size, found.flip) == (("a", "b"), "linear", (5, 3), None)
    assert (found.largest, found.at, found.share, found.tolerance) == (0.25, (3, 1), 2 / 15, 0.125)
    apart = np.zeros((3, 5))
    apart[1, 3] = apart[2, 0] = 1
    apart[0, 4] = 0.5
    heat = np.array([[0, 0, 0], [255, 128, 0], [255, 255, 255]])  # 3 x, less 0, 1 and 2
    np.testing.assert_array_equal(found.shown["difference"], heat[np.int64(2 * apart)])
    np.testing.assert_array_equal(found.shown["first"], 188)  # linear 0.5 is 187.5 of 255


@pytest.mark.parametrize(
    ("share", "color"),
    [
        (-1, (0, 0, 0)),
        (0, (0, 0, 0)),
        (1 / 6, (128, 0, 0)),
        (1 / 3, (255, 0, 0)),
        (2 / 3, (255, 255, 0)),
        (1, (255,) * 3),
    ]
    + [(5 / 6, (255, 255, 128)), (9, (255,) * 3)],
)
def test_heat(share: float, color: tuple[int, int, int]) -> None:
    assert np.abs(compare._heat(np.array([[share]]))[0, 0].astype(int) - color).max() <= 1


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def test_relative_errors_by_hand() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.random((7, 4, 3)), rng.random((7, 4, 3))
    one[0, 0] = 0
    first, second = one @ LUMINANCE, other @ LUMINANCE
    wanted = math.sqrt((((second - first) / np.maximum(first, 0.1 * first.mean())) ** 2).mean())
    assert compare.relative_error(one, other) == pytest.approx(wanted, rel=1e-3)
    assert compare.relative_error(one, one) == 0
    assert compare.relative_error(np.zeros((2, 2, 3)), other[:2, :2]) == math.inf
    assert compare.relative_error(np.zeros((2, 2, 3)), np.zeros((2, 2, 3))) == 0


def test_infinite_depths_count_as_equal_and_as_pixels() -> None:
    one = np.full((2, 4), np.inf)
    one[0, :2] = 2.0, 6.0
    other = one.copy()
    other[0, 0] = 3.0
    found = compare.compare(ComparedPicture("a", one), ComparedPicture("b", other), "depth")
    assert found.error == pytest.approx(math.sqrt(0.25 / 8)) and (found.largest, found.share) == (1, 1 / 8)
    assert found.shown["first"].tolist() == [[[0] * 3, *[[255] * 3] * 3], [[255] * 3] * 4]
    same = compare.compare(ComparedPicture("a", one), ComparedPicture("b", one), "depth")
    assert (same.error, same.largest, same.share) == (0, 0, 0) and not same.shown["difference"].any()
    nan = one.copy()
    nan[0, 0] = np.nan
    both = compare.compare(ComparedPicture("a", nan), ComparedPicture("b", nan), "depth")
    assert both.largest == 0 and both.error == math.inf
    one_sided = compare.compare(ComparedPicture("a", one), ComparedPicture("b", nan), "depth")
    assert one_sided.largest == math.inf and one_sided.shown["difference"][0, 0].tolist() == [255] * 3
    nan[0, 1] += 0.5
    two = compare.compare(ComparedPicture("a", one), ComparedPicture("b", nan), "depth")
    assert two.shown["difference"][0, :3].tolist() == [[255] * 3, [255] * 3, [0] * 3] and two.tolerance == 0.01


def test_layers_are_shown_over_the_range_of_the_first() -> None:
    one, other = np.array([[1.0, 3.0, 5.0]]), np.array([[-7.0, 4.0, 9.0]])
    shown = compare._layer_looks(one, other)
    assert shown["first"][0, :, 0].tolist() == [0, 128, 255] and shown["second"][0, :, 2].tolist() == [0, 191, 255]
    odd = compare._layer_looks(one, np.array([[np.nan, np.inf, -np.inf]]))
    assert odd["second"][0, :, 1].tolist() == [0, 255, 0]
    flat = compare._layer_looks(np.full((1, 2), 4.0), np.array([[4.0, 5.0]]))
    assert flat["first"].max() == 0 and flat["second"][0, :, 0].tolist() == [0, 255]
    empty = compare._layer_looks(np.full((1, 1), np.nan), np.array([[0.5]]))
    assert empty["second"][0, 0].tolist() == [128] * 3
    three = compare._layer_looks(np.array([[[0.0, 1.0, 2.0]]]), np.array([[[2.0, 1.0, 0.0]]]))
    assert three["first"][0, 0].tolist() == [0, 128, 255] and three["second"][0, 0].tolist() == [255, 128, 0]


def test_linear_pictures_are_displayed_as_the_other_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "has_flip", lambda: False)
    linear = ComparedPicture("a", pixels(0.25))
    for exposure, code in ((0.0, 137), (1.0, 188), (-1.0, 99)):
        told = ComparedPicture("b", pixels(code / 255), True, exposure, "none")
        for pair in ((linear, told), (told, linear)):
            found = compare.compare(*pair)
            assert found.kind == "displayed" and found.largest < 1e-6 and found.error < 1e-6
            assert found.shown["first"].tolist() == found.shown["second"].tolist()
    # By default as the linear one is exposed automatically.
    dark = ComparedPicture("a", pixels(0.02))
    for pair in ((dark, ComparedPicture("b", pixels(1), True)), (ComparedPicture("b", pixels(1), True), dark)):
        shown = compare.compare(*pair).shown["first" if pair[0] is dark else "second"]
        np.testing.assert_array_equal(shown, srgb8(dark.pixels, "auto", OPTIONS["tonemap"].default))
    # What is displayed keeps its 16 bits.
    fine = ComparedPicture("b", pixels(0.5004), True, 0.0, "none")
    assert compare.compare(fine, ComparedPicture("c", pixels(0.5), True)).largest == pytest.approx(0.0004, rel=1e-3)


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
    write = encode.write_png if kind == "png" else encode.write_jpeg
    write(file, np.full((2, 2, 3), 128, np.uint8), {"scene": "a: b", **told})
    path = tmp_path / f"a.{kind}"
    path.write_bytes(file.getvalue())
    found = compare.read(path)
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
            np.testing.assert_array_equal(compare.read(path, name).pixels, values)
        assert compare.read(path).pixels.tolist() == pixels(0.25, 3, 2).tolist()
        with pytest.raises(ViewerError, match=r"holds no layer 'albedo' \(its layers: .*depth") as raised:
            compare.read(path, "albedo")
        assert "linear" not in raised.value.hint and "metadata" not in raised.value.hint
    image.save(tmp_path / "b.exr", pixels(0.25, 3, 2))
    with pytest.raises(ViewerError, match="its layers: none"):
        compare.read(tmp_path / "b.exr", "depth")


@pytest.mark.parametrize(
    ("arrays", "layer", "words"),
    [
        ({"linear": np.zeros((2, 2))}, None, r"'linear' has shape \(2, 2\)"),
        ({"linear": np.zeros((2, 2, 4))}, None, r"'linear' has shape \(2, 2, 4\)"),
        ({"linear": np.zeros(2)}, None, r"'linear' is \(2,\) of float64"),
        ({"linear": np.zeros((2, 2, 3), bool)}, None, "of bool"),
        ({"linear": np.zeros((0, 2, 3))}, None, r"'linear' is \(0, 2, 3\)"),
        ({"linear": np.zeros((2, 2, 3)), "depth": np.zeros(3)}, "depth", r"'depth' is \(3,\)"),
        ({"linear": np.zeros((2, 2, 3)), "metadata": np.array("{}")}, "metadata", "holds no layer 'metadata'"),
    ],
)
def test_arrays_that_are_no_picture(arrays: dict, layer: str | None, words: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ViewerError, match=words):
        compare.read(tmp_path / "a.npz", layer)


def test_the_first_picture_is_the_measure() -> None:
    """Of relative errors, and of the range over which layers are shown."""
    for one, other in ((0.25, 0.5), (0.5, 0.25)):
        wanted = abs(other - one) / one
        linear = compare.compare(ComparedPicture("a", pixels(one)), ComparedPicture("b", pixels(other)))
        assert linear.error == pytest.approx(wanted, rel=1e-6) and linear.names == ("a", "b")
        codes = [1.055 * value ** (1 / 2.4) - 0.055 for value in (one, other)]
        first, second = (ComparedPicture("a", pixels(code), True, 0.0, "none") for code in codes)
        assert compare.compare(first, second).error == pytest.approx(wanted, rel=1e-5)
        depth = [np.array([[value, 2 * value]]) for value in (one, other)]
        found = compare.compare(ComparedPicture("a", depth[0]), ComparedPicture("b", depth[1]), "depth")
        assert found.shown["first"][0, :, 0].tolist() == [0, 255]
        assert found.shown["second"][0, :, 0].tolist() == ([255, 255] if other > one else [0, 0])
        assert found.error == pytest.approx(wanted, rel=1e-6)
        assert found.largest == 0.5


def test_radiance_files_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "a.hdr"
    path.write_bytes(b"#?RADIANCE\n\n-Y 1 +X 2\n" + bytes((128, 64, 0, 129, 128, 128, 128, 128)))
    found = compare.read(path)
    assert found.name == str(path) and not found.displayed
    np.testing.assert_array_equal(found.pixels, [[[1, 0.5, 0], [0.5, 0.5, 0.5]]])
    with pytest.raises(ViewerError, match="EXR and NPZ files have layers"):
        compare.read(path, "depth")


def test_layers_of_other_kinds_are_refused() -> None:
    with pytest.raises(ViewerError, match="layer x has another number of components than that of a"):
        compare.compare(ComparedPicture("a", np.zeros((2, 2))), ComparedPicture("b", np.zeros((2, 2, 3))), "x")


# Picture files


def test_endings_of_streams_and_files(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    assert image._ending(fifo) == ".png" and image._ending(tmp_path / "a.JPEG") == ".jpeg"
    other = tmp_path / "pipe.exr"
    os.mkfifo(other)
    assert image._ending(other) == ".exr" and image.checked_path(fifo) == fifo


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a", "the file name has no ending"),
        ("a.bmp", "unknown picture format '.bmp'"),
        ("", "the file name has no ending"),
        (".png", "the file name has no ending"),
        ("none/a.png", "there is no folder"),
        ("folder.png", "is a folder"),
        ("a\0.png", "not a usable file name"),
    ],
)
def test_names_that_are_refused(name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ViewerError, match=words):
        image.checked_path(name)


@pytest.mark.parametrize(("name", "refused"), [("a.png", True), ("a.jpg", True), ("a.JPEG", True), ("a.exr", False)])
def test_layers_and_formats(name: str, refused: bool, tmp_path: Path) -> None:
    image.check_path(tmp_path / name)
    if refused:
        kind = "PNG" if "png" in name else "JPEG"
        with pytest.raises(ViewerError, match=f"a {kind} file cannot hold the layers depth, normal"):
            image.check_path(tmp_path / name, ["depth", "normal"])
    else:
        image.check_path(tmp_path / name, ["depth"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        (np.array([[1 << 24]]), np.float32),
        (np.array([[(1 << 24) + 1]]), np.uint32),
        (np.array([[(1 << 24) + 1, -1]]), np.uint32),
        (np.array([[(1 << 24) + 1]], np.uint32), np.uint32),
        (np.array([[float(1 << 25)]]), np.float32),
        (np.array([[True]]), np.float32),
    ],
)
def test_whole_numbers_in_exr(layer: np.ndarray, kind: type, tmp_path: Path) -> None:
    image.save(tmp_path / "a.exr", pixels(1, layer.shape[1], 1), {"steps": layer})
    values = image.read_exr(tmp_path / "a.exr", ["steps"])[1]["steps"]
    assert values.dtype == kind
    np.testing.assert_array_equal(values.astype(np.int64) & 0xFFFFFFFF, layer.astype(np.int64) & 0xFFFFFFFF)


def test_names_of_channels() -> None:
    three = np.zeros((1, 1, 3), np.float32)
    assert list(image._exr_channels("normal", three)) == ["normal.X", "normal.Y", "normal.Z"]
    assert list(image._exr_channels("other", three)) == ["other.R", "other.G", "other.B"]
    assert list(image._exr_channels("bounce.3", three)) == ["bounce.3.R", "bounce.3.G", "bounce.3.B"]
    assert list(image._exr_channels("other", three[..., :2])) == ["other.R", "other.G"]
    assert list(image._exr_channels("depth", three[..., 0])) == ["depth"]


def test_layers_of_other_sizes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="layer depth has shape"):
        image.save(tmp_path / "a.exr", pixels(1), {"depth": np.zeros((5, 3))})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_displayed_files_tell_their_display(ending: str, tmp_path: Path) -> None:
    """Beside their metadata; lines of 8-bit codes; a comment of JPEG ends where its segment does."""
    image.save(tmp_path / f"a.{ending}", pixels(0.25), None, {"a": "x" * 70_000}, exposure=1, tonemap="none")
    with Pillow.open(tmp_path / f"a.{ending}") as file:
        assert np.abs(np.asarray(file).astype(int) - 188).max() <= 1
        if ending == "jpg":
            assert len(file.info["comment"]) == 65533
        else:
            assert len(file.info["a"]) == 70_000 and (file.info["exposure"], file.info["tonemap"]) == ("1", "none")


def test_png_in_memory() -> None:
    data = encode.png(np.full((2, 3, 3), 7, np.uint8), {"key": "a text", "umlaut": "ä ♥"})
    with Pillow.open(io.BytesIO(data)) as file:
        assert file.size == (3, 2) and (np.asarray(file) == 7).all()
        assert (file.info["key"], file.info["umlaut"], file.info["srgb"]) == ("a text", "ä ♥", 0)


# Layers and exposure


def test_declared_layers() -> None:
    assert find("depth") is LAYERS["depth"] and find("noisy") is NOISY and find("bounce.0") is SERIES["bounce"]
    assert [find(name) for name in ("bounce", "bounce.", "bounce.x", "depth.0", "x", "")] == [None] * 6
    assert series("bounce", 3) == ("bounce.0", "bounce.1", "bounce.2") and series("bounce", 0) == ()
    assert parse(" depth, normal,,depth ") == ("depth", "normal") and parse("") == () == parse(" , ")
    with pytest.raises(ViewerError, match="no layer 'deep'"):
        parse("depth,deep")
    for name, shape, kind, value in (
        ("depth", (2, 3), np.float32, np.inf),
        ("normal", (2, 3, 3), np.float32, 0),
        ("triangle", (2, 3), np.int32, -1),
        ("samples", (2, 3), np.int32, 1),
        ("steps", (2, 3), np.int32, 0),
    ):
        made = LAYERS[name].empty(2, 3)
        assert made.shape == shape and made.dtype == kind and (made == value).all()


@pytest.mark.parametrize(
    ("size", "edge"), [((1, 1), 1), ((32, 9), 1), ((33, 9), 2), ((9, 64), 2), ((65, 9), 3), ((640, 480), 20)]
)
def test_blocks_of_exposure(size: tuple[int, int], edge: int) -> None:
    assert block_edge(size) == edge
    picture = np.random.default_rng(1).random((size[1], size[0], 3)).astype(np.float32)
    found = block_means(picture)
    assert found.shape == (-(-size[1] // edge), -(-size[0] // edge))
    for (row, column), value in np.ndenumerate(found):
        part = picture[row * edge : (row + 1) * edge, column * edge : (column + 1) * edge]
        assert value == pytest.approx((part @ LUMINANCE).mean(), rel=1e-3)


def test_odd_pixels_of_exposure() -> None:
    picture = np.float32([[[np.nan, 1, 1], [np.inf, 0, 0], [-1, -1, -1], [1, 1, 1]]])
    np.testing.assert_allclose(block_means(picture), [[0, 0, 0, 1]], rtol=1e-3)


@pytest.mark.parametrize(
    ("luminance", "stops"),
    [
        ([0.25] * 8, 0),
        ([0.5] * 8, math.tanh(1) - 1),
        ([0.125] * 8, math.tanh(-1) + 1),
        ([0.25 * 2**8] * 8, math.tanh(8) - 8),
        ([0.25 / 2**8] * 8, math.tanh(-8) + 8),
        ([0.5] * 8 + [0.0] * 100, math.tanh(1) - 1),  # black blocks do not count
        ([0.0] * 4, 0),
        ([], 0),
    ],
)
def test_automatic_exposures(luminance: list[float], stops: float) -> None:
    assert automatic_exposure(np.array(luminance)) == pytest.approx(stops, abs=1e-12)


def test_exposure_of_bright_and_dark_parts() -> None:
    """Quantiles of 5 and 95 % hold the logarithms; a tenth of the upper one is the least mean."""
    ramp = np.array([0.01, *np.geomspace(0.1, 0.4, 99), 4.0])
    low, high = np.quantile(ramp, 0.05), np.quantile(ramp, 0.95)
    mean = math.exp(np.log(np.clip(ramp, low, high)).mean())
    away = math.log2(mean / 0.25)
    assert automatic_exposure(ramp) == pytest.approx(math.tanh(away) - away, rel=1e-12)
    lamps = np.array([0.001] * 90 + [1.0] * 10)
    away = math.log2(0.1 / 0.25)
    assert automatic_exposure(lamps) == pytest.approx(math.tanh(away) - away, rel=1e-12)


def test_texts_of_exposures() -> None:
    assert [exposure_text("auto", 1.23456), exposure_text(1.5, 1.5), exposure_text(0, 0)] == [
        "1.235 (auto)",
        "1.5",
        "0",
    ]


# States


def test_names_of_states(tmp_path: Path) -> None:
    """The first free one; of this picture alone, in order."""
    target = tmp_path / "a.png"
    made = []
    for name in ("a.png.state.exr", "a.png.state.2.exr", "a.png.state.3.exr"):
        assert states.free(target) == tmp_path / name
        (tmp_path / name).write_bytes(b"")
        made.append(tmp_path / name)
    for other in (
        "b.png.state.exr",
        "a.png.state.0.exr",
        "a.png.state.01.exr",
        "a.png.state.x.exr",
        "a.png.state.exr.part",
    ):
        (tmp_path / other).write_bytes(b"")
    (tmp_path / "aXpng.state.exr").write_bytes(b"")
    assert states.existing(target) == sorted(made)
    (tmp_path / "a.png.state.2.exr").unlink()
    assert states.free(target) == tmp_path / "a.png.state.2.exr"
    (tmp_path / "a.png.state.2.exr").symlink_to("nowhere")
    assert states.free(target) == tmp_path / "a.png.state.4.exr"
    assert states.existing(tmp_path / "none" / "a.png") == []


SIZE = (4, 3)
SETTINGS = {"scene": "cornell", "program": "path", "seed": 7}


def filled(samples: int, seed: int = 1) -> Film:
    film, rng = Film(*SIZE), np.random.default_rng(seed)
    for _ in range(samples):
        film.add(rng.random((SIZE[1], SIZE[0], 3)))
    return film


def test_convergence_and_budget_are_kept(tmp_path: Path) -> None:
    film, rng = filled(8), np.random.default_rng(2)
    plane = lambda: rng.random((SIZE[1], SIZE[0])).astype(np.float32)  # noqa: E731
    film.halves = Halves(plane(), plane(), {2: 0.5, 4: 0.25}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(plane(), plane(), 0.01, 1.5, 0.25)
    save(tmp_path / "a.exr", film, SETTINGS)
    found = resume(tmp_path / "a.exr", SIZE, SETTINGS)
    assert found.halves is not None and found.sample_budget is not None
    for name in ("sum", "count"):
        np.testing.assert_array_equal(getattr(found.halves, name), getattr(film.halves, name))
    for name in ("differences", "variances", "relative_std_errors"):
        assert getattr(found.halves, name) == getattr(film.halves, name)
    for name in ("granted", "apart"):
        np.testing.assert_array_equal(getattr(found.sample_budget, name), getattr(film.sample_budget, name))
    for name in ("error", "efficiency", "relative_std_error"):
        assert getattr(found.sample_budget, name) == getattr(film.sample_budget, name)
    told = film_metadata(film, SETTINGS)
    assert {key: told[key] for key in told if key != "film.check"} == {
        "film.setting.scene": "cornell",
        "film.setting.program": "path",
        "film.setting.seed": "7",
        "film.differences": "2:0.5 4:0.25",
        "film.variances": "2:0.125",
        "film.doubts": "4:0.0625",
        "film.adaptive": "0.01 1.5 0.25",
    }
    assert set(film_layers(film, "film.bounce.0")) == {
        f"film.bounce.0.{name}"
        for name in ("sum", "compensation", "square", "count", "half.sum", "half.count", "granted", "apart")
    }
    assert set(film_metadata(film, {}, "film.bounce.0")) >= {"film.bounce.0.check", "film.bounce.0.adaptive"}


@pytest.mark.parametrize(
    "change",
    [
        lambda film: film.halves.sum.__setitem__((0, 0), 9),
        lambda film: film.halves.count.__setitem__((0, 0), 9),
        lambda film: film.halves.differences.__setitem__(2, 9.0),
        lambda film: film.halves.variances.__setitem__(2, 9.0),
        lambda film: film.halves.relative_std_errors.__setitem__(4, 9.0),
        lambda film: film.sample_budget.granted.__setitem__((0, 0), 9),
        lambda film: film.sample_budget.apart.__setitem__((0, 0), 9),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, error=9.0)),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, efficiency=9.0)),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, relative_std_error=9.0)),
        lambda film: film.arrays["square"].__setitem__((0, 0), 9),
        lambda film: film.arrays["compensation"].__setitem__((0, 0, 1), 9),
    ],
)
def test_every_part_of_a_film_is_in_its_digest(change: Any) -> None:
    film, zero = filled(8), np.zeros((SIZE[1], SIZE[0]), np.float32)
    film.halves = Halves(zero, zero.copy(), {2: 0.5}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(zero.copy(), zero.copy(), 0.01, 1.5, 0.25)
    before = film_metadata(film, {})["film.check"]
    change(film)
    assert film_metadata(film, {})["film.check"] != before and len(before) == 16


@pytest.mark.parametrize(
    ("text", "levels"),
    [("", {}), ("2:0.5 8:1e-3", {2: 0.5, 8: 0.001}), ("2:x", {}), ("2", {}), ("x:1", {}), ("2:1 3", {})],
)
def test_levels_of_texts(text: str, levels: dict[int, float]) -> None:
    assert checkpoint._levels(text) == levels


@pytest.mark.parametrize(
    ("text", "numbers"), [("1 2", [1, 2]), ("1 2 3", [1, 2, 3]), ("", []), ("1", []), ("1 2 3 4", []), ("1 x", [])]
)
def test_numbers_of_texts(text: str, numbers: list[float]) -> None:
    assert checkpoint._numbers(text) == numbers


@pytest.mark.parametrize(
    ("value", "sound"), [(65536, True), (65537, False), (0, True), (-1, False), (0.5, False), (np.inf, False)]
)
def test_counts_of_a_film(value: float, sound: bool, tmp_path: Path) -> None:
    film = filled(2)
    film.arrays["count"][0, 0] = value
    save(tmp_path / "a.exr", film, SETTINGS)
    if sound:
        assert resume(tmp_path / "a.exr", SIZE, SETTINGS).count[0, 0] == value
    else:
        with pytest.raises(ViewerError, match="is damaged"):
            resume(tmp_path / "a.exr", SIZE, SETTINGS)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"content": "a"}, {"content": "b"}, r"was rendered from another scene.* \(start a new render\)"),
        ({"seed": 7}, {"seed": 8}, r"seed '7', not '8' \(start a new render, or give --seed 7|seed=7"),
        ({"seed": 7}, {}, "seed '7', not 'none'"),
        ({}, {"seed": 7}, r"seed 'none', not '7' \(start a new render, or change it back\)"),
        ({"own_thing": "x" * 41}, {"own_thing": "y" * 40}, f"own thing '{'x' * 36} ...', not '{'y' * 40}'"),
        ({"depth": 5, "program": "cast"}, {"program": "cast"}, ""),
        ({"depth": 5, "program": "path"}, {"program": "path"}, "depth '5', not 'none'"),
    ],
)
def test_settings_that_differ(before: dict, now: dict, words: str, tmp_path: Path) -> None:
    save(tmp_path / "a.exr", filled(1), before)
    if words:
        with pytest.raises(ViewerError, match=words):
            resume(tmp_path / "a.exr", SIZE, now)
    else:
        resume(tmp_path / "a.exr", SIZE, now)


def test_the_best_of_several_states(tmp_path: Path) -> None:
    target = tmp_path / "a.exr"
    for name, samples in (("a.exr.state.exr", 3), ("a.exr.state.2.exr", 5), ("a.exr.state.3.exr", 4)):
        save(tmp_path / name, filled(samples), SETTINGS)
    kept = Checkpoint(target, SETTINGS)
    assert kept.find(SIZE) == (tmp_path / "a.exr.state.2.exr", 5, [])
    save(target, filled(6), SETTINGS)
    assert kept.find(SIZE) == (target, 6, [])
    assert kept.find(SIZE, pictures=False) == (tmp_path / "a.exr.state.2.exr", 5, [])
    (tmp_path / "a.exr.state.2.exr").write_bytes(b"x")
    best, samples, wrong = kept.find(SIZE, pictures=False)
    assert (best, samples, len(wrong)) == (tmp_path / "a.exr.state.3.exr", 4, 1) and "state.2.exr" in wrong[0]
    none = Checkpoint(tmp_path / "b.exr", SETTINGS).find(SIZE)
    assert none == (None, 0, [])
    other = Checkpoint(target, {**SETTINGS, "seed": 1}).find(SIZE)
    assert other[:2] == (None, 0) and len(other[2]) == 4


def test_a_state_is_used_written_over_and_deleted(tmp_path: Path) -> None:
    target, old, foreign = tmp_path / "a.png", tmp_path / "a.png.state.exr", tmp_path / "b.exr"
    for path in (old, foreign):
        save(path, filled(2), SETTINGS)
    kept = Checkpoint(target, SETTINGS)
    kept.use(foreign)
    assert not kept.used and kept.path == tmp_path / "a.png.state.2.exr"
    kept.finish()
    assert old.exists() and foreign.exists()
    kept.use(old)
    assert kept.used and kept.path == old
    film = filled(4)
    film.add(np.ones((1, 1, 3)), 0, 0)
    kept.save(film)
    assert (kept.saved, kept.samples) == (1, 4) and resume(old, SIZE, SETTINGS).count.max() == 5
    header = image.exr_header(old).texts
    assert (header["samples"], header["stopped by"]) == ("4", "nothing yet")
    kept.finish()
    kept.finish()
    assert not old.exists() and foreign.exists()
    # Where some pixels have no sample yet, those of the average count.
    film = Film(*SIZE)
    film.add(np.ones((SIZE[1], 2, 3)), 0, 0)
    film.add(np.ones((SIZE[1], 2, 3)), 0, 0)
    kept = Checkpoint(target, SETTINGS)
    kept.save(film)
    assert (kept.path, kept.samples) == (old, 1)


def test_when_a_state_is_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every minute, and not before ten times the duration of saving; worth it at two million pixels a second."""
    now = [100.0]
    kept = Checkpoint(tmp_path / "a.png", SETTINGS, clock=lambda: now[0])
    for seconds, due in ((0, False), (59.9, False), (60, True)):
        now[0] = 100 + seconds
        assert kept.due() == due
    for seconds, size, worth in ((1, (2000, 1000), True), (0.99, (2000, 1000), False), (0.25, (1000, 500), True)):
        now[0] = 100 + seconds
        assert kept.worth(size) == worth
    now[0] = 200.0

    def slow(*given: Any) -> None:
        now[0] += 7

    monkeypatch.setattr(checkpoint, "save", slow)
    kept.save(filled(1))
    for seconds, due, worth in ((6.9, False, False), (7, False, True), (69.9, False, True), (70, True, True)):
        now[0] = 207 + seconds
        assert (kept.due(), kept.worth(SIZE)) == (due, worth)


class Way(Enum):
    UP = 1
    DOWN = 2


@dataclass
class Point:
    x: Any = 0
    y: Any = 0


@dataclass
class Place:
    x: Any = 0
    y: Any = 0


CONTENTS = [
    None, True, False, 0, 1, 2.0, 2.5, "", "1", "a", "ab", Way.UP, Way.DOWN, (), (1,), (1, 2), ((1,), 2), (1, (2,)),
    ("a", "b"), ("ab",), {}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, Point(), Point(1), Point(0, 1), Place(),
    Point("a"), Point(None), Point(Way.UP), Point((1,)), Point(Point()), np.zeros(2), np.zeros(3), np.zeros((1, 2)),
    np.zeros(2, np.float32), np.ones(2), Point(np.zeros(2)), Point(np.ones(2)), Point(np.zeros(2, np.int8)),
]  # fmt: skip


def test_contents_have_fingerprints_of_their_own() -> None:
    found = [fingerprint(each) for each in CONTENTS]
    assert len(set(found)) == len(CONTENTS) and all(len(each) == 16 and int(each, 16) >= 0 for each in found)
    assert found == [fingerprint(each) for each in CONTENTS]
    assert fingerprint([1, 2]) == fingerprint((1, 2)) and fingerprint("a") == fingerprint(b"a")
    assert fingerprint(np.float64(2.5)) == fingerprint(2.5) and fingerprint(1, 2) != fingerprint(2, 1)
    for part in (object(), {1, 2}):
        with pytest.raises(TypeError, match="no fingerprint of a"):
            fingerprint(part)


# Movies


@pytest.mark.parametrize(
    ("fps", "delays"),
    [
        (10, [100] * 6),
        (50, [20] * 6),
        (25, [40] * 6),
        (30, [30, 40, 30, 30, 40, 30]),
        (24, [40, 40, 40, 50, 40, 40]),
        (0.5, [2000] * 6),
    ],
)
def test_delays_keep_the_rate(fps: float, delays: list[int], tmp_path: Path) -> None:
    """Hundredths of a second, whose ends are rounded: in all as long as the frames."""
    frames = [np.full((4, 6, 3), 40 * k, np.uint8) for k in range(6)]
    movie.write_movie(str(tmp_path / "a.gif"), iter(frames), fps)
    with Pillow.open(tmp_path / "a.gif") as file:
        assert file.n_frames == 6 and file.info["loop"] == 0 and file.size == (6, 4)
        found = []
        for k in range(6):
            file.seek(k)
            found.append(file.info["duration"])
            assert (np.asarray(file.convert("RGB")) == 40 * k).all()
    assert found == delays


@pytest.mark.parametrize(
    ("path", "size", "fps", "words"),
    [
        ("a.gif", (3, 3), 50, ""),
        ("a.gif", (3, 3), 50.1, "50.1 frames a second"),
        ("a.mp4", (4, 3), 24, "a size of 4x3"),
        ("a.mp4", (3, 4), 24, "a size of 3x4"),
        ("a_%d.png", (3, 3), 99, ""),
        ("a.png", (3, 3), 24, "no %d in the file name"),
        ("a_%d_%d.png", (3, 3), 24, "2 times %d in the file name"),
        ("a_%d.bmp", (3, 3), 24, "unknown picture format '.bmp'"),
    ],
)
def test_outputs_of_movies(path: str, size: tuple[int, int], fps: float, words: str, tmp_path: Path) -> None:
    if words:
        with pytest.raises(ViewerError, match=words) as raised:
            movie.check_output(str(tmp_path / path), range(3), size, fps)
        if "size" in words:
            assert "4x4" in raised.value.hint
    else:
        movie.check_output(str(tmp_path / path), range(3), size, fps)
    assert list(tmp_path.iterdir()) == []


def test_metadata_of_npz_is_text(tmp_path: Path) -> None:
    image.save(tmp_path / "a.npz", pixels(1), {"triangle": np.full((3, 5), 3.0)}, {"samples": 4})  # type: ignore[dict-item]
    with np.load(tmp_path / "a.npz") as file:
        assert json.loads(str(file["metadata"])) == {"samples": "4"}
        assert file["triangle"].dtype == np.int32 and file["linear"].dtype == np.float32
